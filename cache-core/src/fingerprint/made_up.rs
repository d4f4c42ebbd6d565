//! The values that are made up for scalars, in the order in which they are tried.

use super::shape::Names;

/// Strings that types like to be made of.
const TEXTS: &[&str] = &[
    "",
    "0",
    "a",
    "1970-01-01T00:00:00Z",
    "1970-01-01",
    "00:00:00",
    "1970-01-01T00:00:00",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.0/8",
    "::1",
    "00000000-0000-0000-0000-000000000000",
    "http://a.example/",
    "a@a.example",
    "a/b",
    "0.0.0",
    "true",
    "UTC",
    "en",
    "1s",
    "PT1S",
    "#000000",
    "00",
    "EUR",
];

/// Lengths of byte strings that types like to be made of, and integers.
pub(super) const LENGTHS: &[u8] = &[0, 16, 4, 8, 12, 20, 32, 64];
const INTEGERS: &[u8] = &[1, 0, 2, 12, 100];

/// How many values can be made up for a scalar of that kind.
pub(super) fn candidates(kind: &str) -> usize {
    match kind {
        "text" | "name" => TEXTS.len(),
        "bytes" => LENGTHS.len(),
        "bool" => 2,
        "i8" | "i16" | "i32" | "i64" | "i128" | "u8" | "u16" | "u32" | "u64" | "u128" => {
            INTEGERS.len()
        }
        _ => 1,
    }
}

/// The integer to try.
pub(super) fn integer(attempt: usize) -> u8 {
    INTEGERS[attempt % INTEGERS.len()]
}

/// The byte string to try.
pub(super) fn bytes(attempt: usize) -> &'static [u8] {
    &[0; 64][..LENGTHS[attempt % LENGTHS.len()].into()]
}

/// The text to try: of the names that are accepted, where those are known.
pub(super) fn text(attempt: usize, names: Names) -> &'static str {
    if names.is_empty() {
        TEXTS[attempt % TEXTS.len()]
    } else {
        names[attempt % names.len()]
    }
}
