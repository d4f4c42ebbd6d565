//! Whether a value is `None`, where nothing more is known of its type than that it can be serialised.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde::{Serialize, Serializer, ser::Impossible};

/// Whether the value serialises as a missing option. Nothing of any other value is looked at.
pub(super) fn is_none(value: &dyn erased_serde::Serialize) -> bool {
    // A `Serialize` of a user may panic; that must not become a failing call.
    catch_unwind(AssertUnwindSafe(|| value.serialize(Probe).is_ok())).unwrap_or(false)
}

/// Fails on everything but `None`.
struct Probe;

macro_rules! fails {
    ($($method:ident($($argument:ty),*) -> $compound:ty;)*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<$compound, fmt::Error> {
            Err(fmt::Error)
        }
    )*};
}

type Never = Impossible<(), fmt::Error>;

impl Serializer for Probe {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    fn serialize_none(self) -> Result<(), fmt::Error> {
        Ok(())
    }

    fails! {
        serialize_bool(bool) -> (); serialize_char(char) -> (); serialize_str(&str) -> (); serialize_bytes(&[u8]) -> ();
        serialize_i8(i8) -> (); serialize_i16(i16) -> (); serialize_i32(i32) -> (); serialize_i64(i64) -> ();
        serialize_u8(u8) -> (); serialize_u16(u16) -> (); serialize_u32(u32) -> (); serialize_u64(u64) -> ();
        serialize_i128(i128) -> (); serialize_u128(u128) -> (); serialize_f32(f32) -> (); serialize_f64(f64) -> ();
        serialize_unit() -> (); serialize_unit_struct(&'static str) -> ();
        serialize_unit_variant(&'static str, u32, &'static str) -> ();
        serialize_seq(Option<usize>) -> Never; serialize_map(Option<usize>) -> Never; serialize_tuple(usize) -> Never;
        serialize_tuple_struct(&'static str, usize) -> Never; serialize_struct(&'static str, usize) -> Never;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Never;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Never;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<(), fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), fmt::Error> {
        Err(fmt::Error)
    }

    // The text is not even made.
    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Result<(), fmt::Error> {
        Err(fmt::Error)
    }
}
