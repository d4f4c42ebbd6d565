//! How arguments become the text an entry is known by.
//!
//! **Key text** is the same in every process, build and platform, and two values of one type that differ never share
//! one. It is readable, because it is what `redis-cli` shows:
//!
//! | key | text |
//! |---|---|
//! | no parts, `&()` by hand | `default-cache-key` |
//! | one part | its canonical JSON: `42`, `1.0`, `true`, `null`, `{"page":3}`, … |
//! | one part that is a string | the string itself: `en`; quoted where it could be taken for something else: `"42"`, `"null"`, `""` |
//! | several parts, a tuple by hand | a JSON array without spaces: `[42,"en"]` |
//! | [`Hashed`], `#[cache_key(hash)]` | `#` and 43 characters of base64url, in an array too: `[#…,7]` |
//! | a text over 512 bytes | the same digest, of the whole text |
//!
//! A string that stands alone is quoted if it is empty, is the text of a JSON number, `true`, `false`, `null` or
//! `default-cache-key`, begins with one of `[ { " #`, or holds a control character. Characters and the names of unit
//! variants are strings.
//!
//! # Canonical JSON
//! Numbers in their shortest form that reads back as the same number (`1.0` and `-0.0` keep their point and sign),
//! strings with as few escapes as JSON allows, no spaces, the fields of a struct as declared, the entries of a map
//! sorted by the text of their keys, enums as serde writes them by default. Where JSON would merge two values there is a
//! form that is not JSON and so meets no other:
//!
//! | value | text |
//! |---|---|
//! | `Some(None)` | `{some:null}`, and `{some:{some:null}}` one level up |
//! | `()` and unit structs | `{unit}` |
//! | byte strings (`serialize_bytes`) | `{bytes:AQID}`, base64url |
//! | keys of maps that are not strings | as they are: `{1:"a"}` |
//!
//! # What has no key text
//! NaN, infinities, a `Serialize` that fails and values nested deeper than 128 levels: a [`KeyError`], and the call goes
//! past the cache. What a type's own `Serialize` hides cannot be told apart either: skipped fields, the variants of an
//! `untagged` enum that hold the same content. And what it leaves to chance gives texts by chance: a `HashSet` is
//! written in the order in which it iterates, so two equal sets may have two texts (and be loaded twice); use a
//! `BTreeSet`. A `HashMap` is fine.

mod canonical;
mod compound;
mod digest;
mod text;

#[cfg(test)]
mod tests;

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde::{Serialize, Serializer};

use self::{canonical::Canonical, digest::write_digest, text::Buffer};

/// The text of a key without parts.
const DEFAULT_KEY: &str = "default-cache-key";

/// Texts longer than this, in bytes, become a digest.
const MAX_LEN: usize = 512;

/// The key text of one entry, at most 512 bytes.
///
/// `Debug` shows its length only: a key may hold what does not belong in a log.
///
/// ```
/// use cache_core::key::KeyText;
///
/// assert_eq!(KeyText::of(&42, None)?.as_str(), "42");
/// assert_eq!(KeyText::of("en", None)?.as_str(), "en");
/// assert_eq!(KeyText::of(&(42, "en"), None)?.as_str(), r#"[42,"en"]"#);
/// assert_eq!(KeyText::of(&(), None)?.as_str(), "default-cache-key");
/// # Ok::<(), cache_core::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyText(Buffer);

impl KeyText {
    /// The text of a key given by hand: a tuple is several parts, `&()` none, anything else one.
    ///
    /// It is the text [`from_parts`](Self::from_parts) gives for the same parts.
    ///
    /// ```
    /// use cache_core::key::KeyText;
    ///
    /// // What could be taken for something else is quoted.
    /// assert_eq!(KeyText::of("42", None)?.as_str(), r#""42""#);
    /// assert_eq!(KeyText::of(&1.0, None)?.as_str(), "1.0");
    /// // A tuple of one is one part, an array of one is a part that is an array.
    /// assert_eq!(KeyText::of(&(42,), None)?.as_str(), "42");
    /// assert_eq!(KeyText::of(&[42], None)?.as_str(), "[42]");
    /// assert!(KeyText::of(&f64::NAN, None).is_err());
    /// # Ok::<(), cache_core::KeyError>(())
    /// ```
    ///
    /// # Errors
    /// The key has no canonical text; see the [module](self).
    pub fn of<K: Serialize + ?Sized>(
        key: &K,
        secret: Option<&KeySecret>,
    ) -> Result<Self, KeyError> {
        let mut text = Buffer::default();
        let writer = Canonical::root(&mut text, secret);
        written(|| {
            key.serialize(if is_tuple::<K>() {
                writer.spread()
            } else {
                writer
            })
        })?;
        let mut key = Self(text);
        key.0.settle();
        key.shorten(secret);
        Ok(key)
    }

