//! What a value serialises to: names, kinds and their order, and no contents.
//!
//! It tells what reading a type does not: fields that are written under other names or in another way than they are
//! read, and the fields of what is read by `flatten`.

use std::fmt;

use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use xxhash_rust::xxh3::Xxh3;

use super::hash::put;

/// A hash of the structure a value is written in; `None` if it cannot be written.
pub(super) fn structure_of(value: &dyn erased_serde::Serialize) -> Option<u64> {
    let mut hasher = Xxh3::new();
    value
        .serialize(Recorder {
            hasher: &mut hasher,
        })
        .ok()?;
    Some(hasher.digest())
}

struct Recorder<'h> {
    hasher: &'h mut Xxh3,
}

impl Recorder<'_> {
    fn put(&mut self, texts: &[&str]) {
        for text in texts {
            put(self.hasher, text);
        }
    }

    fn write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
        value.serialize(Recorder {
            hasher: self.hasher,
        })
    }

    fn close(mut self) -> Result<(), fmt::Error> {
        self.put(&["end"]);
        Ok(())
    }
}

macro_rules! scalars {
    ($($method:ident($value:ty) $kind:literal)*) => {$(
        fn $method(mut self, _value: $value) -> Result<(), fmt::Error> {
            self.put(&[$kind]);
            Ok(())
        }
    )*};
}

impl Serializer for Recorder<'_> {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    scalars! {
        serialize_bool(bool) "bool" serialize_char(char) "char" serialize_str(&str) "text" serialize_bytes(&[u8]) "bytes"
        serialize_i8(i8) "i8" serialize_i16(i16) "i16" serialize_i32(i32) "i32" serialize_i64(i64) "i64"
        serialize_i128(i128) "i128" serialize_u8(u8) "u8" serialize_u16(u16) "u16" serialize_u32(u32) "u32"
        serialize_u64(u64) "u64" serialize_u128(u128) "u128" serialize_f32(f32) "f32" serialize_f64(f64) "f64"
    }

    fn serialize_none(mut self) -> Result<(), fmt::Error> {
        self.put(&["none"]);
        Ok(())
    }

    fn serialize_unit(mut self) -> Result<(), fmt::Error> {
        self.put(&["unit"]);
        Ok(())
    }

    fn serialize_unit_struct(mut self, name: &'static str) -> Result<(), fmt::Error> {
        self.put(&["unit", name]);
        Ok(())
    }

    fn serialize_unit_variant(
        mut self,
        name: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), fmt::Error> {
        self.put(&["variant", name, variant]);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), fmt::Error> {
        self.put(&["some"]);
        self.write(value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), fmt::Error> {
        self.put(&["newtype", name]);
        self.write(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), fmt::Error> {
        self.put(&["newtype variant", name, variant]);
        self.write(value)
    }

    fn serialize_seq(mut self, _len: Option<usize>) -> Result<Self, fmt::Error> {
        self.put(&["sequence"]);
        Ok(self)
    }

    fn serialize_tuple(mut self, _len: usize) -> Result<Self, fmt::Error> {
        self.put(&["tuple"]);
        Ok(self)
    }

    fn serialize_tuple_struct(
        mut self,
        name: &'static str,
        _len: usize,
    ) -> Result<Self, fmt::Error> {
        self.put(&["tuple struct", name]);
        Ok(self)
    }

    fn serialize_tuple_variant(
        mut self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self, fmt::Error> {
        self.put(&["tuple variant", name, variant]);
        Ok(self)
    }

    fn serialize_map(mut self, _len: Option<usize>) -> Result<Self, fmt::Error> {
        self.put(&["map"]);
        Ok(self)
    }

    fn serialize_struct(mut self, name: &'static str, _len: usize) -> Result<Self, fmt::Error> {
        self.put(&["struct", name]);
        Ok(self)
    }

    fn serialize_struct_variant(
        mut self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Self, fmt::Error> {
        self.put(&["struct variant", name, variant]);
        Ok(self)
    }

    fn collect_str<T: fmt::Display + ?Sized>(mut self, _value: &T) -> Result<(), fmt::Error> {
        self.put(&["text"]);
        Ok(())
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! compound {
    ($($kind:ident $method:ident)*) => {$(
        impl $kind for Recorder<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
                self.write(value)
            }

            fn end(self) -> Result<(), fmt::Error> {
                self.close()
            }
        }
    )*};
}

compound! {
    SerializeSeq serialize_element SerializeTuple serialize_element SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! fields {
    ($($kind:ident)*) => {$(
        impl $kind for Recorder<'_> {
            type Ok = ();
            type Error = fmt::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), fmt::Error> {
                self.put(&[name]);
                self.write(value)
            }

            fn end(self) -> Result<(), fmt::Error> {
                self.close()
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

// Keys may be the names of fields, where a struct is written as a map. There is at most one made-up key besides.
impl SerializeMap for Recorder<'_> {
    type Ok = ();
    type Error = fmt::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), fmt::Error> {
        match crate::key::KeyText::of(key, None) {
            Ok(text) => self.put(&["key", text.as_str()]),
            Err(_) => self.put(&["key"]),
        }
        self.write(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), fmt::Error> {
        self.write(value)
    }

    fn end(self) -> Result<(), fmt::Error> {
        self.close()
    }
}
