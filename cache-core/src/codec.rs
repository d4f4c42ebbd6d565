//! How a value becomes bytes for a backend, and a value again.
//!
//! | codec | bytes | for |
//! |---|---|---|
//! | [`Bincode`] (default) | smallest but one, fastest | everything that does not need the others |
//! | [`Postcard`] | smallest | as `Bincode`, where bytes count |
//! | [`Json`] | readable with `redis-cli get` | looking at entries, readers in other languages |
//! | [`MessagePack`] | with the names of fields | types that use `tag`, `untagged`, `flatten` or leave out fields |
//!
//! `Bincode` and `Postcard` find fields by their place. A type that describes itself otherwise (`tag`, `untagged`,
//! `flatten`, `skip_serializing`, `skip_serializing_if`) is refused by them; `Json` and `MessagePack` carry it.
//!
//! What a codec would give back as another value is refused when it is encoded: NaN and infinities and `Some(None)` in
//! JSON, `Some(None)` in MessagePack, left-out fields in the two others. Such a value is returned to the caller and not
//! stored.
//!
//! Values that are bytes (`Vec<u8>`, `Arc<[u8]>`, [`Bytes`](crate::Bytes)) are copied as they are by `Bincode` and `Postcard`; reading a long `Bytes` copies
//! nothing.
//!
//! Decoding is safe on any bytes: it takes memory in proportion to their number, nests at most 120 levels deep, and is an
//! error unless all of them were used. A value nested deeper than that is refused when it is encoded.
//!
//! A codec of one's own implements [`Codec`]. What it reads nests no deeper either; how much memory that takes is its own affair, since it
//! may decompress.

pub(crate) mod any_value;
mod bounded;
mod builtin;
mod carry;
pub(crate) mod dynamic;
mod form;
mod none;
mod raw;

#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _},
};

pub use self::builtin::{Bincode, Json, MessagePack, Postcard};
pub(crate) use self::{any_value::AnyValue, form::Form};
use self::{
    bounded::{Bounded, Text},
    builtin::Builtin,
    dynamic::{FromFormat, Seed},
};

/// How deep a value may be nested: what can be encoded can be decoded, and neither can exhaust the stack. It is a little
/// less than what serde_json allows, so that no codec has a bound of its own that comes first.
const MAX_DEPTH: u8 = 120;

/// Turns values into bytes and back, for a cache on a backend: `CacheConfig::on(redis).codec(MyCodec)`.
///
/// Any serde format can be one, and a codec can wrap another, to compress or to encrypt:
///
/// ```
/// use cache_core::{Codec, CodecError, CodecReader, Json, erased_serde};
///
/// /// JSON with every bit turned over.
/// struct Inverted;
///
/// fn invert(bytes: &[u8]) -> Vec<u8> {
///     bytes.iter().map(|byte| !byte).collect()
/// }
///
/// impl Codec for Inverted {
///     fn name(&self) -> &'static str {
///         "inverted-json"
///     }
///
///     fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, CodecError> {
///         Ok(invert(&Json.encode(value)?))
///     }
///
///     fn decode(&self, bytes: &[u8], reader: CodecReader<'_>) -> Result<(), CodecError> {
///         Json.decode(&invert(bytes), reader)
///     }
/// }
/// ```
pub trait Codec: Send + Sync + 'static {
    /// The name of the form in which values are written, for people and in stored entries: an entry that was written
    /// under another name is not read. Change it when the bytes change.
    ///
    /// ```
    /// use cache_core::{Codec, Postcard};
    ///
    /// assert_eq!(Postcard.name(), "postcard");
    /// ```
    fn name(&self) -> &'static str;

    /// The bytes of a value.
    ///
    /// ```
    /// use cache_core::{Codec, Json};
    ///
    /// assert_eq!(Json.encode(&[1, 2])?, b"[1,2]");
    /// assert!(Json.encode(&Some(None::<u8>)).is_err()); // it would come back as `None`
    /// # Ok::<(), cache_core::CodecError>(())
    /// ```
    ///
    /// # Errors
    /// The value cannot be written such that it is read back as it was.
    fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, CodecError>;

    /// Reads a value, by giving the reader a deserializer over `bytes`.
    ///
    /// The bytes were written by this codec and their checksum is right; still, whoever can write to the backend can
    /// write others. Implementations do not panic and check that all bytes were used.
    ///
    /// # Errors
    /// The bytes are not a value, or not all of them are.
    fn decode(&self, bytes: &[u8], reader: CodecReader<'_>) -> Result<(), CodecError>;

    /// The codec as a cache keeps it. The codecs of this crate are called directly, without type erasure, in builds without debug
    /// assertions.
    #[doc(hidden)]
    fn into_handle(self) -> CodecHandle
    where
        Self: Sized,
    {
        CodecHandle(Kind::Custom(Arc::new(self)))
    }
}

/// Takes the value out of the deserializer that a [`Codec`] gives it.
///
/// ```
/// use cache_core::{Codec, CodecError, CodecReader, erased_serde};
///
/// /// JSON for people.
/// struct PrettyJson;
///
/// impl Codec for PrettyJson {
///     fn name(&self) -> &'static str {
///         "pretty-json"
///     }
///
///     fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, CodecError> {
///         serde_json::to_vec_pretty(value).map_err(|_| CodecError::new("it has no form in JSON"))
///     }
///
///     fn decode(&self, bytes: &[u8], reader: CodecReader<'_>) -> Result<(), CodecError> {
///         let mut input = serde_json::Deserializer::from_slice(bytes);
///         reader.read(&mut input)?;
///         input.end().map_err(|_| CodecError::new("something is left over"))
///     }
/// }
/// assert_eq!(PrettyJson.encode(&[1])?, b"[\n  1\n]");
/// # Ok::<(), CodecError>(())
/// ```
pub struct CodecReader<'a>(&'a mut dyn for<'de> Seed<'de>);

