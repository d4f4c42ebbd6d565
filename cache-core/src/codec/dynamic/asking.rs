//! The type's side. All here is compiled again for every type: hence what is longer than it needs to be (`match` in place
//! of `?`, whose parts are functions for each type, too), and hence the slots: a visitor has a function for everything it
//! can be given, and most of them only say no.

use std::any::type_name;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};

use super::{Ask, Choice, Entries, Given, Items, Seed, Source, Taker};
use crate::fingerprint::Stop;

/// The deserializer that the types of users are compiled for.
pub(super) struct Asking<'a, 'de>(pub(super) &'a mut dyn Source<'de>);

/// The takers, one for each kind of question, and what each passes on to its visitor: what formats answer to such a
/// question. Few types are scalars, so a visitor that asks for one is passed anything: MessagePack does answer with
/// anything.
macro_rules! slots {
    ($($slot:ident: [$($unit:ident $visit_unit:ident)*] [$($leaf:ident $visit_leaf:ident)*] [$($inner:ident $visit_inner:ident $access:ident)*];)*) => {$(
        struct $slot<V, T> {
            visitor: Option<V>,
            value: Option<T>,
        }

        impl<'de, V: Visitor<'de>> Taker<'de> for $slot<V, V::Value> {
            fn take(&mut self, given: Given<'_, 'de>) -> Result<(), Stop> {
                let Some(visitor) = self.visitor.take() else {
                    return Err(Stop::Refused);
                };
                let visited = match given {
                    $(Given::$unit => visitor.$visit_unit(),)*
                    $(Given::$leaf(value) => visitor.$visit_leaf(value),)*
                    $(Given::$inner(inner) => visitor.$visit_inner($access(inner)),)*
                    #[allow(unreachable_patterns)] // where it is everything
                    other => Err(other.refused()),
                };
                match visited {
                    Ok(value) => {
                        self.value = Some(value);
                        Ok(())
                    }
                    Err(stop) => Err(stop),
                }
            }
        }
    )*};
}

slots! {
    Unit: [Unit visit_unit] [] [];
    Optional: [Unit visit_unit None visit_none] [] [Some visit_some Asking];
    // serde_json gives its raw values as maps.
    Newtype: [] [] [Newtype visit_newtype_struct Asking Map visit_map EntriesOf];
    Seq: [] [] [Seq visit_seq ItemsOf];
    Map: [] [] [Map visit_map EntriesOf];
    Struct: [] [] [Seq visit_seq ItemsOf Map visit_map EntriesOf];
    Enum: [] [] [Enum visit_enum ChoiceOf];
    // A name need not be borrowed: it is compared.
    Identifier: [] [U8 visit_u8 U16 visit_u16 U32 visit_u32 U64 visit_u64 Str visit_str BorrowedStr visit_str
        Bytes visit_bytes BorrowedBytes visit_bytes] [];
    Anything: [Unit visit_unit None visit_none]
        [Bool visit_bool I8 visit_i8 I16 visit_i16 I32 visit_i32 I64 visit_i64 I128 visit_i128 U8 visit_u8 U16 visit_u16
        U32 visit_u32 U64 visit_u64 U128 visit_u128 F32 visit_f32 F64 visit_f64 Char visit_char Str visit_str
        BorrowedStr visit_borrowed_str Bytes visit_bytes BorrowedBytes visit_borrowed_bytes]
        [Some visit_some Asking Newtype visit_newtype_struct Asking Seq visit_seq ItemsOf Map visit_map EntriesOf
        Enum visit_enum ChoiceOf];
}

/// Has a slot filled and empties it.
macro_rules! fill {
    ($slot:ident, $visitor:ident, |$taker:ident| $give:expr) => {{
        let mut slot = $slot {
            visitor: Some($visitor),
            value: None,
        };
        let $taker = &mut slot;
        match $give {
            Ok(()) => match slot.value {
                Some(value) => Ok(value),
                None => Err(Stop::Refused),
            },
            Err(stop) => Err(stop),
        }
    }};
}

macro_rules! questions {
    ($($method:ident($($name:ident: $type:ty),*) $ask:expr, $slot:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, Stop> {
            let by = type_name::<fn(V) -> V::Value>();
            fill!($slot, visitor, |slot| self.0.give($ask, by, slot))
        }
    )*};
}

impl<'de> Deserializer<'de> for Asking<'_, 'de> {
    type Error = Stop;

