//! Reading and writing values with little to compile for each type: the codecs are called through objects.

use std::any::Any;

use serde::{Serialize, de::DeserializeOwned};

use super::{AnyValue, Known, known};
use crate::codec::{
    CodecError, CodecHandle, CodecReader,
    any_value::{NewPlace, place},
};

/// Both are in the [`Form`](super::Form) too: here so that this has the shape that `direct` has.
pub(super) struct Ways {
    known: Known,
    place: NewPlace,
}

impl Ways {
    pub(super) const fn of<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Self {
        Self {
            known: known::<V>,
            place: place::<V>,
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
        let mut place = (self.place)();
        codec.as_codec().decode(bytes, CodecReader(&mut *place))?;
        match place.value() {
            Some(_) => Ok(place.into()),
            None => Err(CodecError::MALFORMED),
        }
    }
}