    /// The text of a key that is written part by part; `parts` is their number.
    ///
    /// Without parts it is `default-cache-key`, and `write` is not called.
    ///
    /// ```
    /// use cache_core::key::KeyText;
    ///
    /// let text = KeyText::from_parts(2, None, |key| {
    ///     key.part(&42)?;
    ///     key.part("en")
    /// })?;
    /// assert_eq!(text, KeyText::of(&(42, "en"), None)?);
    /// assert!(KeyText::from_parts(3, None, |key| key.part(&42)).is_err());
    /// # Ok::<(), cache_core::KeyError>(())
    /// ```
    ///
    /// # Errors
    /// A part has no canonical text, or `write` wrote another number of parts.
    pub fn from_parts(
        parts: usize,
        secret: Option<&KeySecret>,
        write: impl FnOnce(&mut KeyWriter<'_>) -> Result<(), KeyError>,
    ) -> Result<Self, KeyError> {
        let mut key = KeyParts::new(parts);
        if parts > 0 {
            let mut writer = KeyWriter {
                key: &mut key,
                secret,
            };
            write(&mut writer)?;
        }
        key.close(secret);
        key.into_text()
    }

    /// The text.
    ///
    /// ```
    /// use cache_core::key::KeyText;
    ///
    /// assert_eq!(KeyText::of(&(42, "en"), None)?.as_str(), r#"[42,"en"]"#);
    /// assert_eq!(KeyText::of(&"long ".repeat(200), None)?.as_str().len(), 44); // a digest
    /// # Ok::<(), cache_core::KeyError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The key as it is looked up.
    #[inline]
    pub(crate) fn sought(&self) -> Sought<'_> {
        match self.0.number() {
            Some(number) => Sought::Number(number),
            None => Sought::of(self.as_str()),
        }
    }

    #[inline]
    fn shorten(&mut self, secret: Option<&KeySecret>) {
        if self.0.is_longer_than(MAX_LEN) {
            write_digest(&mut self.0, 0, secret);
        }
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyText({:?})", self.0)
    }
}

/// A key as it is looked up: a number, where its text is one, is that number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sought<'k> {
    Number(u64),
    Text(&'k str),
}

impl<'k> Sought<'k> {
    #[inline]
    pub(crate) fn of(text: &'k str) -> Self {
        match text.as_bytes() {
            // A text that begins like a number and is none, or a larger one, is a text.
            [b'0'..=b'9', ..] => number(text).map_or(Self::Text(text), Self::Number),
            _ => Self::Text(text),
        }
    }
}

/// The number whose text this is; no other text is its.
fn number(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|_| text == "0" || !text.starts_with('0'))
}

/// Runs a `Serialize` of a user. One that panics has failed: a call does not end with its key.
#[inline]
fn written(serialize: impl FnOnce() -> Result<(), KeyError>) -> Result<(), KeyError> {
    catch_unwind(AssertUnwindSafe(serialize)).unwrap_or(Err(Fault::Refused.into()))
}

/// Whether `K` is spelt as a tuple.
///
/// To a serializer `(x,)` and `[x]` are the same, but the first is one part, `x`, and the second one part that is an
/// array. Nothing else hangs on this: of longer tuples the parts and the array of them have one text.
fn is_tuple<K: ?Sized>() -> bool {
    // Any `&` and `&mut` in front of it. No name of a type has a bracket after these letters alone.
    std::any::type_name::<K>()
        .trim_start_matches(['&', 'm', 'u', 't', ' '])
        .starts_with('(')
}

