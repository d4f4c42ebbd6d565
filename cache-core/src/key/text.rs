//! The buffer a key text is written into, and the forms of a string in it.

use std::{
    fmt,
    hash::{Hash, Hasher},
};

use arrayvec::ArrayString;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

use super::DEFAULT_KEY;

/// Texts up to this length, in bytes, are kept in place: a number, a UUID with a word before it. So a hit allocates nothing.
const SHORT: usize = 48;

/// Where a key text is written. The one place that knows how it is kept.
#[derive(Clone)]
pub(super) enum Buffer {
    Short(ArrayString<SHORT>),
    /// Has been longer at some time.
    Long(String),
}

impl Default for Buffer {
    fn default() -> Self {
        Self::Short(ArrayString::new_const())
    }
}

impl PartialEq for Buffer {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Buffer {}

impl Hash for Buffer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes)", self.len())
    }
}

impl Buffer {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Short(text) => text,
            Self::Long(text) => text,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.as_str().len()
    }

    pub(super) fn push_str(&mut self, text: &str) {
        if let Self::Short(short) = self
            && short.try_push_str(text).is_ok()
        {
            return;
        }
        self.lengthen().push_str(text);
    }

    #[cold]
    fn lengthen(&mut self) -> &mut String {
        if let Self::Short(short) = self {
            let mut long = String::with_capacity(4 * SHORT);
            long.push_str(short);
            *self = Self::Long(long);
        }
        match self {
            Self::Long(long) => long,
            Self::Short(_) => unreachable!("was lengthened above"),
        }
    }

    /// Appends the base64url form of `bytes`, without padding.
    pub(super) fn push_base64(&mut self, bytes: &[u8]) {
        // A digest fits.
        let mut encoded = [0; 2 * SHORT];
        match URL_SAFE_NO_PAD.encode_slice(bytes, &mut encoded) {
            Ok(len) => self.push_str(str::from_utf8(&encoded[..len]).unwrap_or_default()),
            Err(_) => URL_SAFE_NO_PAD.encode_string(bytes, self.lengthen()),
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Short(text) => text.truncate(len),
            Self::Long(text) => text.truncate(len),
        }
    }

    pub(super) fn insert_str(&mut self, at: usize, text: &str) {
        // As it is for one form in a thousand, it need not be fast.
        self.lengthen().insert_str(at, text);
    }

    /// A string that is a whole key: as it is, unless that could be taken for something else.
    pub(super) fn push_alone(&mut self, string: &str) {
        if may_stand_bare(string) {
            self.push_str(string)
        } else {
            self.push_quoted(string)
        }
    }

    /// A JSON string with as few escapes as JSON allows, always the same ones.
    pub(super) fn push_quoted(&mut self, string: &str) {
        self.push_str("\"");
        let mut rest = string;
        // Everything that is escaped is ASCII, so the pieces in between are whole characters.
        while let Some(at) = rest
            .bytes()
            .position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
        {
            self.push_str(&rest[..at]);
            self.push_escaped(rest.as_bytes()[at]);
            rest = &rest[at + 1..];
        }
        self.push_str(rest);
        self.push_str("\"");
    }

    fn push_escaped(&mut self, byte: u8) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        match byte {
            b'"' => self.push_str("\\\""),
            b'\\' => self.push_str("\\\\"),
            b'\n' => self.push_str("\\n"),
            b'\r' => self.push_str("\\r"),
            b'\t' => self.push_str("\\t"),
            0x08 => self.push_str("\\b"),
            0x0c => self.push_str("\\f"),
            _ => {
                self.push_str("\\u00");
                for digit in [byte >> 4, byte & 15] {
                    self.push_str(char::from(HEX[usize::from(digit)]).encode_utf8(&mut [0; 4]));
                }
            }
        }
    }
}

/// Whether a string can be a whole key as it is: nothing else is ever written like this.
fn may_stand_bare(string: &str) -> bool {
    match string.as_bytes() {
        [] | [b'[' | b'{' | b'"' | b'#', ..] => false,
        [b'-' | b'0'..=b'9', ..] if is_number(string.as_bytes()) => false,
        _ => {
            !matches!(string, "true" | "false" | "null" | DEFAULT_KEY)
                && !string.chars().any(char::is_control)
        }
    }
}

/// Whether the bytes are a number of JSON: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`.
fn is_number(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let (whole, rest) = split_digits(text);
    if whole.is_empty() || (whole.len() > 1 && whole[0] == b'0') {
        return false;
    }
    let rest = match rest.strip_prefix(b".") {
        None => rest,
        Some(fraction) => match split_digits(fraction) {
            ([], _) => return false,
            (_, rest) => rest,
        },
    };
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', exponent @ ..] | [b'e' | b'E', exponent @ ..] => {
            !exponent.is_empty() && exponent.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

#[cfg(test)]
mod tests {
    use super::is_number;

    #[test]
    fn numbers_are_those_of_json() {
        for text in [
            "0",
            "-0",
            "1",
            "10",
            "-12.50",
            "1e5",
            "1E+5",
            "0.1e-7",
            "340282366920938463463374607431768211455",
        ] {
            assert!(is_number(text.as_bytes()), "{text}");
        }
        for text in [
            "", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1.e5", "1 ", " 1", "0x1",
            "1_000", "NaN", "1-2",
        ] {
            assert!(!is_number(text.as_bytes()), "{text}");
        }
    }
}
