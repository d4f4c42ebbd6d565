//! Reading and writing values fast: compiled for each type and codec.

use std::{any::Any, marker::PhantomData};

use serde::{Serialize, de::DeserializeOwned};

use super::AnyValue;
use crate::codec::{
    Bincode, CodecError, CodecHandle, CodecReader, Json, Kind, MessagePack, Postcard,
    builtin::Builtin as _,
};

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
            decode: |codec, bytes| Ok(AnyValue::new(codec.decode_direct::<V>(bytes)?)),
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

impl CodecHandle {
    pub(in crate::codec) fn encode_direct<T: Serialize>(
        &self,
        value: &T,
    ) -> Result<Vec<u8>, CodecError> {
        match &self.0 {
            Kind::Bincode => Bincode::write(value),
            Kind::Json => Json::write(value),
            Kind::Postcard => Postcard::write(value),
            Kind::MessagePack => MessagePack::write(value),
            Kind::Custom(codec) => codec.encode(value),
        }
    }

    pub(in crate::codec) fn decode_direct<T: DeserializeOwned>(
        &self,
        bytes: &[u8],
    ) -> Result<T, CodecError> {
        let seed = PhantomData::<T>;
        match &self.0 {
            Kind::Bincode => Bincode::read(bytes, seed),
            Kind::Json => Json::read(bytes, seed),
            Kind::Postcard => Postcard::read(bytes, seed),
            Kind::MessagePack => MessagePack::read(bytes, seed),
            Kind::Custom(codec) => {
                let mut value = None;
                codec.decode(bytes, CodecReader(&mut value))?;
                value.ok_or(CodecError::MALFORMED)
            }
        }
    }
}
