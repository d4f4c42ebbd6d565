//! Reading a value through traits that can be objects, so that a type of the user is compiled for one deserializer only, and not
//! again for what finds out its structure, nor, where debug assertions are on, for every format.
//!
//! A type asks ([`Ask`]) and is given ([`Given`]). Its side is [`Asking`]: the deserializer that every type is compiled
//! for, with as few functions for each type as serde allows, because programs have many types. The other side is a
//! [`Source`]: a format ([`FromFormat`]), or the trace of the fingerprint.

mod asking;
mod format;
#[cfg(test)]
mod tests;

use serde::de::{Deserialize, Error, Unexpected};

use self::asking::Asking;
pub(super) use self::format::FromFormat;
use crate::fingerprint::Stop;

/// What a type wants to read, as `serde::Deserializer` has it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask {
    Any,
    Bool,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F32,
    F64,
    Char,
    Str,
    String,
    Bytes,
    ByteBuf,
    Option,
    Unit,
    UnitStruct(&'static str),
    NewtypeStruct(&'static str),
    Seq,
    Tuple(usize),
    TupleStruct(&'static str, usize),
    Map,
    Struct(&'static str, &'static [&'static str]),
    Enum(&'static str, &'static [&'static str]),
    Identifier,
    IgnoredAny,
}

/// What it is given, as `serde::de::Visitor` has it.
pub(crate) enum Given<'g, 'de> {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    F32(f32),
    F64(f64),
    Char(char),
    Str(&'g str),
    BorrowedStr(&'de str),
    Bytes(&'g [u8]),
    BorrowedBytes(&'de [u8]),
    Unit,
    None,
    Some(&'g mut dyn Source<'de>),
    Newtype(&'g mut dyn Source<'de>),
    Seq(&'g mut dyn Items<'de>),
    Map(&'g mut dyn Entries<'de>),
    Enum(&'g mut dyn Choice<'de>),
}

/// Where one value comes from.
pub(crate) trait Source<'de> {
    /// Gives the taker what it asks for, or whatever else is there. `by` names the visitor and the type it makes.
    fn give(&mut self, ask: Ask, by: &'static str, taker: &mut dyn Taker<'de>) -> Result<(), Stop>;

    fn is_human_readable(&self) -> bool;
}

/// Makes a value of what it is given: a visitor, and the place for its value.
pub(crate) trait Taker<'de> {
    fn take(&mut self, given: Given<'_, 'de>) -> Result<(), Stop>;
}

/// Reads a value, and keeps it.
pub(crate) trait Seed<'de> {
    fn read(&mut self, source: &mut dyn Source<'de>) -> Result<(), Stop>;
}

/// The place for a value that is still to be read.
impl<'de, T: Deserialize<'de>> Seed<'de> for Option<T> {
    fn read(&mut self, source: &mut dyn Source<'de>) -> Result<(), Stop> {
        match T::deserialize(Asking(source)) {
            Ok(value) => {
                *self = Some(value);
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }
}

/// The elements of a sequence.
pub(crate) trait Items<'de> {
    /// Does nothing where there are no more.
    fn next(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop>;

    fn size_hint(&self) -> Option<usize>;
}

/// The keys and values of a map, in turn.
pub(crate) trait Entries<'de> {
    /// Does nothing where there are no more.
    fn key(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop>;

    fn value(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop>;

    fn size_hint(&self) -> Option<usize>;
}

/// A variant of an enum: which one, and then what it holds.
pub(crate) trait Choice<'de> {
    fn variant(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop>;

    fn unit(&mut self) -> Result<(), Stop>;

    fn newtype(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop>;

    fn tuple(&mut self, len: usize, taker: &mut dyn Taker<'de>) -> Result<(), Stop>;

    fn fields(
        &mut self,
        names: &'static [&'static str],
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop>;
}

impl Given<'_, '_> {
    /// The error of a visitor that has no use for it.
    fn refused(&self) -> Stop {
        let unexpected = match *self {
            Self::Bool(value) => Unexpected::Bool(value),
            Self::I8(value) => Unexpected::Signed(value.into()),
            Self::I16(value) => Unexpected::Signed(value.into()),
            Self::I32(value) => Unexpected::Signed(value.into()),
            Self::I64(value) => Unexpected::Signed(value),
            Self::U8(value) => Unexpected::Unsigned(value.into()),
            Self::U16(value) => Unexpected::Unsigned(value.into()),
            Self::U32(value) => Unexpected::Unsigned(value.into()),
            Self::U64(value) => Unexpected::Unsigned(value),
            Self::I128(_) | Self::U128(_) => Unexpected::Other("a large integer"),
            Self::F32(value) => Unexpected::Float(value.into()),
            Self::F64(value) => Unexpected::Float(value),
            Self::Char(value) => Unexpected::Char(value),
            Self::Str(value) | Self::BorrowedStr(value) => Unexpected::Str(value),
            Self::Bytes(value) | Self::BorrowedBytes(value) => Unexpected::Bytes(value),
            Self::Unit => Unexpected::Unit,
            Self::None | Self::Some(_) => Unexpected::Option,
            Self::Newtype(_) => Unexpected::NewtypeStruct,
            Self::Seq(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
            Self::Enum(_) => Unexpected::Enum,
        };
        Stop::invalid_type(unexpected, &"something else")
    }
}
