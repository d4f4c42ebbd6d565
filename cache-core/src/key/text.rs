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
    /// A whole key that is a number, as long as nobody needs it as a text: see [`settle`](Self::settle). It is what most keys are, and
    /// to write its digits and to compare them costs more than the look-up.
    Number(u64),
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
        match self {
            Self::Number(_) => f.write_str("a number"),
            Self::Short(_) | Self::Long(_) => write!(f, "{} bytes", self.len()),
        }
    }
}

impl Buffer {
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Short(text) => text,
            Self::Number(_) => unreachable!("is read once it is settled"),
            Self::Long(text) => text,
        }
    }

    /// The number, if it is one that is not settled.
    #[inline]
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Short(_) | Self::Long(_) => None,
        }
    }

    /// Makes a text of a number.
    pub(super) fn settle(&mut self) {
        if let Self::Number(number) = *self {
            *self = Self::default();
            self.push_str(itoa::Buffer::new().format(number));
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.as_str().len()
    }

    /// Whether it is. A short text is not looked at.
    #[inline]
    pub(super) fn is_longer_than(&self, len: usize) -> bool {
        matches!(self, Self::Long(text) if text.len() > len)
    }

    #[inline]
    pub(super) fn push_str(&mut self, text: &str) {
        if let Self::Short(short) = self
            && short.try_push_str(text).is_ok()
        {
            return;
        }
        self.lengthen(text.len()).push_str(text);
    }

    /// Makes room for so many bytes more.
    #[cold]
    fn lengthen(&mut self, more: usize) -> &mut String {
        self.settle();
        if let Self::Short(short) = self {
            // What is added is the long part most often, and what follows it short.
            let mut long = String::with_capacity(more + 4 * SHORT);
            long.push_str(short);
            *self = Self::Long(long);
        }
        match self {
            Self::Long(long) => long,
            Self::Short(_) | Self::Number(_) => unreachable!("was lengthened above"),
        }
    }

    /// Appends the base64url form of `bytes`, without padding.
    pub(super) fn push_base64(&mut self, bytes: &[u8]) {
        // A digest fits.
        let mut encoded = [0; 2 * SHORT];
        match URL_SAFE_NO_PAD.encode_slice(bytes, &mut encoded) {
            Ok(len) => self.push_str(str::from_utf8(&encoded[..len]).unwrap_or_default()),
            Err(_) => URL_SAFE_NO_PAD.encode_string(bytes, self.lengthen(bytes.len() * 4 / 3)),
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Short(text) => text.truncate(len),
            Self::Number(_) => unreachable!("nothing comes after a whole key"),
            Self::Long(text) => text.truncate(len),
        }
    }

    pub(super) fn insert_str(&mut self, at: usize, text: &str) {
        // As it is for one form in a thousand, it need not be fast.
        self.lengthen(text.len()).insert_str(at, text);
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
        while let Some(at) = first_escaped(rest.as_bytes()) {
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

/// Where the first byte is that a JSON string cannot hold as it is.
fn first_escaped(text: &[u8]) -> Option<usize> {
    first(text, |byte| {
        (byte < 0x20) | (byte == b'"') | (byte == b'\\')
    })
}

/// Whether a string holds a control character, those beyond ASCII included.
fn has_control(string: &str) -> bool {
    // The first byte that is not ASCII begins a character.
    let rest = first(string.as_bytes(), |byte| !(0x20..0x7f).contains(&byte));
    rest.is_some_and(|at| string[at..].chars().any(char::is_control))
}

/// Where the first byte is that is `wanted`, which most strings have none of, and a token is long.
fn first(text: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    // So whole pieces are looked at without a branch, which is a few instructions for each; to stop at the very byte would be a few for
    // every byte.
    let (pieces, _) = text.as_chunks::<32>();
    let has_none = |piece: &&[u8; 32]| !piece.iter().fold(false, |any, &byte| any | wanted(byte));
    let skipped = 32 * pieces.iter().take_while(has_none).count();
    let at = text[skipped..].iter().position(|&byte| wanted(byte))?;
    Some(skipped + at)
}

/// Whether a string can be a whole key as it is: nothing else is ever written like this.
fn may_stand_bare(string: &str) -> bool {
    match string.as_bytes() {
        [] | [b'[' | b'{' | b'"' | b'#', ..] => false,
        [b'-' | b'0'..=b'9', ..] if is_number(string.as_bytes()) => false,
        _ => !matches!(string, "true" | "false" | "null" | DEFAULT_KEY) && !has_control(string),
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
    use super::{Buffer, has_control, is_number};

    #[test]
    fn a_control_character_is_found_wherever_it_stands() {
        for len in 0..50 {
            for at in 0..=len {
                for char in [
                    '\0', '\u{1f}', ' ', '~', '\u{7f}', '\u{80}', '\u{9f}', '\u{a0}', 'ü', '😀',
                ] {
                    let string = format!("{}{char}{}", "x".repeat(at), "ü".repeat(len - at));
                    assert_eq!(has_control(&string), char.is_control());
                }
            }
        }
        assert!(!has_control(""));
    }

    #[test]
    fn what_a_json_string_cannot_hold_is_escaped_wherever_it_stands() {
        for len in 0..50 {
            for at in 0..len {
                for escaped in ['"', '\\', '\n', '\u{1}', '\u{1f}', ' ', '\u{7f}', 'ü'] {
                    let string: String = (0..len)
                        .map(|i| {
                            if i == at || i == at + 20 {
                                escaped
                            } else {
                                'x'
                            }
                        })
                        .collect();
                    let mut buffer = Buffer::default();
                    buffer.push_quoted(&string);
                    assert_eq!(
                        buffer.as_str(),
                        serde_json::to_string(&string).unwrap_or_default()
                    );
                }
            }
        }
    }

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
