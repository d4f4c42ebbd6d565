//! A graph of types as a number, in which nothing counts but its form and the names that serde knows.

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3;

use super::{
    shape::{Id, Shape, Slot},
    tree::Tree,
};

impl Tree {
    /// Puts all that is known into a hash, types as numbers in the order in which they are met.
    pub(super) fn hash(&self, hasher: &mut Xxh3) {
        let mut seen = HashMap::new();
        self.hash_slot(0, &mut seen, hasher);
    }

    fn hash_slot(&self, slot: Slot, seen: &mut HashMap<Id, u32>, hasher: &mut Xxh3) {
        let Some(id) = self.type_at(slot) else {
            return put(hasher, "unknown");
        };
        let next = u32::try_from(seen.len()).unwrap_or(u32::MAX);
        if let Some(number) = seen.get(&id) {
            put(hasher, "again");
            return hasher.update(&number.to_le_bytes());
        }
        seen.insert(id, next);
        let shape = self.shape(id);
        put(hasher, shape.kind());
        match shape {
            Shape::Leaf { names, .. } => put_all(hasher, names),
            Shape::Any { accepted, keys, .. } => {
                put(
                    hasher,
                    if accepted.is_some() {
                        "accepted"
                    } else {
                        "refused"
                    },
                );
                self.hash_keys(keys, seen, hasher);
            }
            Shape::Option { content } | Shape::Sequence { content } => {
                self.hash_slot(*content, seen, hasher)
            }
            Shape::Newtype { name, content } => {
                put(hasher, name);
                self.hash_slot(*content, seen, hasher);
            }
            Shape::Map { key, value, keys } => {
                if keys.is_empty() {
                    self.hash_slot(*key, seen, hasher);
                    self.hash_slot(*value, seen, hasher);
                }
                self.hash_keys(keys, seen, hasher);
            }
            Shape::Fields {
                name, names, slots, ..
            } => {
                put(hasher, name);
                put_all(hasher, names);
                self.hash_slots(slots, seen, hasher);
            }
            Shape::Enum {
                name,
                names,
                variants,
            } => {
                put(hasher, name);
                put_all(hasher, names);
                for variant in variants {
                    put(hasher, variant.kind);
                    put_all(hasher, variant.names);
                    self.hash_slots(&variant.slots, seen, hasher);
                }
            }
        }
    }

    fn hash_slots(&self, slots: &[Slot], seen: &mut HashMap<Id, u32>, hasher: &mut Xxh3) {
        put_len(hasher, slots.len());
        for slot in slots {
            self.hash_slot(*slot, seen, hasher);
        }
    }

    fn hash_keys(
        &self,
        keys: &[(&'static str, Slot)],
        seen: &mut HashMap<Id, u32>,
        hasher: &mut Xxh3,
    ) {
        for (name, slot) in keys {
            put(hasher, name);
            self.hash_slot(*slot, seen, hasher);
        }
        put(hasher, "");
    }
}

/// A text with its length, so that two texts never run into each other.
pub(super) fn put(hasher: &mut Xxh3, text: &str) {
    put_len(hasher, text.len());
    hasher.update(text.as_bytes());
}

fn put_all(hasher: &mut Xxh3, texts: &[&str]) {
    put_len(hasher, texts.len());
    for text in texts {
        put(hasher, text);
    }
}

fn put_len(hasher: &mut Xxh3, len: usize) {
    hasher.update(&u64::try_from(len).unwrap_or(u64::MAX).to_le_bytes());
}
