//! What a cache knows of a value type that can be sent to a backend.

// Where debug assertions are on, which is in dev builds, reading and writing are compiled once for all formats, else again for
// every one that is built in.
#[cfg(any(test, not(debug_assertions)))]
mod direct;
#[cfg(all(debug_assertions, not(test)))]
mod erased;

use std::any::Any;

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

#[cfg(any(test, not(debug_assertions)))]
use self::direct::Ways;
#[cfg(all(debug_assertions, not(test)))]
use self::erased::Ways;
use super::{AnyValue, CodecError, CodecHandle, none, raw::Raw};
use crate::fingerprint::{self, Structure, Subject};

/// How values of a type are encoded and decoded, without naming it.
///
/// It is made where the bounds of the type are known, and used where they are not: caches hold any type, and only those
/// on a backend need serde.
pub(crate) struct Form {
    subject: Subject,
    ways: Ways,
    known: Known,
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Form").field(&self.subject.name()).finish()
    }
}

impl Form {
    /// The form of a type.
    pub(crate) const fn of<V>() -> &'static Self
    where
        V: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        const {
            &Self {
                subject: Subject::of::<V>(),
                ways: Ways::of::<V>(),
                known: known::<V>,
            }
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
        if codec.is_positional() && !self.structure().positional {
            return Err(CodecError::NOT_POSITIONAL);
        }
        match Raw::of(self.subject.id()).and_then(|raw| raw.encode(codec, value)) {
            Some(encoded) => encoded,
            None => self.ways.encode(codec, value),
        }
    }

    /// The value that the bytes are, which are part of `whole`: it may keep them.
    ///
    /// # Errors
    /// They are no value of this type, or not all of them are.
    pub(crate) fn decode_part(
        &self,
        codec: &CodecHandle,
        bytes: &[u8],
        whole: &Bytes,
    ) -> Result<AnyValue, CodecError> {
        match Raw::of(self.subject.id()).and_then(|raw| raw.decode(codec, bytes, whole)) {
            Some(decoded) => decoded,
            None => self.ways.decode(codec, bytes),
        }
    }

    /// The same for bytes that are part of nothing.
    #[cfg(test)]
    pub(crate) fn decode(&self, codec: &CodecHandle, bytes: &[u8]) -> Result<AnyValue, CodecError> {
        self.ways.decode(codec, bytes)
    }

    /// Whether a value is `None`, seen from how it serialises: behind an `Arc` too.
    pub(crate) fn is_none(&self, value: &dyn Any) -> bool {
        (self.known)(value).is_some_and(none::is_none)
    }

    /// A number that stands for the structure of the type, the same in every process and build. The first call for a
    /// type takes some tens of microseconds, the others one look into a table.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.structure().fingerprint
    }

    fn structure(&self) -> Structure {
        fingerprint::of(&self.subject)
    }
}

/// A value of a type that is not named, as what serde makes of it. `None`: it is of another type.
type Known = for<'v> fn(&'v dyn Any) -> Option<&'v dyn erased_serde::Serialize>;

// A function and not a closure, and `match` in place of what takes one: that is less to compile for each type.
fn known<V: Serialize + 'static>(value: &dyn Any) -> Option<&dyn erased_serde::Serialize> {
    match value.downcast_ref::<V>() {
        Some(value) => Some(value),
        None => None,
    }
}
