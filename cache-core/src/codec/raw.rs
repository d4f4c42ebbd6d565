//! Values that are bytes already.
//!
//! `Bincode` and `Postcard` write a sequence of bytes, or bytes, as their number and then the bytes as they are. So for a
//! `Vec<u8>`, an `Arc<[u8]>` and a [`Bytes`] there is nothing to go through one by one: the stored form is the one that
//! the codec writes, and all there is to do is to copy it, or not even that. What is copied:
//!
//! | | written | read |
//! |---|---|---|
//! | `Vec<u8>`, `Arc<[u8]>` | once, to stand in front of the trailer | once: they own their bytes, and what was read does not end where they do |
//! | `Bytes` | once, as well | not at all; a short one once, so that it does not keep what it was read with |
//!
//! `Json` and `MessagePack` write numbers in place of bytes, and a [`Codec`](super::Codec) from outside is asked for what it writes.

use std::{
    any::{Any, TypeId},
    sync::Arc,
};

use bytes::Bytes;

use super::{AnyValue, CodecError, CodecHandle, Kind, builtin::BINCODE};
use crate::entry::TRAILER_LEN;

/// A [`Bytes`] from so many bytes on is a part of what was read, which may be some 64 KiB more. A shorter one is copied.
const SHARED_FROM: usize = 16 << 10;

/// The longest form of a number.
const NUMBER: usize = 10;

/// Which type of bytes it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    Vec,
    Arc,
    Bytes,
}

impl Raw {
    /// Of the type with that id, if it is one of these.
    pub(super) fn of(id: TypeId) -> Option<Self> {
        if id == TypeId::of::<Vec<u8>>() {
            Some(Self::Vec)
        } else if id == TypeId::of::<Arc<[u8]>>() {
            Some(Self::Arc)
        } else if id == TypeId::of::<Bytes>() {
            Some(Self::Bytes)
        } else {
            None
        }
    }

    fn bytes(self, value: &dyn Any) -> Option<&[u8]> {
        match self {
            Self::Vec => Some(value.downcast_ref::<Vec<u8>>()?),
            Self::Arc => Some(value.downcast_ref::<Arc<[u8]>>()?),
            Self::Bytes => Some(value.downcast_ref::<Bytes>()?),
        }
    }

    /// The form of a value, if the codec writes bytes as they are. There is room for a trailer behind it.
    pub(super) fn encode(
        self,
        codec: &CodecHandle,
        value: &dyn Any,
    ) -> Option<Result<Vec<u8>, CodecError>> {
        let bytes = self.bytes(value)?;
        let mut number = [0; NUMBER];
        let number = write_number(codec, bytes.len() as u64, &mut number)?;
        Some(number.map(|number| {
            let mut form = Vec::with_capacity(number.len() + bytes.len() + TRAILER_LEN);
            form.extend_from_slice(number);
            form.extend_from_slice(bytes);
            form
        }))
    }

    /// The value of a form that is part of `whole`, if the codec writes bytes as they are.
    pub(super) fn decode(
        self,
        codec: &CodecHandle,
        form: &[u8],
        whole: &Bytes,
    ) -> Option<Result<AnyValue, CodecError>> {
        let (number, bytes) = match read_number(codec, form)? {
            Ok(read) => read,
            Err(error) => return Some(Err(error)),
        };
        Some(match (bytes.len() as u64).cmp(&number) {
            std::cmp::Ordering::Less => Err(CodecError::MALFORMED),
            std::cmp::Ordering::Greater => Err(CodecError::LEFT_OVER),
            std::cmp::Ordering::Equal => Ok(match self {
                Self::Vec => AnyValue::new(bytes.to_vec()),
                Self::Arc => AnyValue::new(Arc::<[u8]>::from(bytes)),
                Self::Bytes if bytes.len() < SHARED_FROM => {
                    AnyValue::new(Bytes::copy_from_slice(bytes))
                }
                Self::Bytes => AnyValue::new(whole.slice_ref(bytes)),
            }),
        })
    }
}

/// How the codec writes the number of elements. `None`: its elements do not follow as they are.
fn write_number<'b>(
    codec: &CodecHandle,
    number: u64,
    buffer: &'b mut [u8; NUMBER],
) -> Option<Result<&'b [u8], CodecError>> {
    let written = match codec.0 {
        Kind::Bincode => bincode::encode_into_slice(number, &mut buffer[..], BINCODE).ok(),
        Kind::Postcard => postcard::to_slice(&number, buffer)
            .ok()
            .map(|written| written.len()),
        Kind::Json | Kind::MessagePack | Kind::Custom(_) => return None,
    };
    Some(match written {
        Some(length) => Ok(&buffer[..length]),
        None => Err(CodecError::REFUSED),
    })
}

