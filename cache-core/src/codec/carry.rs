//! Whether a codec can carry a value: it would be read back as it was.
//!
//! JSON writes NaN as `null`, JSON and MessagePack write `Some(None)` as `None`, and the positional codecs just leave out
//! what `skip_serializing_if` skips; none of them says so. So the value is walked before it is written. The walk writes
//! nothing, and where a type has none of this there is nothing left of it after inlining.

use serde::{
    Serialize, Serializer,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};

use super::{CodecError, MAX_DEPTH};

/// What a codec asks of values.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// No NaN, no infinity.
    finite: bool,
    /// No option that holds what is written like a missing one.
    flat_options: bool,
    /// No field left out.
    every_field: bool,
    human_readable: bool,
}

impl Rules {
    pub(super) const POSITIONAL: Self = Self {
        finite: false,
        flat_options: false,
        every_field: true,
        human_readable: false,
    };
    pub(super) const JSON: Self = Self {
        finite: true,
        flat_options: true,
        every_field: false,
        human_readable: true,
    };
    pub(super) const MESSAGE_PACK: Self = Self {
        finite: false,
        flat_options: true,
        every_field: false,
        human_readable: false,
    };
}

/// Refuses a value that a codec with these rules would not give back as it was, or that is nested too deep.
pub(super) fn check<T: Serialize + ?Sized>(value: &T, rules: Rules) -> Result<(), CodecError> {
    value.serialize(Walk {
        rules,
        depth: 0,
        in_option: false,
    })
}

#[derive(Clone, Copy)]
struct Walk {
    rules: Rules,
    depth: u8,
    /// Whether the value is all there is to tell a `Some` from a `None`.
    in_option: bool,
}

impl Walk {
    fn visit<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CodecError> {
        if self.depth >= MAX_DEPTH {
            return Err(CodecError::TOO_DEEP);
        }
        value.serialize(Self {
            depth: self.depth + 1,
            ..self
        })
    }

    /// For what is within an array or an object.
    fn inside(self) -> Self {
        Self {
            in_option: false,
            ..self
        }
    }

    /// The content of such a variant is an object within an object to some formats, JSON among them.
    fn inside_variant(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self.inside()
        }
    }

    fn nothing(self) -> Result<(), CodecError> {
        if self.in_option && self.rules.flat_options {
            Err(CodecError::NESTED_OPTION)
        } else {
            Ok(())
        }
    }

    fn float(self, finite: bool) -> Result<(), CodecError> {
        if finite || !self.rules.finite {
            Ok(())
        } else {
            Err(CodecError::NOT_FINITE)
        }
    }
}

macro_rules! carried {
    ($($method:ident($value:ty)),*) => {$(
        fn $method(self, _value: $value) -> Result<(), CodecError> {
            Ok(())
        }
    )*};
}

impl Serializer for Walk {
    type Ok = ();
    type Error = CodecError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    carried! {
        serialize_bool(bool), serialize_char(char), serialize_str(&str), serialize_bytes(&[u8]),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128)
    }

    fn serialize_f32(self, value: f32) -> Result<(), CodecError> {
        self.float(value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), CodecError> {
        self.float(value.is_finite())
    }

    fn serialize_none(self) -> Result<(), CodecError> {
        self.nothing()
    }

    fn serialize_unit(self) -> Result<(), CodecError> {
        self.nothing()
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), CodecError> {
        self.nothing()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), CodecError> {
        Self {
            in_option: true,
            ..self
        }
        .visit(value)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.visit(value)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), CodecError> {
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), CodecError> {
        self.inside().visit(value)
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self, CodecError> {
        Ok(self.inside())
    }

    fn serialize_tuple(self, _len: usize) -> Result<Self, CodecError> {
        Ok(self.inside())
    }

    fn serialize_tuple_struct(self, _: &'static str, _len: usize) -> Result<Self, CodecError> {
        Ok(self.inside())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        Ok(self.inside_variant())
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Self, CodecError> {
        Ok(self.inside())
    }

    fn serialize_struct(self, _: &'static str, _len: usize) -> Result<Self, CodecError> {
        Ok(self.inside())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, CodecError> {
        Ok(self.inside_variant())
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, _value: &T) -> Result<(), CodecError> {
        Ok(())
    }

    fn is_human_readable(&self) -> bool {
        self.rules.human_readable
    }
}

macro_rules! compound {
    ($($kind:ident: $($method:ident)*;)*) => {$(
        impl $kind for Walk {
            type Ok = ();
            type Error = CodecError;

            $(fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
                self.visit(value)
            })*

            fn end(self) -> Result<(), CodecError> {
                Ok(())
            }
        }
    )*};
}

compound! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
    SerializeMap: serialize_key serialize_value;
}

macro_rules! fields {
    ($($kind:ident)*) => {$(
        impl $kind for Walk {
            type Ok = ();
            type Error = CodecError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _: &'static str, value: &T) -> Result<(), CodecError> {
                self.visit(value)
            }

            fn skip_field(&mut self, _: &'static str) -> Result<(), CodecError> {
                if self.rules.every_field { Err(CodecError::LEFT_OUT) } else { Ok(()) }
            }

            fn end(self) -> Result<(), CodecError> {
                Ok(())
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }
