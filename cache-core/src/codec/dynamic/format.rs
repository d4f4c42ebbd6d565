//! The format's side: passes the questions of a type on to a deserializer, and gives what that answers. Compiled once for
//! each format.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::{Ask, Choice, Entries, Given, Items, Seed, Source, Taker};
use crate::fingerprint::Stop;

/// The one value of a deserializer. Why a format fails is forgotten: it may quote the value.
pub(in crate::codec) struct FromFormat<D>(Option<D>);

impl<D> FromFormat<D> {
    pub(in crate::codec) fn new(deserializer: D) -> Self {
        Self(Some(deserializer))
    }
}

impl<'de, D: Deserializer<'de>> Source<'de> for FromFormat<D> {
    fn give(
        &mut self,
        ask: Ask,
        _by: &'static str,
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop> {
        let input = self.0.take().ok_or(Stop::Refused)?;
        let visitor = Passing(taker);
        let given = match ask {
            Ask::Any => input.deserialize_any(visitor),
            Ask::Bool => input.deserialize_bool(visitor),
            Ask::I8 => input.deserialize_i8(visitor),
            Ask::I16 => input.deserialize_i16(visitor),
            Ask::I32 => input.deserialize_i32(visitor),
            Ask::I64 => input.deserialize_i64(visitor),
            Ask::I128 => input.deserialize_i128(visitor),
            Ask::U8 => input.deserialize_u8(visitor),
            Ask::U16 => input.deserialize_u16(visitor),
            Ask::U32 => input.deserialize_u32(visitor),
            Ask::U64 => input.deserialize_u64(visitor),
            Ask::U128 => input.deserialize_u128(visitor),
            Ask::F32 => input.deserialize_f32(visitor),
            Ask::F64 => input.deserialize_f64(visitor),
            Ask::Char => input.deserialize_char(visitor),
            Ask::Str => input.deserialize_str(visitor),
            Ask::String => input.deserialize_string(visitor),
            Ask::Bytes => input.deserialize_bytes(visitor),
            Ask::ByteBuf => input.deserialize_byte_buf(visitor),
            Ask::Option => input.deserialize_option(visitor),
            Ask::Unit => input.deserialize_unit(visitor),
            Ask::UnitStruct(name) => input.deserialize_unit_struct(name, visitor),
            Ask::NewtypeStruct(name) => input.deserialize_newtype_struct(name, visitor),
            Ask::Seq => input.deserialize_seq(visitor),
            Ask::Tuple(len) => input.deserialize_tuple(len, visitor),
            Ask::TupleStruct(name, len) => input.deserialize_tuple_struct(name, len, visitor),
            Ask::Map => input.deserialize_map(visitor),
            Ask::Struct(name, names) => input.deserialize_struct(name, names, visitor),
            Ask::Enum(name, names) => input.deserialize_enum(name, names, visitor),
            Ask::Identifier => input.deserialize_identifier(visitor),
            Ask::IgnoredAny => input.deserialize_ignored_any(visitor),
        };
        given.map_err(refused)
    }

    fn is_human_readable(&self) -> bool {
        self.0.as_ref().is_some_and(D::is_human_readable)
    }
}

fn refused<E: Error>(_: E) -> Stop {
    Stop::Refused
}

/// Gives the taker whatever the format answers.
struct Passing<'t, 'de>(&'t mut dyn Taker<'de>);

impl<'de> Passing<'_, 'de> {
    fn give<E: Error>(self, given: Given<'_, 'de>) -> Result<(), E> {
        self.0.take(given).map_err(E::custom)
    }
}

macro_rules! leaves {
    ($($method:ident($type:ty) $given:ident;)*) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<(), E> {
            self.give(Given::$given(value))
        }
    )*};
}

impl<'de> Visitor<'de> for Passing<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    leaves! {
        visit_bool(bool) Bool;
        visit_i8(i8) I8;
        visit_i16(i16) I16;
        visit_i32(i32) I32;
        visit_i64(i64) I64;
        visit_i128(i128) I128;
        visit_u8(u8) U8;
        visit_u16(u16) U16;
        visit_u32(u32) U32;
        visit_u64(u64) U64;
        visit_u128(u128) U128;
        visit_f32(f32) F32;
        visit_f64(f64) F64;
        visit_char(char) Char;
        visit_str(&str) Str;
        visit_borrowed_str(&'de str) BorrowedStr;
        visit_bytes(&[u8]) Bytes;
        visit_borrowed_bytes(&'de [u8]) BorrowedBytes;
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.give(Given::Unit)
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.give(Given::None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.give(Given::Some(&mut FromFormat::new(deserializer)))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.give(Given::Newtype(&mut FromFormat::new(deserializer)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        self.give(Given::Seq(&mut FromAccess(access)))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        self.give(Given::Map(&mut FromAccess(access)))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<(), A::Error> {
        self.give(Given::Enum(&mut FromEnum::Whole(access)))
    }
}

struct Seeding<'s, 'de>(&'s mut dyn Seed<'de>);

impl<'de> DeserializeSeed<'de> for Seeding<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0
            .read(&mut FromFormat::new(deserializer))
            .map_err(D::Error::custom)
    }
}

struct FromAccess<A>(A);

impl<'de, A: SeqAccess<'de>> Items<'de> for FromAccess<A> {
    fn next(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let read = self.0.next_element_seed(Seeding(seed));
        read.map(|_| ()).map_err(refused)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> Entries<'de> for FromAccess<A> {
    fn key(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let read = self.0.next_key_seed(Seeding(seed));
        read.map(|_| ()).map_err(refused)
    }

    fn value(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        self.0.next_value_seed(Seeding(seed)).map_err(refused)
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

/// An enum of which nothing is read yet, or its variant, or nothing.
enum FromEnum<A, V> {
    Whole(A),
    Variant(V),
    Read,
}

impl<'de, A: EnumAccess<'de>> FromEnum<A, A::Variant> {
    fn content(&mut self) -> Result<A::Variant, Stop> {
        match std::mem::replace(self, Self::Read) {
            Self::Variant(content) => Ok(content),
            Self::Whole(_) | Self::Read => Err(Stop::Refused),
        }
    }
}

impl<'de, A: EnumAccess<'de>> Choice<'de> for FromEnum<A, A::Variant> {
    fn variant(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let Self::Whole(access) = std::mem::replace(self, Self::Read) else {
            return Err(Stop::Refused);
        };
        let ((), content) = access.variant_seed(Seeding(seed)).map_err(refused)?;
        *self = Self::Variant(content);
        Ok(())
    }

    fn unit(&mut self) -> Result<(), Stop> {
        self.content()?.unit_variant().map_err(refused)
    }

    fn newtype(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let content = self.content()?;
        content.newtype_variant_seed(Seeding(seed)).map_err(refused)
    }

    fn tuple(&mut self, len: usize, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        let content = self.content()?;
        content.tuple_variant(len, Passing(taker)).map_err(refused)
    }

    fn fields(
        &mut self,
        names: &'static [&'static str],
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop> {
        let content = self.content()?;
        content
            .struct_variant(names, Passing(taker))
            .map_err(refused)
    }
}
