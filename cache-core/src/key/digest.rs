//! Digests that stand for a text: `#` and 43 characters of base64url, 256 bits of BLAKE3.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

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

impl Buffer {
    /// Appends the base64url form of `bytes`, without padding.
    pub(super) fn push_base64(&mut self, bytes: &[u8]) {
        // By whole groups of three bytes, so that no text has to be built first.
        let mut encoded = [0; 64];
        for chunk in bytes.chunks(48) {
            let len = URL_SAFE_NO_PAD
                .encode_slice(chunk, &mut encoded)
                .unwrap_or_default();
            self.push_str(std::str::from_utf8(&encoded[..len]).unwrap_or_default());
        }
    }
}
