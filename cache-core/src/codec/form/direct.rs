//! Reading and writing values fast: compiled for each type and codec.

use std::any::Any;

use serde::{Serialize, de::DeserializeOwned};

use super::AnyValue;
use crate::codec::{CodecError, CodecHandle};

pub(super) struct Ways {
    encode: fn(&CodecHandle, &dyn Any) -> Result<Vec<u8>, CodecError>,
    decode: fn(&CodecHandle, &[u8]) -> Result<AnyValue, CodecError>,
}

impl Ways {
    pub(super) const fn of<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Self {
        Self {
            encode: |codec, value| {
                codec.encode_direct::<V>(value.downcast_ref().ok_or(CodecError::REFUSED)?)
            },
            decode: |codec, bytes| Ok(Box::new(codec.decode_direct::<V>(bytes)?)),
        }
    }

    pub(super) fn encode(
        &self,
        codec: &CodecHandle,
        value: &dyn Any,
    ) -> Result<Vec<u8>, CodecError> {
        (self.encode)(codec, value)
    }

    pub(super) fn decode(&self, codec: &CodecHandle, bytes: &[u8]) -> Result<AnyValue, CodecError> {
        (self.decode)(codec, bytes)
    }
}