/// The number, and what comes after it.
fn read_number<'f>(
    codec: &CodecHandle,
    form: &'f [u8],
) -> Option<Result<(u64, &'f [u8]), CodecError>> {
    let read = match codec.0 {
        Kind::Bincode => bincode::decode_from_slice(form, BINCODE)
            .ok()
            .map(|(number, length)| (number, &form[length..])),
        Kind::Postcard => postcard::take_from_bytes(form).ok(),
        Kind::Json | Kind::MessagePack | Kind::Custom(_) => return None,
    };
    Some(read.ok_or(CodecError::MALFORMED))
}

#[cfg(test)]
mod tests {
    use serde::{Serialize, de::DeserializeOwned};

    use super::super::{Bincode, Form, Json, MessagePack, Postcard};
    use super::*;

    fn builtins() -> [CodecHandle; 4] {
        [
            Bincode.into(),
            Postcard.into(),
            Json.into(),
            MessagePack.into(),
        ]
    }

    /// What the codec writes of anything.
    fn written(codec: &CodecHandle, value: &dyn erased_serde::Serialize) -> Vec<u8> {
        codec.as_codec().encode(value).expect("it has a form")
    }

    fn goes_through<V>(value: &V, codec: &CodecHandle)
    where
        V: Serialize + DeserializeOwned + Send + Sync + PartialEq + std::fmt::Debug + 'static,
    {
        let form = Form::of::<V>();
        let bytes = form.encode(codec, value).expect("it has a form");
        assert_eq!(bytes, written(codec, value), "{codec:?}");
        let read = |bytes: &[u8]| {
            let whole = Bytes::copy_from_slice(bytes);
            let mut value = form.decode_part(codec, &whole, &whole)?;
            Ok::<V, CodecError>(value.take().expect("of this type"))
        };
        assert_eq!(read(&bytes).as_ref(), Ok(value), "{codec:?}");
        assert!(read(&[&bytes[..], b"]"].concat()).is_err(), "{codec:?}");
        for short in [0, 1, bytes.len() - 1] {
            let read = read(&bytes[..short.min(bytes.len() - 1)]);
            assert_ne!(read.as_ref(), Ok(value), "{codec:?}");
        }
    }

    #[test]
    fn the_form_is_what_the_codec_writes_of_any_value() {
        for length in [0, 1, 127, 128, 250, 251, 252, 40_000, 70_000] {
            let bytes: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
            for codec in &builtins() {
                goes_through(&bytes, codec);
                goes_through(&Arc::<[u8]>::from(&bytes[..]), codec);
                goes_through(&Bytes::copy_from_slice(&bytes), codec);
            }
        }
    }

    #[test]
    fn the_form_is_pinned() {
        let value = Bytes::from_static(&[7; 300]);
        let form = |codec: &CodecHandle| Form::of::<Bytes>().encode(codec, &value).expect("a form");
        let [bincode, postcard, ..] = builtins();
        assert_eq!(form(&bincode), [&[251, 0x2c, 0x01][..], &value].concat());
        assert_eq!(form(&postcard), [&[0xac, 0x02][..], &value].concat());
        let short = Form::of::<Vec<u8>>().encode(&bincode, &b"abc".to_vec());
        assert_eq!(short.expect("a form"), b"\x03abc");
    }

    #[test]
    fn long_bytes_are_not_copied_and_short_ones_keep_nothing_else() {
        for (length, shared) in [(SHARED_FROM, true), (SHARED_FROM - 1, false)] {
            let codec = Bincode.into();
            let form = Form::of::<Bytes>();
            let written = form.encode(&codec, &Bytes::from(vec![7; length]));
            let whole = Bytes::from(written.expect("a form"));
            let mut read = form.decode_part(&codec, &whole, &whole).expect("a value");
            let read: Bytes = read.take().expect("of this type");
            let place = whole.as_ptr_range();
            assert_eq!(place.contains(&read.as_ptr()), shared);
        }
    }

    #[test]
    fn a_number_that_promises_more_than_there_is_takes_no_memory() {
        let huge = b"\xfd\xff\xff\xff\xff\xff\xff\xff\x7fab";
        let whole = Bytes::from_static(huge);
        let read = Form::of::<Vec<u8>>().decode_part(&Bincode.into(), &whole, &whole);
        assert_eq!(read.err(), Some(CodecError::MALFORMED));
    }
}