    questions! {
        deserialize_any() Ask::Any, Anything;
        deserialize_bool() Ask::Bool, Anything;
        deserialize_i8() Ask::I8, Anything;
        deserialize_i16() Ask::I16, Anything;
        deserialize_i32() Ask::I32, Anything;
        deserialize_i64() Ask::I64, Anything;
        deserialize_i128() Ask::I128, Anything;
        deserialize_u8() Ask::U8, Anything;
        deserialize_u16() Ask::U16, Anything;
        deserialize_u32() Ask::U32, Anything;
        deserialize_u64() Ask::U64, Anything;
        deserialize_u128() Ask::U128, Anything;
        deserialize_f32() Ask::F32, Anything;
        deserialize_f64() Ask::F64, Anything;
        deserialize_char() Ask::Char, Anything;
        deserialize_str() Ask::Str, Anything;
        deserialize_string() Ask::String, Anything;
        deserialize_bytes() Ask::Bytes, Anything;
        deserialize_byte_buf() Ask::ByteBuf, Anything;
        deserialize_option() Ask::Option, Optional;
        deserialize_unit() Ask::Unit, Unit;
        deserialize_unit_struct(name: &'static str) Ask::UnitStruct(name), Unit;
        deserialize_newtype_struct(name: &'static str) Ask::NewtypeStruct(name), Newtype;
        deserialize_seq() Ask::Seq, Seq;
        deserialize_tuple(len: usize) Ask::Tuple(len), Seq;
        deserialize_tuple_struct(name: &'static str, len: usize) Ask::TupleStruct(name, len), Seq;
        deserialize_map() Ask::Map, Map;
        deserialize_struct(name: &'static str, names: &'static [&'static str]) Ask::Struct(name, names), Struct;
        deserialize_enum(name: &'static str, names: &'static [&'static str]) Ask::Enum(name, names), Enum;
        deserialize_identifier() Ask::Identifier, Identifier;
        deserialize_ignored_any() Ask::IgnoredAny, Anything;
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// A seed that is more than a type, and the place for its value.
struct Seeded<S, T> {
    seed: Option<S>,
    value: Option<T>,
}

impl<S, T> Seeded<S, T> {
    fn new(seed: S) -> Self {
        Self {
            seed: Some(seed),
            value: None,
        }
    }
}

impl<'de, S: DeserializeSeed<'de>> Seed<'de> for Seeded<S, S::Value> {
    fn read(&mut self, source: &mut dyn Source<'de>) -> Result<(), Stop> {
        let seed = self.seed.take().ok_or(Stop::Refused)?;
        self.value = Some(seed.deserialize(Asking(source))?);
        Ok(())
    }
}

/// Has a seed read and takes its value, if there is one.
macro_rules! seeded {
    ($seed:ident, |$place:ident| $read:expr) => {{
        let mut seeded = Seeded::new($seed);
        let $place = &mut seeded;
        $read?;
        Ok(seeded.value)
    }};
}

fn there<T>(value: Option<T>) -> Result<T, Stop> {
    value.ok_or(Stop::Refused)
}

/// The same where it is no more than a type.
macro_rules! read {
    (|$place:ident| $read:expr) => {{
        let mut value = None;
        let $place = &mut value;
        match $read {
            Ok(()) => Ok(value),
            Err(stop) => Err(stop),
        }
    }};
}

macro_rules! read_one {
    (|$place:ident| $read:expr) => {{
        let mut value = None;
        let $place = &mut value;
        match $read {
            Ok(()) => match value {
                Some(value) => Ok(value),
                None => Err(Stop::Refused),
            },
            Err(stop) => Err(stop),
        }
    }};
}

struct ItemsOf<'g, 'de>(&'g mut dyn Items<'de>);

impl<'de> SeqAccess<'de> for ItemsOf<'_, 'de> {
    type Error = Stop;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        seeded!(seed, |place| self.0.next(place))
    }

    fn next_element<T: Deserialize<'de>>(&mut self) -> Result<Option<T>, Stop> {
        read!(|place| self.0.next(place))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

struct EntriesOf<'g, 'de>(&'g mut dyn Entries<'de>);

impl<'de> MapAccess<'de> for EntriesOf<'_, 'de> {
    type Error = Stop;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        seeded!(seed, |place| self.0.key(place))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop> {
        seeded!(seed, |place| self.0.value(place)).and_then(there)
    }

    fn next_key<K: Deserialize<'de>>(&mut self) -> Result<Option<K>, Stop> {
        read!(|place| self.0.key(place))
    }

    fn next_value<V: Deserialize<'de>>(&mut self) -> Result<V, Stop> {
        read_one!(|place| self.0.value(place))
    }

    fn next_entry<K: Deserialize<'de>, V: Deserialize<'de>>(
        &mut self,
    ) -> Result<Option<(K, V)>, Stop> {
        let Some(key) = self.next_key()? else {
            return Ok(None);
        };
        Ok(Some((key, self.next_value()?)))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

struct ChoiceOf<'g, 'de>(&'g mut dyn Choice<'de>);

impl<'de> EnumAccess<'de> for ChoiceOf<'_, 'de> {
    type Error = Stop;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Stop> {
        let value = seeded!(seed, |place| self.0.variant(place)).and_then(there)?;
        Ok((value, self))
    }

    fn variant<V: Deserialize<'de>>(self) -> Result<(V, Self), Stop> {
        match read_one!(|place| self.0.variant(place)) {
            Ok(value) => Ok((value, self)),
            Err(stop) => Err(stop),
        }
    }
}

impl<'de> VariantAccess<'de> for ChoiceOf<'_, 'de> {
    type Error = Stop;

    fn unit_variant(self) -> Result<(), Stop> {
        self.0.unit()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Stop> {
        seeded!(seed, |place| self.0.newtype(place)).and_then(there)
    }

    fn newtype_variant<T: Deserialize<'de>>(self) -> Result<T, Stop> {
        read_one!(|place| self.0.newtype(place))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        fill!(Seq, visitor, |slot| self.0.tuple(len, slot))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        fill!(Struct, visitor, |slot| self.0.fields(names, slot))
    }
}
