//! A source without input: it makes values up, and takes down in a [`Tree`] what it is asked for.
//!
//! One pass reads one value. Where there is a choice (the variant of an enum, whether an option or a sequence holds
//! anything) passes take turns; where a type holds itself, the inner one takes the shortest end that is known, and if
//! none is known the pass ends there and a later one gets further.

use super::{
    made_up,
    shape::{AnyKind, Id, MARKED, Names, Shape, Variant},
    stop::Stop,
    tracer::Tracer,
    tree::Tree,
    within::{Choice, Keys, One},
};
use crate::codec::dynamic::{Ask, Given, Source, Taker};

/// The integer that is made up, of the type that is asked for.
macro_rules! integer {
    ($tracer:ident $taker:ident $given:ident $kind:literal) => {
        $tracer.leaf($kind, |attempt, _| {
            let value = made_up::integer(attempt);
            $taker.take(Given::$given(value.try_into().unwrap_or_default()))
        })
    };
}

impl<'de> Source<'de> for Tracer<'_> {
    fn give(&mut self, ask: Ask, by: &'static str, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        match ask {
            Ask::I8 => integer!(self taker I8 "i8"),
            Ask::I16 => integer!(self taker I16 "i16"),
            Ask::I32 => integer!(self taker I32 "i32"),
            Ask::I64 => integer!(self taker I64 "i64"),
            Ask::I128 => integer!(self taker I128 "i128"),
            Ask::U8 => integer!(self taker U8 "u8"),
            Ask::U16 => integer!(self taker U16 "u16"),
            Ask::U32 => integer!(self taker U32 "u32"),
            Ask::U64 => integer!(self taker U64 "u64"),
            Ask::U128 => integer!(self taker U128 "u128"),
            Ask::Bool => self.leaf("bool", |attempt, _| {
                taker.take(Given::Bool(attempt % 2 == 1))
            }),
            Ask::F32 => self.leaf("f32", |_, _| taker.take(Given::F32(0.5))),
            Ask::F64 => self.leaf("f64", |_, _| taker.take(Given::F64(0.5))),
            Ask::Char => self.leaf("char", |_, _| taker.take(Given::Char('a'))),
            Ask::Str | Ask::String => self.text("text", taker),
            Ask::Identifier => self.text("name", taker),
            Ask::Bytes | Ask::ByteBuf => self.leaf("bytes", |attempt, _| {
                taker.take(Given::BorrowedBytes(made_up::bytes(attempt)))
            }),
            Ask::Unit => self.leaf("unit", |_, _| taker.take(Given::Unit)),
            Ask::IgnoredAny => self.leaf("ignored", |_, _| taker.take(Given::Unit)),
            Ask::UnitStruct(name) => self.unit_struct(by, name, taker),
            Ask::Option => self.option(by, taker),
            Ask::NewtypeStruct(name) => self.newtype(by, name, taker),
            Ask::Seq => self.sequence(by, taker),
            Ask::Tuple(len) => self.fields(by, "", &[], len, taker),
            Ask::TupleStruct(name, len) => self.fields(by, name, &[], len, taker),
            Ask::Struct(name, names) => self.fields(by, name, names, names.len(), taker),
            Ask::Map => self.map(by, taker),
            Ask::Enum(name, names) => self.choice(by, name, names, taker),
            Ask::Any => self.anything(taker),
        }
    }

    // The compact formats, in which a mistake goes unnoticed, are the ones that are not.
    fn is_human_readable(&self) -> bool {
        false
    }
}