/// Takes the parts of a key one by one; see [`KeyText::from_parts`].
///
/// ```
/// use cache_core::key::KeyText;
///
/// let text = KeyText::from_parts(2, None, |key| {
///     key.hashed("a session token")?;
///     key.part(&7)
/// })?;
/// assert!(text.as_str().starts_with('#') || text.as_str().starts_with("[#"));
/// assert!(text.as_str().ends_with(",7]"));
/// # Ok::<(), cache_core::KeyError>(())
/// ```
#[derive(Debug)]
pub struct KeyWriter<'a> {
    key: &'a mut KeyParts,
    secret: Option<&'a KeySecret>,
}

impl KeyWriter<'_> {
    /// Writes the next part.
    ///
    /// ```
    /// use cache_core::key::KeyText;
    ///
    /// let text = KeyText::from_parts(1, None, |key| key.part(&Some("en")))?;
    /// assert_eq!(text.as_str(), "en");
    /// # Ok::<(), cache_core::KeyError>(())
    /// ```
    ///
    /// # Errors
    /// It has no canonical text, or a part before it has none.
    pub fn part<T: Serialize + ?Sized>(&mut self, part: &T) -> Result<(), KeyError> {
        self.key.part(self.secret, part);
        self.key.fault.clone().map_or(Ok(()), Err)
    }

    /// Writes the digest of the next part in its place, as [`Hashed`] does.
    ///
    /// ```
    /// use cache_core::{Hashed, key::KeyText};
    ///
    /// let text = KeyText::from_parts(1, None, |key| key.hashed("a session token"))?;
    /// assert_eq!(text, KeyText::of(&Hashed("a session token"), None)?);
    /// # Ok::<(), cache_core::KeyError>(())
    /// ```
    ///
    /// # Errors
    /// It has no canonical text.
    pub fn hashed<T: Serialize + ?Sized>(&mut self, part: &T) -> Result<(), KeyError> {
        self.part(&Hashed(part))
    }
}

/// A key that is being written, part by part.
#[derive(Debug)]
pub(crate) struct KeyParts {
    /// The key, once it is closed.
    text: KeyText,
    parts: usize,
    written: usize,
    /// The first thing that went wrong.
    fault: Option<KeyError>,
}

impl KeyParts {
    #[inline]
    pub(crate) fn new(parts: usize) -> Self {
        Self {
            text: KeyText(Buffer::default()),
            parts,
            written: 0,
            fault: None,
        }
    }

    pub(crate) fn part<T: Serialize + ?Sized>(&mut self, secret: Option<&KeySecret>, part: &T) {
        let writer = self.next(secret);
        let written = written(|| part.serialize(writer));
        self.note(written);
    }

    /// Where the next part is to be written.
    #[inline]
    fn next<'a>(&'a mut self, secret: Option<&'a KeySecret>) -> Canonical<'a> {
        self.written += 1;
        if self.parts == 1 {
            return Canonical::root(&mut self.text.0, secret);
        }
        let text = &mut self.text.0;
        text.push_str(if self.written == 1 { "[" } else { "," });
        Canonical::nested(text, secret)
    }

    #[inline]
    fn note(&mut self, written: Result<(), KeyError>) {
        if let (Err(error), None) = (written, &self.fault) {
            self.fault = Some(error);
        }
    }

    /// All parts are written: what is looked up. To be called once. `None`: there is no key; why, [`into_text`](Self::into_text)
    /// says.
    // Inlined, so that what is looked up is not written to memory in between.
    #[inline(always)]
    pub(crate) fn close(&mut self, secret: Option<&KeySecret>) -> Option<Sought<'_>> {
        if self.parts != 1 || self.written != 1 || self.text.0.is_longer_than(MAX_LEN) {
            self.end(secret);
        }
        match self.fault {
            None => Some(self.text.sought()),
            Some(_) => None,
        }
    }

    fn end(&mut self, secret: Option<&KeySecret>) {
        if self.written != self.parts {
            self.note(Err(Fault::Parts.into()));
        }
        if self.parts != 1 {
            let end = if self.parts == 0 { DEFAULT_KEY } else { "]" };
            self.text.0.push_str(end);
        }
        self.text.shorten(secret);
    }

    /// The key, once it is closed.
    pub(crate) fn into_text(self) -> Result<KeyText, KeyError> {
        match self.fault {
            Some(fault) => Err(fault),
            None => {
                let mut text = self.text;
                text.0.settle();
                Ok(text)
            }
        }
    }
}

