//! What a cache knows of a value type that can be sent to a backend.

use std::any::{Any, type_name};

use serde::{Serialize, de::DeserializeOwned};

use super::{CodecError, CodecHandle, none::is_none};
use crate::fingerprint::{self, Structure};

/// A value of a type that is not named.
pub(crate) type AnyValue = Box<dyn Any + Send + Sync>;

/// How values of a type are encoded and decoded, without naming it.
///
/// It is made where the bounds of the type are known, and used where they are not: caches hold any type, and only those
/// on a backend need serde.
pub(crate) struct Form {
    encode: fn(&CodecHandle, &dyn Any) -> Result<Vec<u8>, CodecError>,
    decode: fn(&CodecHandle, &[u8]) -> Result<AnyValue, CodecError>,
    structure: fn() -> Structure,
    type_name: fn() -> &'static str,
    /// Whether a value is `None`, seen from how it serialises: behind an `Arc` too.
    pub(crate) is_none: fn(&dyn Any) -> bool,
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Form").field(&(self.type_name)()).finish()
    }
}

impl Form {
    /// The form of a type.
    pub(crate) const fn of<V>() -> &'static Self
    where
        V: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        &Self {
            encode: |codec, value| codec.encode(known::<V>(value).ok_or(CodecError::REFUSED)?),
            decode: |codec, bytes| Ok(Box::new(codec.decode::<V>(bytes)?)),
            structure: fingerprint::of::<V>,
            type_name: type_name::<V>,
            is_none: |value| known::<V>(value).is_some_and(|value| is_none(value)),
        }
    }

    /// The bytes of a value.
    ///
    /// # Errors
    /// The codec cannot carry it, or it is of another type.
    pub(crate) fn encode(
        &self,
        codec: &CodecHandle,
        value: &dyn Any,
    ) -> Result<Vec<u8>, CodecError> {
        if codec.is_positional() && !(self.structure)().positional {
            return Err(CodecError::NOT_POSITIONAL);
        }
        (self.encode)(codec, value)
    }

    /// The value that the bytes are.
    ///
    /// # Errors
    /// They are no value of this type, or not all of them are.
    pub(crate) fn decode(&self, codec: &CodecHandle, bytes: &[u8]) -> Result<AnyValue, CodecError> {
        (self.decode)(codec, bytes)
    }

    /// A number that stands for the structure of the type, the same in every process and build. The first call for a
    /// type takes some tens of microseconds, the others one look into a table.
    pub(crate) fn fingerprint(&self) -> u64 {
        (self.structure)().fingerprint
    }
}

fn known<V: 'static>(value: &dyn Any) -> Option<&V> {
    value.downcast_ref()
}