impl Tracer<'_> {
    fn text<'de>(&mut self, kind: &'static str, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        self.leaf(kind, |attempt, names| {
            taker.take(Given::BorrowedStr(made_up::text(attempt, names)))
        })
    }

    fn unit_struct<'de>(
        &mut self,
        by: &'static str,
        name: &'static str,
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop> {
        let make = |_: &mut Tree| Shape::Fields {
            name,
            names: &[],
            slots: Vec::new(),
            by_name: false,
        };
        let id = self.tree.shared(by, self.slot, "fields", make);
        taker.take(Given::Unit)?;
        self.tree.complete(id);
        Ok(())
    }

    fn option<'de>(&mut self, by: &'static str, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        let make = |tree: &mut Tree| Shape::Option {
            content: tree.new_slot(),
        };
        let id = self.tree.shared(by, self.slot, "option", make);
        self.within(id, |inside| {
            let Shape::Option { content } = inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            if !inside.has_content() {
                return taker.take(Given::None);
            }
            taker.take(Given::Some(&mut inside.tracer(content)))?;
            inside.tree.complete(id);
            Ok(())
        })
    }

    fn newtype<'de>(
        &mut self,
        by: &'static str,
        name: &'static str,
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop> {
        let make = |tree: &mut Tree| Shape::Newtype {
            name,
            content: tree.new_slot(),
        };
        let id = self.tree.shared(by, self.slot, "newtype", make);
        self.within(id, |inside| {
            let Shape::Newtype { content, .. } = inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            taker.take(Given::Newtype(&mut inside.tracer(content)))?;
            inside.tree.complete(id);
            Ok(())
        })
    }

    fn sequence<'de>(&mut self, by: &'static str, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        let make = |tree: &mut Tree| Shape::Sequence {
            content: tree.new_slot(),
        };
        let id = self.tree.shared(by, self.slot, "sequence", make);
        self.within(id, |inside| {
            let Shape::Sequence { content } = inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            let has_content = inside.has_content();
            let mut items = One::new(inside, has_content.then_some(content), 0);
            taker.take(Given::Seq(&mut items))?;
            if has_content {
                inside.tree.complete(id);
            }
            Ok(())
        })
    }

    fn map<'de>(&mut self, by: &'static str, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        let make = |tree: &mut Tree| Shape::Map {
            key: tree.new_slot(),
            value: tree.new_slot(),
            keys: Vec::new(),
        };
        let id = self.tree.shared(by, self.slot, "map", make);
        self.within(id, |inside| {
            let Shape::Map { key, value, keys } = &inside.tree.node(id).shape else {
                return Err(Stop::Refused);
            };
            let (key, value, keys) = (*key, *value, keys.clone());
            let has_content = !keys.is_empty() || inside.has_content();
            let read = if keys.is_empty() {
                let mut entries = One::new(inside, has_content.then_some(key), value);
                taker.take(Given::Map(&mut entries))
            } else {
                taker.take(Given::Map(&mut Keys::new(inside, keys)))
            };
            if has_content && read.is_ok() {
                inside.tree.complete(id);
            }
            learn_keys(inside.tree, id, read)
        })
    }

    fn choice<'de>(
        &mut self,
        by: &'static str,
        name: &'static str,
        names: Names,
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop> {
        let make = |_: &mut Tree| Shape::Enum {
            name,
            names,
            variants: names.iter().map(|_| Variant::default()).collect(),
        };
        let id = self.tree.shared(by, self.slot, "enum", make);
        self.within(id, |inside| {
            let index = inside
                .tree
                .choose_variant(id, inside.must_end)
                .ok_or(Stop::Blocked)?;
            let mut choice = Choice::new(inside, names[index], index);
            taker.take(Given::Enum(&mut choice))?;
            inside.tree.complete_variant(id, index);
            Ok(())
        })
    }

    fn anything<'de>(&mut self, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        let id = self.tree.local(self.slot, "any");
        let kind = self.tree.any_kind(id);
        self.within(id, |inside| {
            let number = MARKED + u64::try_from(id).unwrap_or_default();
            let read = match kind {
                AnyKind::Marked => taker.take(Given::U64(number)),
                AnyKind::Text => taker.take(Given::BorrowedStr("a")),
                AnyKind::Integer => taker.take(Given::U64(1)),
                AnyKind::Bool => taker.take(Given::Bool(true)),
                AnyKind::Unit => taker.take(Given::Unit),
                AnyKind::Float => taker.take(Given::F64(0.5)),
                AnyKind::Sequence => taker.take(Given::Seq(&mut One::new(inside, None, 0))),
                AnyKind::Map => {
                    let Shape::Any { keys, .. } = &inside.tree.node(id).shape else {
                        return Err(Stop::Refused);
                    };
                    let keys = keys.clone();
                    taker.take(Given::Map(&mut Keys::new(inside, keys)))
                }
            };
            if kind == AnyKind::Map {
                learn_keys(inside.tree, id, read)
            } else {
                read
            }
        })
    }
}

/// Takes down what a map lacked, or which keys alone it accepts.
fn learn_keys(tree: &mut Tree, id: Id, read: Result<(), Stop>) -> Result<(), Stop> {
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
