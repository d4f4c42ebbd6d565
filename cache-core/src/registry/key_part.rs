//! What a part of a key is, as far as it shows in the key text.

// For generated code, which is documented where it is generated.
#![allow(missing_docs)]

use std::{any::type_name, fmt};

use crate::value::HIDDEN;

/// The type of one part of a key. Two parts are the same if they write the same texts: references do not matter, nor does
/// the width of an integer, nor who owns a string.
#[derive(Clone, Copy, Debug)]
pub struct KeyPart(Part);

#[derive(Clone, Copy, Debug)]
enum Part {
    /// Of the type with that name. The name is asked for when it is needed: so all that is compiled for a part is a pointer.
    Of(fn() -> &'static str),
    Hashed,
    Unknown,
}

impl KeyPart {
    pub fn of<T: ?Sized + 'static>() -> Self {
        Self(Part::Of(type_name::<T>))
    }

    pub fn hashed() -> Self {
        Self(Part::Hashed)
    }

    pub fn unknown() -> Self {
        Self(Part::Unknown)
    }

    fn fits(self, other: Self) -> bool {
        match (self.name(), other.name()) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        }
    }

    /// The parts that it is when it is a key alone: those of a tuple. `None`: it may be any number, as a list is, or what
    /// serialises as one.
    fn elements(self) -> Option<Vec<String>> {
        let name = self.name()?;
        if let Some(mut rest) = name.strip_prefix('(') {
            let elements = plain_list(&mut rest, ')');
            return rest.is_empty().then_some(elements);
        }
        let mut scalar = name.as_str();
        while let Some(within) = scalar
            .strip_prefix("core::option::Option<")
            .and_then(|rest| rest.strip_suffix('>'))
        {
            scalar = within;
        }
        matches!(scalar, "integer" | "float" | "bool" | "str" | "a digest").then(|| vec![name])
    }

    /// What it is called. `None`: it could not be named.
    fn name(self) -> Option<String> {
        match self.0 {
            Part::Of(name) if name().contains(HIDDEN) => None,
            Part::Of(name) => Some(plain_name(name())),
            Part::Hashed => Some("a digest".to_owned()),
            Part::Unknown => None,
        }
    }
}

/// Whether keys of these parts may write the same text.
pub(super) fn fit(one: &[KeyPart], other: &[KeyPart]) -> bool {
    match (one, other) {
        ([one], [other]) => one.fits(*other),
        ([lone], several) | (several, [lone]) => lone.elements().is_none_or(|elements| {
            elements.len() == several.len()
                && elements
                    .iter()
                    .zip(several)
                    .all(|(element, part)| part.name().is_none_or(|name| name == *element))
        }),
        _ => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.fits(*other)),
    }
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().as_deref().unwrap_or("_"))
    }
}

/// A type's name without what does not show in a key text.
///
/// Input: `core::option::Option<&alloc::string::String>`. Output: `core::option::Option<str>`.
fn plain_name(name: &str) -> String {
    let mut rest = name;
    let plain = plain_type(&mut rest);
    // What is not understood to its end (`dyn Trait`, a function) stays as it is.
    if rest.is_empty() {
        plain
    } else {
        name.to_owned()
    }
}

/// Takes one type off the beginning of `rest`.
fn plain_type(rest: &mut &str) -> String {
    loop {
        *rest = rest.trim_start();
        match ["&", "mut "]
            .into_iter()
            .find_map(|prefix| rest.strip_prefix(prefix))
        {
            Some(behind) => *rest = behind,
            None => break,
        }
    }
    if let Some(behind) = rest.strip_prefix('[') {
        *rest = behind;
        let item = plain_type(rest);
        // The length of an array: it shows in the text, but a slice has some length too.
        *rest = rest.split_once(']').map_or("", |(_, behind)| behind);
        return format!("[{item}]");
    }
    if let Some(behind) = rest.strip_prefix('(') {
        *rest = behind;
        return format!("({})", plain_list(rest, ')').join(", "));
    }
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':' | '\'')))
        .unwrap_or(rest.len());
    let (path, behind) = rest.split_at(end);
    *rest = behind;
    let arguments = match rest.strip_prefix('<') {
        Some(behind) => {
            *rest = behind;
            plain_list(rest, '>')
        }
        None => Vec::new(),
    };
    match (path, arguments.as_slice()) {
        ("alloc::string::String" | "std::path::PathBuf" | "std::path::Path" | "char", []) => {
            "str".to_owned()
        }
        (
            "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128"
            | "usize",
            [],
        ) => "integer".to_owned(),
        ("f32" | "f64", []) => "float".to_owned(),
        ("core::num::nonzero::NonZero", [number]) => number.clone(),
        (
            "alloc::boxed::Box" | "alloc::sync::Arc" | "alloc::rc::Rc" | "alloc::borrow::Cow",
            [owned, ..],
        ) => owned.clone(),
        ("alloc::vec::Vec" | "alloc::collections::vec_deque::VecDeque", [item, ..]) => {
            format!("[{item}]")
        }
        (_, []) => path.to_owned(),
        _ => format!("{path}<{}>", arguments.join(", ")),
    }
}

