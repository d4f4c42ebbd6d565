//! What is known of a type so far: a graph of nodes, one for each type that was met.
//!
//! A node is found again by the type that its visitor makes, so that types which refer to each other are a cycle and
//! not an endless tree. Those names are used for nothing else: they do not go into the fingerprint. Scalars and values of
//! any kind have a node for each place in which they stand, because what is accepted there depends on the place.

use std::collections::HashMap;

use super::shape::{Id, Names, Shape, Slot};

#[derive(Debug)]
pub(super) struct Node {
    pub(super) shape: Shape,
    /// How often it is being read at the moment: more than once where a type holds itself.
    pub(super) active: usize,
    pub(super) tries: usize,
    /// Whether everything within has been seen from here, except within the types it refers to.
    pub(super) complete: bool,
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    slots: Vec<Option<Id>>,
    known: HashMap<(&'static str, &'static str), Id>,
    /// The nodes for which values were made up in this pass, in order.
    pub(super) made_up: Vec<Id>,
    pub(super) progress: bool,
    /// The map that was read last. Enums with a tag and flattened structs are read as a map first, and only then, from
    /// what it held, as what they are.
    pub(super) last_map: Option<Id>,
    /// How many variants have been seen to their end.
    ended: usize,
    describes_itself: bool,
    /// A place was of another type than before: what was seen is not all there is.
    irregular: bool,
}

impl Tree {
    pub(super) fn begin_pass(&mut self) {
        self.made_up.clear();
        self.last_map = None;
        self.progress = false;
        for node in &mut self.nodes {
            node.active = 0;
        }
        if self.slots.is_empty() {
            self.new_slot();
        }
    }

    /// Whether the pass has brought anything new.
    pub(super) fn made_progress(&self) -> bool {
        self.progress
    }

    pub(super) fn is_complete(&self) -> bool {
        !self.irregular && self.nodes.iter().all(|node| node.complete)
    }

    /// Whether it has asked for whatever the input is: then only a format that says what it holds can be read.
    pub(super) fn describes_itself(&self) -> bool {
        self.describes_itself
    }

