//! Digests that stand for a text: `#` and 43 characters of base64url, 256 bits of BLAKE3.

use super::{KeySecret, text::Buffer};

/// Replaces what the buffer holds from `start` on by its digest.
pub(super) fn write_digest(text: &mut Buffer, start: usize, secret: Option<&KeySecret>) {
    let covered = &text.as_str().as_bytes()[start..];
    let digest = match secret {
        Some(KeySecret(key)) => blake3::keyed_hash(key, covered),
        None => blake3::hash(covered),
    };
    text.truncate(start);
    text.push_str("#");
    text.push_base64(digest.as_bytes());
}
