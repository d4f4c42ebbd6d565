//! What a cache knows of a value type that can be sent to a backend.

use serde::{Serialize, de::DeserializeOwned};

use super::{CodecError, CodecHandle, none::is_none};
use crate::fingerprint::{self, Structure};

/// How values of a type are encoded and decoded.
///
/// It is made where the bounds of the type are known, and used where they are not: caches hold any type, and only those
/// on a backend need serde.
pub struct ValueForm<V> {
    encode: fn(&CodecHandle, &V) -> Result<Vec<u8>, CodecError>,
    decode: fn(&CodecHandle, &[u8]) -> Result<V, CodecError>,
    structure: fn() -> Structure,
    /// Whether a value is `None`, seen from how it serialises: behind an `Arc` too.
    pub(crate) is_none: fn(&V) -> bool,
}

impl<V> Clone for ValueForm<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for ValueForm<V> {}

impl<V> std::fmt::Debug for ValueForm<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ValueForm").field(&self.type_name()).finish()
    }
}

impl<V> ValueForm<V> {
    /// The form of a type.
    #[must_use]
    pub const fn of() -> Self
    where
        V: Serialize + DeserializeOwned + 'static,
    {
        Self {
            encode: |codec, value| codec.encode(value),
            decode: |codec, bytes| codec.decode(bytes),
            structure: fingerprint::of::<V>,
            is_none: is_none::<V>,
        }
    }

    /// The bytes of a value.
    ///
    /// # Errors
    /// The codec cannot carry it.
    pub fn encode(&self, codec: &CodecHandle, value: &V) -> Result<Vec<u8>, CodecError> {
        if codec.is_positional() && !(self.structure)().positional {
            return Err(CodecError::NOT_POSITIONAL);
        }
        (self.encode)(codec, value)
    }

    /// The value that the bytes are.
    ///
    /// # Errors
    /// They are no value of this type, or not all of them are.
    pub fn decode(&self, codec: &CodecHandle, bytes: &[u8]) -> Result<V, CodecError> {
        (self.decode)(codec, bytes)
    }

    /// A number that stands for the structure of the type, the same in every process and build. The first call for a
    /// type takes some tens of microseconds, the others one look into a table.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        (self.structure)().fingerprint
    }

    /// The name of the type.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        std::any::type_name::<V>()
    }
}
