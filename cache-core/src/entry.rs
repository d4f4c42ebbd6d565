//! The stored form of a value: the codec's bytes, then a trailer of fixed length.
//!
//! The codec's bytes come first, so that a JSON entry can be read as it is. The trailer says what the bytes are, and an
//! entry counts only if all of it is right: nothing is decoded before that, so bytes of another type, another key or
//! another program are a miss and never a wrong value.
//!
//! | bytes of the trailer | what |
//! |---|---|
//! | 0–7 | a random number of this store: two entries with one number are one and the same |
//! | 8–15 | the epoch of the cache when the value was looked up |
//! | 16–23 | the fingerprint of the value's type, with the version of the cache and the name of a codec from outside |
//! | 24–31 | the key check: a hash of the cache's name and the key text |
//! | 32–39 | when the entry expires, in milliseconds since 1970; 0: never |
//! | 40 | the codec |
//! | 41 | the version of this form |
//! | 42–43 | a constant that marks an entry |
//! | 44–47 | the checksum of everything before it |
//!
//! Numbers are little-endian.

#[cfg(test)]
mod tests;

use bytes::Bytes;
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

use crate::{backend::Token, codec::CodecHandle};

/// The length of the trailer in bytes.
pub(crate) const TRAILER_LEN: usize = 48;

/// Where in the trailer the epoch begins. Backends look at it too: [`EPOCH_BEFORE_END`](crate::backend::EPOCH_BEFORE_END).
pub(crate) const EPOCH_AT: usize = 8;

const VERSION: u8 = 1;
const MAGIC: [u8; 2] = [0xca, 0xc5];

/// What an entry has to be to count: the codec, the type and the key it was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    codec: u8,
    fingerprint: u64,
    key: u64,
}

/// What the labels of all entries of a cache have in common: its name, codec, value type and configured version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Labels {
    codec: u8,
    fingerprint: u64,
    cache: u64,
}

impl Labels {
    pub(crate) fn new(codec: &CodecHandle, fingerprint: u64, version: u32, cache: &str) -> Self {
        let mut hasher = Xxh3::with_seed(fingerprint);
        hasher.update(&version.to_le_bytes());
        // The numbers of the codecs from outside are not their own.
        hasher.update(codec.name().as_bytes());
        Self {
            codec: codec.id(),
            fingerprint: hasher.digest(),
            cache: xxh3_64(cache.as_bytes()),
        }
    }

    /// The label of the entry with that key text.
    pub(crate) fn of(&self, key_text: &str) -> Label {
        Label {
            codec: self.codec,
            fingerprint: self.fingerprint,
            key: xxh3_64_with_seed(key_text.as_bytes(), self.cache),
        }
    }
}

/// Why the bytes of an entry do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("it is no entry of a cache, or not all of one")]
    Foreign,
    #[error("it is in a form of another version of this library")]
    Version,
    #[error("it was damaged")]
    Checksum,
    #[error("it was written with another codec")]
    Codec,
    #[error("it holds a value of another type")]
    Type,
    #[error("it belongs to another key")]
    Key,
}

/// An entry whose label is right. Whether it is of the present epoch is for the caller to see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened<'a> {
    /// The codec's bytes.
    pub(crate) payload: &'a [u8],
    /// All that comes after them.
    pub(crate) trailer: &'a [u8; TRAILER_LEN],
    /// The epoch of the cache when the value was looked up.
    pub(crate) epoch: Token,
    /// The random number of the store that wrote it.
    pub(crate) store: u64,
    /// In milliseconds since 1970; `None`: never.
    pub(crate) expires_at: Option<u64>,
}

// The value is not shown.
impl std::fmt::Debug for Opened<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("epoch", &self.epoch)
            .field("bytes", &self.payload.len())
            .finish_non_exhaustive()
    }
}

/// The bytes to store for what a codec wrote; `expires_at` in milliseconds since 1970, `None` for never.
pub(crate) fn seal(
    payload: Vec<u8>,
    label: &Label,
    epoch: Token,
    expires_at: Option<u64>,
) -> Bytes {
    seal_as(crate::random::u64(), payload, label, epoch, expires_at)
}

fn seal_as(
    store: u64,
    mut entry: Vec<u8>,
    label: &Label,
    epoch: Token,
    expires_at: Option<u64>,
) -> Bytes {
    entry.reserve_exact(TRAILER_LEN);
    entry.extend_from_slice(&store.to_le_bytes());
    entry.extend_from_slice(epoch.as_bytes());
    entry.extend_from_slice(&label.fingerprint.to_le_bytes());
    entry.extend_from_slice(&label.key.to_le_bytes());
    entry.extend_from_slice(&expires_at.map_or(0, |at| at.max(1)).to_le_bytes());
    entry.extend_from_slice(&[label.codec, VERSION]);
    entry.extend_from_slice(&MAGIC);
    let checksum = checksum(&entry);
    entry.extend_from_slice(&checksum);
    entry.into()
}

/// What an entry holds, if it is undamaged and has this label.
///
/// # Errors
/// It is not: a miss.
pub(crate) fn open<'a>(entry: &'a [u8], label: &Label) -> Result<Opened<'a>, Unreadable> {
    let (payload, trailer) = split(entry).ok_or(Unreadable::Foreign)?;
    let number = |at: usize| u64::from_le_bytes(bytes_at(trailer, at));
    if bytes_at(trailer, 42) != MAGIC {
        return Err(Unreadable::Foreign);
    }
    if trailer[41] != VERSION {
        return Err(Unreadable::Version);
    }
    if bytes_at(trailer, 44) != checksum(&entry[..entry.len() - 4]) {
        return Err(Unreadable::Checksum);
    }
    if trailer[40] != label.codec {
        return Err(Unreadable::Codec);
    }
    if number(16) != label.fingerprint {
        return Err(Unreadable::Type);
    }
    if number(24) != label.key {
        return Err(Unreadable::Key);
    }
    Ok(Opened {
        payload,
        trailer,
        epoch: Token::from_bytes(bytes_at(trailer, EPOCH_AT)),
        store: number(0),
        expires_at: Some(number(32)).filter(|&at| at != 0),
    })
}

/// The codec's bytes and the trailer, unless there are too few bytes for one.
pub(crate) fn split(entry: &[u8]) -> Option<(&[u8], &[u8; TRAILER_LEN])> {
    entry.split_last_chunk()
}

fn bytes_at<const N: usize>(trailer: &[u8; TRAILER_LEN], at: usize) -> [u8; N] {
    std::array::from_fn(|index| trailer[at + index])
}

/// Half of a 64-bit hash: enough against damage, and nothing here is meant to be proof against forgery.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh3_64(bytes).to_le_bytes();
    [a, b, c, d]
}
