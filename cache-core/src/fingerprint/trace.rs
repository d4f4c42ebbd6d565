//! A deserializer without input: it makes values up, and takes down in a [`Tree`] what it is asked for.
//!
//! One pass reads one value. Where there is a choice (the variant of an enum, whether an option or a sequence holds
//! anything) passes take turns; where a type holds itself, the inner one takes the shortest end that is known, and if
//! none is known the pass ends there and a later one gets further.

use serde::de::{Deserializer, Visitor};

use super::{
    made_up,
    shape::{AnyKind, Id, MARKED, Names, Shape, Variant},
    stop::Stop,
    tracer::Tracer,
    tree::Tree,
    within::{Choice, Keys, One},
};

macro_rules! integers {
    ($($deserialize:ident $visit:ident $kind:literal)*) => {$(
        fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            self.integer($kind, |value| visitor.$visit(value.try_into().unwrap_or_default()))
        }
    )*};
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = Stop;

    integers! {
        deserialize_i8 visit_i8 "i8" deserialize_i16 visit_i16 "i16" deserialize_i32 visit_i32 "i32"
        deserialize_i64 visit_i64 "i64" deserialize_i128 visit_i128 "i128" deserialize_u8 visit_u8 "u8"
        deserialize_u16 visit_u16 "u16" deserialize_u32 visit_u32 "u32" deserialize_u64 visit_u64 "u64"
        deserialize_u128 visit_u128 "u128"
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("bool", |attempt, _| visitor.visit_bool(attempt % 2 == 1))
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("f32", |_, _| visitor.visit_f32(0.5))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("f64", |_, _| visitor.visit_f64(0.5))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("char", |_, _| visitor.visit_char('a'))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("text", |attempt, names| {
            visitor.visit_borrowed_str(made_up::text(attempt, names))
        })
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("name", |attempt, names| {
            visitor.visit_borrowed_str(made_up::text(attempt, names))
        })
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("bytes", |attempt, _| {
            visitor.visit_borrowed_bytes(made_up::bytes(attempt))
        })
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("unit", |_, _| visitor.visit_unit())
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let make = |_: &mut Tree| Shape::Fields {
            name,
            names: &[],
            slots: Vec::new(),
            by_name: false,
        };
        let id = self.tree.shared::<V, V::Value>(self.slot, "fields", make);
        let value = visitor.visit_unit()?;
        self.tree.complete(id);
        Ok(value)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let make = |tree: &mut Tree| Shape::Option {
            content: tree.new_slot(),
        };
        let id = self.tree.shared::<V, V::Value>(self.slot, "option", make);
        self.within(id, |inside| {
            let Shape::Option { content } = inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            if !inside.has_content() {
                return visitor.visit_none();
            }
            let value = visitor.visit_some(inside.tracer(content))?;
            inside.tree.complete(id);
            Ok(value)
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let make = |tree: &mut Tree| Shape::Newtype {
            name,
            content: tree.new_slot(),
        };
        let id = self.tree.shared::<V, V::Value>(self.slot, "newtype", make);
        self.within(id, |inside| {
            let Shape::Newtype { content, .. } = inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            let value = visitor.visit_newtype_struct(inside.tracer(content))?;
            inside.tree.complete(id);
            Ok(value)
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let make = |tree: &mut Tree| Shape::Sequence {
            content: tree.new_slot(),
        };
        let id = self.tree.shared::<V, V::Value>(self.slot, "sequence", make);
        self.within(id, |inside| {
            let Shape::Sequence { content } = inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            let has_content = inside.has_content();
            let value = visitor.visit_seq(One::new(inside, has_content.then_some(content), 0))?;
            if has_content {
                inside.tree.complete(id);
            }
            Ok(value)
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        self.fields("fields", "", &[], len, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.fields("fields", name, &[], len, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: Names,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.fields("fields", name, names, names.len(), visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let make = |tree: &mut Tree| Shape::Map {
            key: tree.new_slot(),
            value: tree.new_slot(),
            keys: Vec::new(),
        };
        let id = self.tree.shared::<V, V::Value>(self.slot, "map", make);
        self.within(id, |inside| {
            let Shape::Map { key, value, keys } = &inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            let (key, value, keys) = (*key, *value, keys.clone());
            let has_content = !keys.is_empty() || inside.has_content();
            let read = if keys.is_empty() {
                visitor.visit_map(One::new(inside, has_content.then_some(key), value))
            } else {
                visitor.visit_map(Keys::new(inside, keys))
            };
            if has_content && read.is_ok() {
                inside.tree.complete(id);
            }
            learn_keys(inside.tree, id, read)
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: Names,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let make = |_: &mut Tree| Shape::Enum {
            name,
            names,
            variants: names.iter().map(|_| Variant::default()).collect(),
        };
        let id = self.tree.shared::<V, V::Value>(self.slot, "enum", make);
        self.within(id, |inside| {
            let index = inside
                .tree
                .choose_variant(id, inside.must_end)
                .ok_or(Stop::Blocked)?;
            let value = visitor.visit_enum(Choice::new(inside, names[index], index))?;
            inside.tree.complete_variant(id, index);
            Ok(value)
        })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let id = self.tree.local(self.slot, "any");
        let kind = self.tree.any_kind(id);
        self.within(id, |inside| {
            let number = MARKED + u64::try_from(id).unwrap_or_default();
            let read = match kind {
                AnyKind::Marked => visitor.visit_u64(number),
                AnyKind::Text => visitor.visit_borrowed_str("a"),
                AnyKind::Integer => visitor.visit_u64(1),
                AnyKind::Bool => visitor.visit_bool(true),
                AnyKind::Unit => visitor.visit_unit(),
                AnyKind::Float => visitor.visit_f64(0.5),
                AnyKind::Sequence => visitor.visit_seq(One::new(inside, None, 0)),
                AnyKind::Map => {
                    let Shape::Any { keys, .. } = &inside.tree.node(id).shape else {
                        return Err(Stop::Refused);
                    };
                    let keys = keys.clone();
                    visitor.visit_map(Keys::new(inside, keys))
                }
            };
            if kind == AnyKind::Map {
                learn_keys(inside.tree, id, read)
            } else {
                read
            }
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        self.leaf("ignored", |_, _| visitor.visit_unit())
    }

    // The compact formats, in which a mistake goes unnoticed, are the ones that are not.
    fn is_human_readable(&self) -> bool {
        false
    }
}

/// Takes down what a map lacked, or which keys alone it accepts.
fn learn_keys<T>(tree: &mut Tree, id: Id, read: Result<T, Stop>) -> Result<T, Stop> {
    match &read {
        Ok(_) => tree.has_read_map(id),
        Err(Stop::Missing(name)) => tree.want_keys(id, &[*name]),
        Err(Stop::Unknown(names)) if !names.is_empty() => tree.want_keys(id, names),
        Err(_) => {}
    }
    if matches!(read, Err(Stop::Missing(_) | Stop::Unknown(_))) {
        Err(Stop::Learnt)
    } else {
        read
    }
}
