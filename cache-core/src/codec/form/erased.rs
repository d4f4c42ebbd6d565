//! Reading and writing values with little to compile for each type: the codecs are called through objects.
//!
//! Functions and not closures, and `match` in place of what takes closures: that is less to compile, too.

use std::any::Any;

use serde::{Serialize, de::DeserializeOwned};

use super::AnyValue;
use crate::{
    codec::{
        CodecError, CodecHandle, CodecReader,
        dynamic::{Asking, Seed, Source},
    },
    fingerprint::Stop,
};

pub(super) struct Ways {
    known: for<'v> fn(&'v dyn Any) -> Option<&'v dyn erased_serde::Serialize>,
    read: Read,
}

type Read = fn(&mut dyn Source<'_>) -> Result<AnyValue, Stop>;

impl Ways {
    pub(super) const fn of<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Self {
        Self {
            known: known::<V>,
            read: read::<V>,
        }
    }

    pub(super) fn encode(
        &self,
        codec: &CodecHandle,
        value: &dyn Any,
    ) -> Result<Vec<u8>, CodecError> {
        codec
            .as_codec()
            .encode((self.known)(value).ok_or(CodecError::REFUSED)?)
    }

    pub(super) fn decode(&self, codec: &CodecHandle, bytes: &[u8]) -> Result<AnyValue, CodecError> {
        let mut place = Place {
            read: self.read,
            value: None,
        };
        codec.as_codec().decode(bytes, CodecReader(&mut place))?;
        place.value.ok_or(CodecError::MALFORMED)
    }
}

fn known<V: Serialize + 'static>(value: &dyn Any) -> Option<&dyn erased_serde::Serialize> {
    match value.downcast_ref::<V>() {
        Some(value) => Some(value),
        None => None,
    }
}

fn read<V: DeserializeOwned + Send + Sync + 'static>(
    source: &mut dyn Source<'_>,
) -> Result<AnyValue, Stop> {
    match V::deserialize(Asking(source)) {
        Ok(value) => Ok(Box::new(value)),
        Err(stop) => Err(stop),
    }
}

/// The place for a value of a type that is not named.
struct Place {
    read: Read,
    value: Option<AnyValue>,
}

impl<'de> Seed<'de> for Place {
    fn read(&mut self, source: &mut dyn Source<'de>) -> Result<(), Stop> {
        self.value = Some((self.read)(source)?);
        Ok(())
    }
}