/// Takes types off the beginning of `rest` up to `end`, lifetimes aside.
fn plain_list(rest: &mut &str, end: char) -> Vec<String> {
    let mut list = Vec::new();
    loop {
        *rest = rest.trim_start_matches([',', ' ']);
        if let Some(behind) = rest.strip_prefix(end) {
            *rest = behind;
            return list;
        }
        let before = rest.len();
        let item = plain_type(rest);
        if rest.len() == before {
            return list; // not understood
        }
        if !item.starts_with('\'') {
            list.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        borrow::Cow,
        collections::{BTreeSet, HashMap},
        num::NonZeroU64,
        path::{Path, PathBuf},
        sync::Arc,
    };

    use super::{KeyPart, fit};

    #[test]
    fn what_writes_the_same_text_is_the_same() {
        let same = [
            [KeyPart::of::<String>(), KeyPart::of::<str>()],
            [
                KeyPart::of::<Cow<'static, str>>(),
                KeyPart::of::<&Arc<str>>(),
            ],
            [KeyPart::of::<char>(), KeyPart::of::<String>()],
            [KeyPart::of::<NonZeroU64>(), KeyPart::of::<i8>()],
            [KeyPart::of::<PathBuf>(), KeyPart::of::<&Path>()],
            [KeyPart::of::<Vec<u64>>(), KeyPart::of::<[i32]>()],
            [KeyPart::of::<Arc<[u8]>>(), KeyPart::of::<[u16; 3]>()],
            [
                KeyPart::of::<Option<&'static str>>(),
                KeyPart::of::<Option<String>>(),
            ],
            [
                KeyPart::of::<(f32, &'static [String])>(),
                KeyPart::of::<(f64, Vec<&'static str>)>(),
            ],
            [
                KeyPart::of::<HashMap<String, Vec<u8>>>(),
                KeyPart::of::<HashMap<&'static str, &'static [i8]>>(),
            ],
        ];
        for [one, other] in same {
            assert!(fit(&[one], &[other]), "{one} and {other}");
            assert!(fit(&[one, one], &[other, other]), "{one} and {other}");
        }
    }

    #[test]
    fn what_writes_another_text_is_another() {
        let other = [
            [KeyPart::of::<String>(), KeyPart::of::<u64>()],
            [KeyPart::of::<u64>(), KeyPart::of::<f64>()],
            [KeyPart::of::<Vec<u64>>(), KeyPart::of::<u64>()],
            [
                KeyPart::of::<Option<u64>>(),
                KeyPart::of::<Option<String>>(),
            ],
            [
                KeyPart::of::<(u64, String)>(),
                KeyPart::of::<(String, u64)>(),
            ],
            [KeyPart::of::<Id>(), KeyPart::of::<u64>()],
            [KeyPart::of::<u64>(), KeyPart::hashed()],
        ];
        for [one, other] in other {
            assert!(!fit(&[one], &[other]), "{one} and {other}");
            assert!(!fit(&[one, one], &[other, one]), "{one} and {other}");
        }
    }

    #[test]
    fn what_could_not_be_named_may_be_anything() {
        let id = KeyPart::of::<u64>();
        assert!(fit(&[KeyPart::unknown()], &[id]) && fit(&[id], &[KeyPart::unknown()]));
        assert!(fit(&[id, KeyPart::unknown()], &[id, id]));
        assert!(!fit(&[id, KeyPart::unknown()], &[id]));
    }

    #[test]
    fn a_tuple_alone_is_its_elements() {
        let parts = [KeyPart::of::<u64>(), KeyPart::of::<&'static str>()];
        let swapped = [parts[1], parts[0]];
        let tuple = [KeyPart::of::<(i32, String)>()];
        assert!(fit(&parts, &tuple) && fit(&tuple, &parts) && fit(&tuple, &tuple));
        assert!(!fit(&swapped, &tuple) && !fit(&parts[..1], &tuple) && !fit(&tuple, &[]));
        assert!(fit(&[parts[0], KeyPart::unknown()], &tuple));
    }

    #[test]
    fn what_may_serialise_as_a_list_may_be_any_number_of_parts() {
        let parts = [KeyPart::of::<u64>(), KeyPart::of::<&'static str>()];
        for list in [
            KeyPart::of::<Vec<u64>>(),
            KeyPart::of::<BTreeSet<u64>>(),
            KeyPart::of::<Id>(),
            KeyPart::unknown(),
        ] {
            assert!(fit(&parts, &[list]) && fit(&[list], &parts), "{list}");
        }
        for scalar in [KeyPart::of::<Option<Option<u8>>>(), KeyPart::hashed()] {
            assert!(!fit(&parts, &[scalar]) && !fit(&[scalar], &[]), "{scalar}");
        }
    }

    struct Id;
}