/// A key, or a part of one, that is stored as a digest: the same as `#[cache_key(hash)]`, for keys given by hand.
///
/// For secrets (a session token) and for what is long. Set `key_secret` on the manager where the values could be
/// guessed: without it anybody can compute the digest of a guess.
///
/// ```
/// use cache_core::{Hashed, key::KeyText};
///
/// let text = KeyText::of(&(1, Hashed("a session token")), None)?;
/// assert!(text.as_str().starts_with("[1,#"));
/// # Ok::<(), cache_core::KeyError>(())
/// ```
///
/// Serialised by anything but a key it is the value itself. `Debug` does not show it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hashed<T>(pub T);

impl<T> Hashed<T> {
    /// By this name of a newtype struct the key serializer knows it; no other type has it.
    const NAME: &'static str = "cache_core::Hashed#";
}

impl<T: Serialize> Serialize for Hashed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(Self::NAME, &self.0)
    }
}

impl<T> fmt::Debug for Hashed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hashed(..)")
    }
}

/// The secret that keys the digests, so that a stored key cannot be found by hashing guesses.
///
/// Services that share entries share the secret. `Debug` does not show it.
///
/// ```
/// use cache_core::{Hashed, key::{KeySecret, KeyText}};
///
/// let secret = KeySecret::new("32 random bytes, from a file");
/// let token = Hashed("a session token");
/// assert_eq!(KeyText::of(&token, Some(&secret))?, KeyText::of(&token, Some(&secret))?);
/// assert_ne!(KeyText::of(&token, Some(&secret))?, KeyText::of(&token, None)?);
/// assert_eq!(format!("{secret:?}"), "KeySecret(..)");
/// # Ok::<(), cache_core::KeyError>(())
/// ```
#[derive(Clone)]
pub struct KeySecret([u8; 32]);

impl KeySecret {
    /// A secret from any bytes: a random file, an environment variable. It is no better than they are.
    ///
    /// ```
    /// use cache_core::{Hashed, key::{KeySecret, KeyText}};
    ///
    /// // The same bytes are the same secret, in every process.
    /// let text = |secret: &str| KeyText::of(&Hashed("a session token"), Some(&KeySecret::new(secret)));
    /// assert_eq!(text("one")?, text("one")?);
    /// assert_ne!(text("one")?, text("another")?);
    /// # Ok::<(), cache_core::KeyError>(())
    /// ```
    #[must_use]
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(blake3::derive_key(
            "cache-core 2026-11-30 key texts",
            bytes.as_ref(),
        ))
    }
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySecret(..)")
    }
}

/// Why a key has no text. It never shows the key.
///
/// ```
/// use cache_core::key::KeyText;
///
/// let error = KeyText::of(&("a password", f64::NAN), None).unwrap_err();
/// assert!(error.to_string().starts_with("the key holds NaN or an infinity"));
/// assert!(!error.to_string().contains("a password"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub struct KeyError(#[from] Fault);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error(
        "the key holds NaN or an infinity, which has no text of its own: use an integer, a string or an option"
    )]
    NotFinite,
    #[error(
        "the key is nested deeper than 128 levels: use the part of it that tells entries apart"
    )]
    TooDeep,
    #[error("the `Serialize` of the key failed: use a key that can always be serialised")]
    Refused,
    #[error("the key was announced with another number of parts: write as many as were announced")]
    Parts,
}

impl serde::ser::Error for KeyError {
    // The message is dropped: it may quote the value.
    fn custom<T: fmt::Display>(_message: T) -> Self {
        Fault::Refused.into()
    }
}
