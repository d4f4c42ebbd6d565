//! The serializer that writes canonical key text; the forms are listed in the [module above](super).
//!
//! It writes into one buffer, in one pass. Two forms are only known once their content has been written, and are put
//! right in place at the end of it: `Some(None)` and a map whose entries came unsorted.

use serde::{Serialize, Serializer};

use super::{
    DEFAULT_KEY, Fault, Hashed, KeyError, KeySecret,
    compound::{Entries, Fields, Items},
    digest::write_digest,
    text::Buffer,
};

/// How deep a value may be nested. Recursive types can be as deep as their data, and the stack cannot.
const MAX_DEPTH: u8 = 128;

const SOME: &str = "{some:";

/// What the value that is about to be written stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A tuple given by hand: its elements are the parts.
    Spread,
    /// The only part: a string is written bare where that is unmistakable.
    Alone,
    /// Something within an array or object, or one of several parts.
    Nested,
}

impl Place {
    /// The place of what a transparent wrapper holds. Only the tuple itself is spread, not what is wrapped.
    fn of_content(self) -> Self {
        if self == Self::Nested {
            Self::Nested
        } else {
            Self::Alone
        }
    }
}

/// Writes one value.
pub(super) struct Canonical<'a> {
    pub(super) text: &'a mut Buffer,
    secret: Option<&'a KeySecret>,
    place: Place,
    depth: u8,
}

impl<'a> Canonical<'a> {
    /// For a value that is the whole key.
    #[inline]
    pub(super) fn root(text: &'a mut Buffer, secret: Option<&'a KeySecret>) -> Self {
        Self {
            text,
            secret,
            place: Place::Alone,
            depth: 0,
        }
    }

    /// For one of several parts.
    #[inline]
    pub(super) fn nested(text: &'a mut Buffer, secret: Option<&'a KeySecret>) -> Self {
        Self {
            text,
            secret,
            place: Place::Nested,
            depth: 0,
        }
    }

    /// The same for a tuple whose elements are the parts.
    pub(super) fn spread(self) -> Self {
        Self {
            place: Place::Spread,
            ..self
        }
    }

    /// For what is within this value; `place` says whether the value is anything but a wrapper.
    pub(super) fn inner(&mut self, place: Place) -> Result<Canonical<'_>, KeyError> {
        if self.depth == MAX_DEPTH {
            return Err(Fault::TooDeep.into());
        }
        Ok(Canonical {
            text: self.text,
            secret: self.secret,
            place,
            depth: self.depth + 1,
        })
    }

    #[inline]
    fn string(self, string: &str) {
        if self.place == Place::Nested {
            self.text.push_quoted(string)
        } else {
            self.text.push_alone(string)
        }
    }

    #[inline]
    fn integer(self, value: impl itoa::Integer + TryInto<u64>) -> Result<(), KeyError> {
        if self.depth == 0
            && self.place == Place::Alone
            && let Ok(number) = value.try_into()
        {
            *self.text = Buffer::Number(number);
            return Ok(());
        }
        self.text.push_str(itoa::Buffer::new().format(value));
        Ok(())
    }

    fn float<F: ryu::Float>(self, value: F, finite: bool) -> Result<(), KeyError> {
        if !finite {
            return Err(Fault::NotFinite.into());
        }
        self.text.push_str(ryu::Buffer::new().format_finite(value));
        Ok(())
    }

    fn items(self, open: &str, close: &'static str) -> Items<'a> {
        self.text.push_str(open);
        Items::new(self, Place::Nested, close)
    }

    fn fields(self, close: &'static str) -> Fields<'a> {
        self.text.push_str("{");
        Fields::new(self, close)
    }

    /// Opens the object of one field in which a variant's content is written.
    fn variant(&mut self, name: &str) {
        self.text.push_str("{");
        self.text.push_quoted(name);
        self.text.push_str(":");
    }
}

macro_rules! integers {
    ($($method:ident: $integer:ty),*) => {$(
        #[inline]
        fn $method(self, value: $integer) -> Result<(), KeyError> {
            self.integer(value)
        }
    )*};
}

impl<'a> Serializer for Canonical<'a> {
    type Ok = ();
    type Error = KeyError;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128
    }

    fn serialize_bool(self, value: bool) -> Result<(), KeyError> {
        self.text.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), KeyError> {
        self.float(value, value.is_finite())
    }

    fn serialize_f64(self, value: f64) -> Result<(), KeyError> {
        self.float(value, value.is_finite())
    }

    fn serialize_char(self, value: char) -> Result<(), KeyError> {
        self.string(value.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), KeyError> {
        self.string(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), KeyError> {
        self.text.push_str("{bytes:");
        self.text.push_base64(value);
        self.text.push_str("}");
        Ok(())
    }

    fn serialize_none(self) -> Result<(), KeyError> {
        self.text.push_str("null");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), KeyError> {
        let start = self.text.len();
        let place = self.place.of_content();
        value.serialize(self.inner(place)?)?;
        // Only a missing option inside reads like a missing option; a string `null` that stands alone is quoted.
        let content = &self.text.as_str()[start..];
        if content == "null" || content.starts_with(SOME) {
            self.text.insert_str(start, SOME);
            self.text.push_str("}");
        }
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), KeyError> {
        self.text.push_str(if self.place == Place::Spread {
            DEFAULT_KEY
        } else {
            "{unit}"
        });
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), KeyError> {
        self.text.push_str("{unit}");
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), KeyError> {
        self.string(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), KeyError> {
        let start = self.text.len();
        let place = self.place.of_content();
        value.serialize(self.inner(place)?)?;
        if name == Hashed::<()>::NAME {
            write_digest(self.text, start, self.secret);
        }
        Ok(())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), KeyError> {
        self.variant(variant);
        value.serialize(self.inner(Place::Nested)?)?;
        self.text.push_str("}");
        Ok(())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Items<'a>, KeyError> {
        Ok(self.items("[", "]"))
    }

    fn serialize_tuple(self, len: usize) -> Result<Items<'a>, KeyError> {
        if self.place == Place::Spread && len == 1 {
            return Ok(Items::new(self, Place::Alone, ""));
        }
        Ok(self.items("[", "]"))
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> Result<Items<'a>, KeyError> {
        Ok(self.items("[", "]"))
    }

    fn serialize_tuple_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Items<'a>, KeyError> {
        self.variant(variant);
        Ok(self.items("[", "]}"))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Entries<'a>, KeyError> {
        self.text.push_str("{");
        Ok(Entries::new(self))
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Fields<'a>, KeyError> {
        Ok(self.fields("}"))
    }

    fn serialize_struct_variant(
        mut self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Fields<'a>, KeyError> {
        self.variant(variant);
        Ok(self.fields("}}"))
    }
}