    pub(super) fn node(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id]
    }

    pub(super) fn shape(&self, id: Id) -> &Shape {
        &self.nodes[id].shape
    }

    /// The node of the type of that place, if it was ever read.
    pub(super) fn type_at(&self, slot: Slot) -> Option<Id> {
        self.slots.get(slot).copied().flatten()
    }

    pub(super) fn new_slot(&mut self) -> Slot {
        self.slots.push(None);
        self.slots.len() - 1
    }

    /// The node of a scalar or of anything, in its place.
    pub(super) fn local(&mut self, slot: Slot, kind: &'static str) -> Id {
        let id = match self.slots[slot] {
            Some(id) if self.nodes[id].shape.kind() == kind => id,
            other => {
                self.irregular |= other.is_some();
                let shape = if kind == "any" {
                    self.describes_itself = true;
                    Shape::Any {
                        kind: 0,
                        accepted: None,
                        keys: Vec::new(),
                    }
                } else {
                    Shape::Leaf {
                        kind,
                        attempt: 0,
                        names: &[],
                    }
                };
                let id = self.new_node(shape);
                self.slots[slot] = Some(id);
                id
            }
        };
        self.made_up.push(id);
        id
    }

    /// The node of the type that a visitor of that name makes, wherever it is met.
    pub(super) fn shared(
        &mut self,
        by: &'static str,
        slot: Slot,
        kind: &'static str,
        make: impl FnOnce(&mut Self) -> Shape,
    ) -> Id {
        let key = (by, kind);
        let id = match self.known.get(&key) {
            Some(&id) => id,
            None => {
                let shape = make(self);
                let id = self.new_node(shape);
                self.known.insert(key, id);
                id
            }
        };
        match self.slots[slot] {
            Some(other) => self.irregular |= other != id,
            None => {
                self.slots[slot] = Some(id);
                self.progress = true;
            }
        }
        id
    }

    fn new_node(&mut self, shape: Shape) -> Id {
        self.progress = true;
        self.nodes.push(Node {
            shape,
            active: 0,
            tries: 0,
            complete: false,
        });
        self.nodes.len() - 1
    }

    pub(super) fn complete(&mut self, id: Id) {
        self.progress |= !self.nodes[id].complete;
        self.nodes[id].complete = true;
    }

    /// The place of the field, element or part with that index.
    pub(super) fn item(&mut self, id: Id, variant: Option<usize>, index: usize) -> Slot {
        loop {
            let slots = match (&self.nodes[id].shape, variant) {
                (Shape::Fields { slots, .. }, _) => slots,
                (Shape::Enum { variants, .. }, Some(variant)) => &variants[variant].slots,
                _ => return 0,
            };
            if let Some(&slot) = slots.get(index) {
                return slot;
            }
            let slot = self.new_slot();
            match (&mut self.nodes[id].shape, variant) {
                (Shape::Enum { variants, .. }, Some(variant)) => variants[variant].slots.push(slot),
                (Shape::Fields { slots, .. }, _) => slots.push(slot),
                _ => {}
            }
        }
    }

    /// The variant to read next: of those that were tried least, the first. Where a type is within itself it must be
    /// one that is known to end: the one that did so first, because it needed none of the others.
    pub(super) fn choose_variant(&mut self, id: Id, must_end: bool) -> Option<usize> {
        let Shape::Enum { variants, .. } = &mut self.nodes[id].shape else {
            return None;
        };
        if must_end {
            let ended = variants
                .iter()
                .enumerate()
                .filter_map(|(index, variant)| Some((variant.ended?, index)));
            return ended.min().map(|(_, index)| index);
        }
        let (index, variant) = variants
            .iter_mut()
            .enumerate()
            .min_by_key(|(_, variant)| variant.tries)?;
        variant.tries += 1;
        Some(index)
    }

    pub(super) fn describe_variant(
        &mut self,
        id: Id,
        index: usize,
        kind: &'static str,
        names: Names,
    ) {
        if let Shape::Enum { variants, .. } = &mut self.nodes[id].shape {
            variants[index].kind = kind;
            variants[index].names = names;
        }
    }

    pub(super) fn complete_variant(&mut self, id: Id, index: usize) {
        let Shape::Enum { variants, .. } = &mut self.nodes[id].shape else {
            return;
        };
        if variants[index].ended.is_none() {
            variants[index].ended = Some(self.ended);
            self.ended += 1;
            self.progress = true;
        }
        if variants.iter().all(|variant| variant.ended.is_some()) {
            self.complete(id);
        }
    }

    pub(super) fn has_read_map(&mut self, id: Id) {
        self.last_map = Some(id);
    }

    /// Takes down that a map is wanted to have these keys.
    pub(super) fn want_keys(&mut self, id: Id, names: &[&'static str]) {
        for &name in names
            .iter()
            .filter(|name| self.lacks_key(id, name))
            .collect::<Vec<_>>()
        {
            let slot = self.new_slot();
            if let Shape::Map { keys, .. } | Shape::Any { keys, .. } = &mut self.nodes[id].shape {
                keys.push((name, slot));
                self.progress = true;
            }
        }
    }

    pub(super) fn lacks_key(&self, id: Id, name: &str) -> bool {
        match &self.nodes[id].shape {
            Shape::Map { keys, .. } | Shape::Any { keys, .. } => {
                !keys.iter().any(|(key, _)| *key == name)
            }
            _ => false,
        }
    }

    /// Takes down that a place accepts these names only.
    pub(super) fn want_names(&mut self, id: Id, wanted: Names) {
        let node = &mut self.nodes[id];
        if let Shape::Leaf { names, attempt, .. } = &mut node.shape {
            self.progress |= names.is_empty();
            *names = wanted;
            *attempt = 0;
            node.complete = false;
        }
    }
}