impl CodecReader<'_> {
    /// Reads the value from a deserializer of any format.
    ///
    /// # Errors
    /// It does not hold a value of the type that is read.
    pub fn read<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<(), CodecError> {
        // The codec may decompress: the number of its bytes says nothing about that of elements.
        Bounded::read(usize::MAX, Text::OfItsOwn, deserializer, self)
            .map_err(|_| CodecError::MALFORMED)
    }
}

impl fmt::Debug for CodecReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CodecReader(..)")
    }
}

/// Within the bounds that it is given.
impl<'de> DeserializeSeed<'de> for CodecReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0
            .read(&mut FromFormat::new(deserializer))
            .map_err(D::Error::custom)
    }
}

/// The codec of a cache: made of any [`Codec`] with `into()`. [`Bincode`] by default.
///
/// ```
/// use cache_core::{CodecHandle, Postcard};
///
/// let chosen: CodecHandle = Postcard.into(); // what `CacheConfig::codec` does
/// assert_eq!(chosen.name(), "postcard");
/// assert_eq!(CodecHandle::default().name(), "bincode");
/// ```
#[derive(Clone, Default)]
pub struct CodecHandle(Kind);

#[derive(Clone, Default)]
enum Kind {
    #[default]
    Bincode,
    Json,
    Postcard,
    MessagePack,
    Custom(Arc<dyn Codec>),
}

impl CodecHandle {
    /// The name of the codec.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match &self.0 {
            Kind::Bincode => Bincode::NAME,
            Kind::Json => Json::NAME,
            Kind::Postcard => Postcard::NAME,
            Kind::MessagePack => MessagePack::NAME,
            Kind::Custom(codec) => codec.name(),
        }
    }

    /// What stands for the codec in stored entries. All codecs from outside have one number; their names tell them
    /// apart.
    pub(crate) fn id(&self) -> u8 {
        match &self.0 {
            Kind::Bincode => 1,
            Kind::Json => 2,
            Kind::Postcard => 3,
            Kind::MessagePack => 4,
            Kind::Custom(_) => 0x80,
        }
    }

    #[cfg(any(test, debug_assertions))]
    fn as_codec(&self) -> &dyn Codec {
        match &self.0 {
            Kind::Bincode => &Bincode,
            Kind::Json => &Json,
            Kind::Postcard => &Postcard,
            Kind::MessagePack => &MessagePack,
            Kind::Custom(codec) => &**codec,
        }
    }

    /// Whether fields are found by their place, and not by their names.
    fn is_positional(&self) -> bool {
        matches!(self.0, Kind::Bincode | Kind::Postcard)
    }
}

impl<C: Codec> From<C> for CodecHandle {
    fn from(codec: C) -> Self {
        codec.into_handle()
    }
}

impl fmt::Debug for CodecHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a value that can be written without the names of its fields can be read back. A value that cannot be written
/// says nothing: that is found out when it is to be stored.
pub(crate) fn can_be_read_by_place(
    value: &dyn erased_serde::Serialize,
    place: &mut dyn for<'de> Seed<'de>,
) -> bool {
    Bincode.encode(value).map_or(true, |bytes| {
        Bincode.decode(&bytes, CodecReader(place)).is_ok()
    })
}

/// Why a value could not be encoded or decoded. It never shows the value.
///
/// ```
/// use cache_core::{Codec, CodecError, Json};
///
/// const TORN: CodecError = CodecError::new("the bytes are cut off: delete the entry");
/// assert_eq!(TORN.to_string(), "the bytes are cut off: delete the entry");
///
/// let error = Json.encode(&f64::INFINITY).unwrap_err();
/// assert!(error.to_string().contains("JSON cannot write"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CodecError(&'static str);

impl CodecError {
    const REFUSED: Self =
        Self("its `Serialize` failed, or the codec has no form for it: use another codec");
    pub(crate) const PANICKED: Self =
        Self("its `Serialize` panicked: write one that gives an error instead");
    const MALFORMED: Self =
        Self("the bytes are not a value of this type in the form of this codec");
    const LEFT_OVER: Self = Self("bytes are left over behind the value");
    const TOO_DEEP: Self = Self("it is nested deeper than 120 levels: store a flatter form of it");
    const NOT_FINITE: Self = Self(
        "it holds NaN or an infinity, which JSON cannot write: use another codec, or an option",
    );
    const NESTED_OPTION: Self = Self(
        "it holds `Some(None)` or `Some(())`, which this codec would read back as `None`: use `Bincode` or `Postcard`",
    );
    const LEFT_OUT: Self = Self(
        "it leaves out a field (`skip_serializing_if`), and this codec finds fields by their place: use `Json` or `MessagePack`",
    );
    const NOT_POSITIONAL: Self = Self(
        "its type cannot be read by the place of its fields (`tag`, `untagged`, `flatten`, `skip_serializing`): use `Json` or `MessagePack`",
    );

    /// An error with a sentence of one's own, in lower case and without a full stop. It is a constant, so that it
    /// cannot quote a value.
    #[must_use]
    pub const fn new(sentence: &'static str) -> Self {
        Self(sentence)
    }
}

impl serde::ser::Error for CodecError {
    // The message is dropped: it may quote the value.
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Self::REFUSED
    }
}
