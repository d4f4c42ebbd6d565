//! The codecs of this crate: each writes and reads any type, without type erasure.

use serde::{
    Deserialize as _, Serialize,
    de::{DeserializeSeed, Deserializer},
};

use super::{
    Codec, CodecError, CodecHandle, CodecReader, Kind,
    bounded::{Bounded, Text},
    carry::{Rules, check},
};

/// A sequence of values that take no bytes can be longer than its bytes; so much longer at most.
const ELEMENTS_WITHOUT_BYTES: usize = 1 << 12;

/// Without a limit of bincode's own a few bad bytes make it ask for all memory there is. Strings are borrowed from the
/// input, so the limit itself need not be small.
pub(super) const BINCODE: bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<{ 1 << 30 }>,
> = bincode::config::standard().with_limit::<{ 1 << 30 }>();

/// What the codecs of this crate have in common.
pub(super) trait Builtin {
    const NAME: &'static str;

    /// The bytes of a value, unless they would be read back as another one.
    fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError>;

    /// The value that all of the bytes are.
    fn read<'de, S: DeserializeSeed<'de>>(
        bytes: &'de [u8],
        seed: S,
    ) -> Result<S::Value, CodecError>;
}

/// bincode 2: compact and fast, fields by their place. The default.
///
/// ```
/// use cache_core::{Bincode, Codec};
///
/// assert_eq!(Bincode.encode(&(42_u64, "Ada"))?, b"\x2a\x03Ada");
/// # Ok::<(), cache_core::CodecError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bincode;

/// JSON: readable in the store, and by programs in other languages. Floats are read back exactly.
///
/// ```
/// use cache_core::{CacheConfig, Codec, Json};
///
/// let config = CacheConfig::memory().codec(Json); // or, more usefully, `CacheConfig::on(…)`
/// assert_eq!(Json.encode(&(42_u64, "Ada"))?, br#"[42,"Ada"]"#);
/// assert!(Json.encode(&f64::NAN).is_err()); // it would come back as null
/// # Ok::<(), cache_core::CodecError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json;

/// Postcard: the most compact, fields by their place.
///
/// ```
/// use cache_core::{Bincode, Codec, Postcard};
///
/// assert_eq!(Postcard.encode(&300_u32)?.len(), 2);
/// assert_eq!(Bincode.encode(&300_u32)?.len(), 3);
/// # Ok::<(), cache_core::CodecError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Postcard;

/// MessagePack with the names of fields and variants: compact, and for types that the positional codecs cannot carry.
///
/// ```
/// use cache_core::{Bincode, Codec, MessagePack};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Product {
///     name: String,
///     #[serde(skip_serializing_if = "Option::is_none")]
///     note: Option<String>,
/// }
///
/// let lamp = Product { name: "lamp".to_owned(), note: None };
/// assert!(Bincode.encode(&lamp).is_err()); // it could not tell which field is left out
/// assert!(MessagePack.encode(&lamp).is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagePack;

impl Builtin for Bincode {
    const NAME: &'static str = "bincode";

    fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
        check(value, Rules::POSITIONAL)?;
        bincode::serde::encode_to_vec(value, BINCODE).map_err(|_| CodecError::REFUSED)
    }

    fn read<'de, S: DeserializeSeed<'de>>(
        bytes: &'de [u8],
        seed: S,
    ) -> Result<S::Value, CodecError> {
        let seed = InBounds {
            elements: elements(bytes),
            seed,
        };
        let (value, used) = bincode::serde::seed_decode_from_slice(seed, bytes, BINCODE)
            .map_err(|_| CodecError::MALFORMED)?;
        whole(value, used == bytes.len())
    }
}

impl Builtin for Json {
    const NAME: &'static str = "json";

    fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
        check(value, Rules::JSON)?;
        serde_json::to_vec(value).map_err(|_| CodecError::REFUSED)
    }

    fn read<'de, S: DeserializeSeed<'de>>(
        bytes: &'de [u8],
        seed: S,
    ) -> Result<S::Value, CodecError> {
        let mut input = serde_json::Deserializer::from_slice(bytes);
        let value = Bounded::read(elements(bytes), Text::OfItsOwn, &mut input, seed)
            .map_err(|_| CodecError::MALFORMED)?;
        whole(value, input.end().is_ok())
    }
}

impl Builtin for Postcard {
    const NAME: &'static str = "postcard";

    fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
        check(value, Rules::POSITIONAL)?;
        postcard::to_stdvec(value).map_err(|_| CodecError::REFUSED)
    }

    fn read<'de, S: DeserializeSeed<'de>>(
        bytes: &'de [u8],
        seed: S,
    ) -> Result<S::Value, CodecError> {
        let mut input = postcard::Deserializer::from_bytes(bytes);
        let value = Bounded::read(elements(bytes), Text::AsBytes, &mut input, seed)
            .map_err(|_| CodecError::MALFORMED)?;
        whole(value, input.finalize().is_ok_and(<[u8]>::is_empty))
    }
}

impl Builtin for MessagePack {
    const NAME: &'static str = "message-pack";

    fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, CodecError> {
        check(value, Rules::MESSAGE_PACK)?;
        rmp_serde::to_vec_named(value).map_err(|_| CodecError::REFUSED)
    }

    fn read<'de, S: DeserializeSeed<'de>>(
        bytes: &'de [u8],
        seed: S,
    ) -> Result<S::Value, CodecError> {
        use rmp_serde::decode::Error;
        let mut input = rmp_serde::Deserializer::from_read_ref(bytes);
        let value = Bounded::read(elements(bytes), Text::OfItsOwn, &mut input, seed)
            .map_err(|_| CodecError::MALFORMED)?;
        // It does not say how much it has read; but that there is nothing to read a further value's first byte from.
        let further = bool::deserialize(&mut input);
        whole(
            value,
            matches!(further, Err(Error::InvalidMarkerRead(error)) if error.kind() == std::io::ErrorKind::UnexpectedEof),
        )
    }
}

fn whole<T>(value: T, all_used: bool) -> Result<T, CodecError> {
    if all_used {
        Ok(value)
    } else {
        Err(CodecError::LEFT_OVER)
    }
}

fn elements(bytes: &[u8]) -> usize {
    bytes.len().saturating_add(ELEMENTS_WITHOUT_BYTES)
}

/// Reads a value within bounds, where the format wants to be given a seed.
struct InBounds<S> {
    elements: usize,
    seed: S,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for InBounds<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        Bounded::read(self.elements, Text::AsBytes, deserializer, self.seed)
    }
}

macro_rules! codecs {
    ($($codec:ident),*) => {$(
        impl Codec for $codec {
            fn name(&self) -> &'static str {
                Self::NAME
            }

            fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, CodecError> {
                Self::write(value)
            }

            fn decode(&self, bytes: &[u8], reader: CodecReader<'_>) -> Result<(), CodecError> {
                Self::read(bytes, reader)
            }

            fn into_handle(self) -> CodecHandle {
                CodecHandle(Kind::$codec)
            }
        }
    )*};
}

codecs! { Bincode, Json, Postcard, MessagePack }
