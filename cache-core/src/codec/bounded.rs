//! A deserializer within bounds: how deep values nest, and how many elements sequences and maps have in all.
//!
//! The formats bound neither, or only one of them. A recursive type can be as deep as its bytes are many, or deeper
//! (`struct Chain(Option<Box<Chain>>)` takes no byte per level in JSON), and the stack overflows; a sequence of values
//! that take no bytes can be of any length.
//!
//! Everything is passed on as it is, in [`Bounded`] again where something is within.

mod access;

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

use self::access::OneByOne;
use super::MAX_DEPTH;

/// How a format writes text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    /// As it writes bytes. Then owned text is copied first and checked where it lies then: the check of text that begins anywhere
    /// takes twice as long.
    AsBytes,
    /// Quoted or tagged: it is read as text.
    OfItsOwn,
}

/// What is left of the bounds.
#[derive(Clone, Copy)]
struct Bounds<'b> {
    depth: u8,
    text: Text,
    elements: &'b Cell<usize>,
}

impl Bounds<'_> {
    #[inline(always)]
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth = self
            .depth
            .checked_sub(1)
            .ok_or_else(|| E::custom("nested too deep"))?;
        Ok(Self { depth, ..self })
    }

    #[inline(always)]
    fn count<E: Error>(self, elements: usize) -> Result<(), E> {
        let left = self
            .elements
            .get()
            .checked_sub(elements)
            .ok_or_else(|| E::custom("too many elements"))?;
        self.elements.set(left);
        Ok(())
    }
}

/// Passes everything on to `inner`, with the bounds.
pub(super) struct Bounded<'b, T> {
    inner: T,
    bounds: Bounds<'b>,
    /// Whether the number of what is within comes from the bytes, and not from the type.
    counted: bool,
}

impl Bounded<'_, ()> {
    /// Reads a value in which all sequences and maps together have at most so many elements.
    #[inline(always)]
    pub(super) fn read<'de, D: Deserializer<'de>, S: DeserializeSeed<'de>>(
        elements: usize,
        text: Text,
        deserializer: D,
        seed: S,
    ) -> Result<S::Value, D::Error> {
        let elements = Cell::new(elements);
        // One more than is written: here the name of a variant is something within, too.
        let bounds = Bounds {
            depth: MAX_DEPTH + 1,
            text,
            elements: &elements,
        };
        seed.deserialize(Bounded {
            inner: deserializer,
            bounds,
            counted: false,
        })
    }
}

impl<'b, T> Bounded<'b, T> {
    #[inline(always)]
    fn fixed<U>(&self, inner: U) -> Bounded<'b, U> {
        Bounded {
            inner,
            bounds: self.bounds,
            counted: false,
        }
    }

    #[inline(always)]
    fn counted<U>(&self, inner: U) -> Bounded<'b, U> {
        Bounded {
            inner,
            bounds: self.bounds,
            counted: true,
        }
    }

    #[inline(always)]
    fn deeper<U, E: Error>(&self, inner: U) -> Result<Bounded<'b, U>, E> {
        Ok(Bounded {
            inner,
            bounds: self.bounds.deeper()?,
            counted: false,
        })
    }
}

macro_rules! plain {
    ($($method:ident)*) => {$(
        #[inline(always)]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            let visitor = self.fixed(visitor);
            self.inner.$method(visitor)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Bounded<'_, D> {
    type Error = D::Error;

    plain! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_bytes deserialize_option deserialize_unit deserialize_identifier
        deserialize_ignored_any
    }

    // Owned forms are asked for as borrowed ones: bincode reserves memory for an owned one before it looks whether there
    // are as many bytes. Owned text is copied from borrowed bytes where the format writes it as such; else who takes a
    // `String` takes a `&str`.
    #[inline(always)]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        match self.bounds.text {
            Text::AsBytes => self.inner.deserialize_bytes(OwnedText(visitor)),
            Text::OfItsOwn => self.deserialize_str(visitor),
        }
    }

    #[inline(always)]
    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.deserialize_bytes(visitor)
    }

    #[inline(always)]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.counted(visitor);
        self.inner.deserialize_any(visitor)
    }

    #[inline(always)]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.counted(visitor);
        self.inner.deserialize_seq(visitor)
    }

    #[inline(always)]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let visitor = self.counted(visitor);
        self.inner.deserialize_map(visitor)
    }

    #[inline(always)]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.fixed(visitor);
        self.inner.deserialize_unit_struct(name, visitor)
    }

    #[inline(always)]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.fixed(visitor);
        self.inner.deserialize_newtype_struct(name, visitor)
    }

    #[inline(always)]
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.fixed(visitor);
        self.inner.deserialize_tuple(len, visitor)
    }

    #[inline(always)]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.fixed(visitor);
        self.inner.deserialize_tuple_struct(name, len, visitor)
    }

    #[inline(always)]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.fixed(visitor);
        self.inner.deserialize_struct(name, fields, visitor)
    }

    #[inline(always)]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.fixed(visitor);
        self.inner.deserialize_enum(name, variants, visitor)
    }

    #[inline(always)]
    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Takes bytes for text.
struct OwnedText<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for OwnedText<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    #[inline(always)]
    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<V::Value, E> {
        match String::from_utf8(bytes.to_vec()) {
            Ok(text) => self.0.visit_string(text),
            Err(_) => Err(E::custom("not a text")),
        }
    }
}

macro_rules! leaves {
    ($($method:ident($value:ty))*) => {$(
        #[inline(always)]
        fn $method<E: Error>(self, value: $value) -> Result<V::Value, E> {
            self.inner.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Bounded<'_, V> {
    type Value = V::Value;

    #[inline(always)]
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    leaves! {
        visit_bool(bool) visit_i8(i8) visit_i16(i16) visit_i32(i32) visit_i64(i64) visit_i128(i128) visit_u8(u8)
        visit_u16(u16) visit_u32(u32) visit_u64(u64) visit_u128(u128) visit_f32(f32) visit_f64(f64) visit_char(char)
        visit_str(&str) visit_borrowed_str(&'de str) visit_string(String) visit_bytes(&[u8])
        visit_borrowed_bytes(&'de [u8]) visit_byte_buf(Vec<u8>)
    }

    #[inline(always)]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    #[inline(always)]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    #[inline(always)]
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        let deserializer = self.deeper(deserializer)?;
        self.inner.visit_some(deserializer)
    }

    #[inline(always)]
    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let deserializer = self.deeper(deserializer)?;
        self.inner.visit_newtype_struct(deserializer)
    }

    #[inline(always)]
    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let number = access.size_hint();
        let access = self.fixed(access);
        if self.counted {
            match number {
                Some(number) => self.bounds.count(number)?,
                None => return self.inner.visit_seq(OneByOne(access)),
            }
        }
        self.inner.visit_seq(access)
    }

    #[inline(always)]
    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let number = access.size_hint();
        let access = self.fixed(access);
        if self.counted {
            match number {
                Some(number) => self.bounds.count(number)?,
                None => return self.inner.visit_map(OneByOne(access)),
            }
        }
        self.inner.visit_map(access)
    }

    #[inline(always)]
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        let access = self.fixed(access);
        self.inner.visit_enum(access)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Bounded<'_, S> {
    type Value = S::Value;

    #[inline(always)]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.fixed(deserializer);
        self.inner.deserialize(deserializer)
    }
}
