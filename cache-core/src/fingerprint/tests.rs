use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    marker::PhantomData,
    net::{IpAddr, SocketAddr},
    num::{NonZeroI8, NonZeroU64},
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Deserializer, Serialize};

use super::*;

fn fingerprint<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> u64 {
    Subject::of::<V>().find_out().fingerprint
}

/// Declares modules that hold one type each, all called `T`, so that nothing but their structure tells them apart.
macro_rules! types {
    ($($module:ident: { $($item:item)* })*) => {$(
        mod $module {
            #![allow(dead_code, unused_imports)]
            use super::*;
            $(#[derive(Serialize, Deserialize)] $item)*
        }
    )*};
}

types! {
    product: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    same: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    added: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part>, new: bool } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    removed: { pub(super) struct T { id: u64, name: String, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    renamed: { pub(super) struct T { id: u64, title: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    moved: { pub(super) struct T { name: String, id: u64, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    retyped: { pub(super) struct T { id: i64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    in_option: { pub(super) struct T { id: u64, name: String, price: Option<u64>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    optional: { pub(super) struct T { id: Option<u64>, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    nested_added: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind, new: u8 } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    nested_retyped: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: i8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    nested_renamed: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { length: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    variant_added: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char }, New } }
    variant_in_front: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { New, Plain, Sized(u8), Named { label: char } } }
    variant_renamed: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Bare, Sized(u8), Named { label: char } } }
    variant_moved: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Sized(u8), Plain, Named { label: char } } }
    variant_retyped: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u16), Named { label: char } } }
    variant_widened: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8, u8), Named { label: char } } }
    variant_field_renamed: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { title: char } } }
    variant_field_retyped: { pub(super) struct T { id: u64, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: String } } }
    wrapped: { pub(super) struct T { id: Id, name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Id(u64); pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
    serde_renamed: { pub(super) struct T { id: u64, #[serde(rename = "title")] name: String, price: Option<u32>, parts: Vec<Part> } pub(super) struct Part { size: u8, kind: Kind } pub(super) enum Kind { Plain, Sized(u8), Named { label: char } } }
}

/// Asserts that no two of them are the same.
fn all_differ(fingerprints: &[(&str, u64)]) {
    for (index, (name, one)) in fingerprints.iter().enumerate() {
        for (other_name, other) in &fingerprints[..index] {
            assert_ne!(one, other, "{name} and {other_name}");
        }
    }
}

#[test]
fn every_change_of_a_type_changes_it() {
    macro_rules! of {
        ($($module:ident)*) => { [$((stringify!($module), fingerprint::<$module::T>())),*] };
    }
    all_differ(&of! {
        product added removed renamed moved retyped in_option optional nested_added nested_retyped nested_renamed
        variant_added variant_in_front variant_renamed variant_moved variant_retyped variant_widened
        variant_field_renamed variant_field_retyped wrapped
    });
    // To serde it is `renamed`, but for the name of the field in Rust.
    assert_eq!(
        fingerprint::<serde_renamed::T>(),
        fingerprint::<renamed::T>()
    );
}

#[test]
fn only_the_structure_counts() {
    assert_eq!(fingerprint::<product::T>(), fingerprint::<same::T>());
    let (product, same) = (Subject::of::<product::T>(), Subject::of::<same::T>());
    assert_eq!(of(&product), of(&same));
    assert_eq!(of(&product), product.find_out());
}

#[test]
fn it_is_pinned() {
    // The same in every process, on every platform and in every build.
    assert_eq!(fingerprint::<u64>(), 0xecac_dbb4_0a35_5a4e);
    assert_eq!(fingerprint::<product::T>(), 0xad34_90b9_24a8_9bd4);
    assert_eq!(fingerprint::<recursive::T>(), 0x6b72_ed29_32ee_06bd);
}

#[test]
fn pointers_are_transparent() {
    let plain = fingerprint::<product::T>();
    assert_eq!(fingerprint::<Arc<product::T>>(), plain);
    assert_eq!(fingerprint::<Box<product::T>>(), plain);
    assert_eq!(fingerprint::<Cow<'static, str>>(), fingerprint::<String>());
    assert_eq!(fingerprint::<Vec<Arc<u8>>>(), fingerprint::<Vec<u8>>());
}

#[test]
fn ordinary_types_are_told_apart() {
    all_differ(&[
        ("bool", fingerprint::<bool>()),
        ("u8", fingerprint::<u8>()),
        ("u16", fingerprint::<u16>()),
        ("i8", fingerprint::<i8>()),
        ("u64", fingerprint::<u64>()),
        ("i64", fingerprint::<i64>()),
        ("u128", fingerprint::<u128>()),
        ("f32", fingerprint::<f32>()),
        ("f64", fingerprint::<f64>()),
        ("char", fingerprint::<char>()),
        ("String", fingerprint::<String>()),
        ("()", fingerprint::<()>()),
        ("Option<u8>", fingerprint::<Option<u8>>()),
        ("Option<Option<u8>>", fingerprint::<Option<Option<u8>>>()),
        ("Vec<u8>", fingerprint::<Vec<u8>>()),
        ("Vec<Vec<u8>>", fingerprint::<Vec<Vec<u8>>>()),
        ("Vec<Option<u8>>", fingerprint::<Vec<Option<u8>>>()),
        ("Option<Vec<u8>>", fingerprint::<Option<Vec<u8>>>()),
        ("(u8,)", fingerprint::<(u8,)>()),
        ("(u8, u16)", fingerprint::<(u8, u16)>()),
        ("(u16, u8)", fingerprint::<(u16, u8)>()),
        ("[u8; 3]", fingerprint::<[u8; 3]>()),
        ("[u8; 4]", fingerprint::<[u8; 4]>()),
        ("map of u8 to u16", fingerprint::<HashMap<u8, u16>>()),
        ("map of u16 to u8", fingerprint::<HashMap<u16, u8>>()),
        ("Result<u8, u16>", fingerprint::<Result<u8, u16>>()),
        ("Result<u16, u8>", fingerprint::<Result<u16, u8>>()),
        ("Duration", fingerprint::<Duration>()),
        ("SystemTime", fingerprint::<SystemTime>()),
        ("IpAddr", fingerprint::<IpAddr>()),
        ("SocketAddr", fingerprint::<SocketAddr>()),
        ("serde_json::Value", fingerprint::<serde_json::Value>()),
        (
            "json map",
            fingerprint::<serde_json::Map<String, serde_json::Value>>(),
        ),
    ]);
    fingerprint::<(NonZeroU64, NonZeroI8, PathBuf, PhantomData<u8>)>();
    fingerprint::<(
        BTreeMap<String, BTreeSet<u8>>,
        HashSet<char>,
        std::ops::Range<u8>,
        std::sync::atomic::AtomicU8,
    )>();
    fingerprint::<(
        std::sync::Mutex<u8>,
        std::ops::Bound<u8>,
        std::ffi::CString,
        std::cmp::Reverse<u8>,
    )>();
}

#[test]
fn everything_within_is_seen_behind_whatever_comes_first() {
    // Each of these is known to be seen whole because its name does not matter.
    types! {
        one: { pub(super) struct T { a: NonZeroU64, b: SystemTime, c: IpAddr, d: Result<u8, Duration>, e: [NonZeroI8; 2], f: Last } pub(super) struct Last(u8); }
        two: { pub(super) struct T { a: NonZeroU64, b: SystemTime, c: IpAddr, d: Result<u8, Duration>, e: [NonZeroI8; 2], f: Last } pub(super) struct Last(u8); }
        three: { pub(super) struct T { a: NonZeroU64, b: SystemTime, c: IpAddr, d: Result<u8, Duration>, e: [NonZeroI8; 2], f: Last } pub(super) struct Last(u16); }
    }
    assert_eq!(fingerprint::<one::T>(), fingerprint::<two::T>());
    assert_ne!(fingerprint::<one::T>(), fingerprint::<three::T>());
}

#[test]
fn generic_types_are_told_apart_by_what_they_hold() {
    #[derive(Serialize, Deserialize)]
    struct Page<I> {
        items: Vec<I>,
        next: Option<Box<Page<I>>>,
    }
    all_differ(&[
        ("u8", fingerprint::<Page<u8>>()),
        ("u16", fingerprint::<Page<u16>>()),
        ("u8 twice", fingerprint::<Page<Page<u8>>>()),
        ("u16 twice", fingerprint::<Page<Page<u16>>>()),
        ("(u8, u16)", fingerprint::<(Page<u8>, Page<u16>)>()),
        ("(u16, u8)", fingerprint::<(Page<u16>, Page<u8>)>()),
    ]);
}

types! {
    recursive: { pub(super) enum T { Add(Box<T>, Box<T>), Neg { of: Box<T> }, Call(String, Vec<T>), If(Option<Box<T>>, Box<Two>), Number(i64) } pub(super) enum Two { Back(Box<T>), Chain(Box<Three>) } pub(super) struct Three { one: Box<T>, two: Vec<Two>, three: Option<Box<Three>>, flag: bool } }
    recursive_same: { pub(super) enum T { Add(Box<T>, Box<T>), Neg { of: Box<T> }, Call(String, Vec<T>), If(Option<Box<T>>, Box<Two>), Number(i64) } pub(super) enum Two { Back(Box<T>), Chain(Box<Three>) } pub(super) struct Three { one: Box<T>, two: Vec<Two>, three: Option<Box<Three>>, flag: bool } }
    recursive_end: { pub(super) enum T { Add(Box<T>, Box<T>), Neg { of: Box<T> }, Call(String, Vec<T>), If(Option<Box<T>>, Box<Two>), Number(u64) } pub(super) enum Two { Back(Box<T>), Chain(Box<Three>) } pub(super) struct Three { one: Box<T>, two: Vec<Two>, three: Option<Box<Three>>, flag: bool } }
    recursive_far: { pub(super) enum T { Add(Box<T>, Box<T>), Neg { of: Box<T> }, Call(String, Vec<T>), If(Option<Box<T>>, Box<Two>), Number(i64) } pub(super) enum Two { Back(Box<T>), Chain(Box<Three>) } pub(super) struct Three { one: Box<T>, two: Vec<Two>, three: Option<Box<Three>>, flag: u8 } }
    recursive_turned: { pub(super) enum T { Add(Box<T>, Box<T>), Neg { of: Box<T> }, Call(String, Vec<T>), If(Option<Box<T>>, Box<Two>), Number(i64) } pub(super) enum Two { Back(Box<T>), Chain(Box<Three>) } pub(super) struct Three { one: Box<Two>, two: Vec<Two>, three: Option<Box<Three>>, flag: bool } }
}

#[test]
fn recursive_types_end() {
    assert_eq!(
        fingerprint::<recursive::T>(),
        fingerprint::<recursive_same::T>()
    );
    all_differ(&[
        ("as it was", fingerprint::<recursive::T>()),
        ("its end retyped", fingerprint::<recursive_end::T>()),
        ("a far field retyped", fingerprint::<recursive_far::T>()),
        ("a reference turned", fingerprint::<recursive_turned::T>()),
    ]);

    #[derive(Serialize, Deserialize)]
    struct Chain(Option<Box<Chain>>);
    #[derive(Serialize, Deserialize)]
    struct Node {
        children: BTreeMap<String, Node>,
        parent: Option<Box<Node>>,
    }
    #[derive(Serialize, Deserialize)]
    enum Endless {
        Again(Box<Endless>),
    }
    fingerprint::<Chain>();
    fingerprint::<Node>();
    fingerprint::<Endless>();
    fingerprint::<Vec<Endless>>();
}

#[test]
fn hundreds_of_variants_are_all_seen() {
    macro_rules! many {
        ($module:ident $last:ty) => {
            types! { $module: {
                pub(super) struct T { one: Many, two: Option<Many> }
                pub(super) enum Many { A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, C0, C1, C2, C3, C4, C5, C6, C7, C8, C9,
                    D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, E0, E1, E2, E3, E4, E5, E6, E7, E8, E9, F0, F1, F2, F3, F4, F5, F6, F7, F8, F9,
                    G0, G1, G2, G3, G4, G5, G6, G7, G8, G9, H0, H1, H2, H3, H4, H5, H6, H7, H8, H9, I0, I1, I2, I3, I4, I5, I6, I7, I8, I9,
                    J0, J1, J2, J3, J4, J5, J6, J7, J8, J9, K0, K1, K2, K3, K4, K5, K6, K7, K8, K9, L0, L1, L2, L3, L4, L5, L6, L7, L8, Last($last) }
            } }
        };
    }
    many!(one u8);
    many!(two u8);
    many!(three u16);
    assert_eq!(fingerprint::<one::T>(), fingerprint::<two::T>());
    assert_ne!(fingerprint::<one::T>(), fingerprint::<three::T>());
}

#[test]
fn what_describes_itself_is_seen_as_far_as_possible() {
    types! {
        flat: { pub(super) struct T { id: u8, #[serde(flatten)] rest: Rest } pub(super) struct Rest { a: u8, b: Option<u8> } }
        flat_renamed: { pub(super) struct T { id: u8, #[serde(flatten)] rest: Rest } pub(super) struct Rest { c: u8, b: Option<u8> } }
        flat_retyped: { pub(super) struct T { id: u8, #[serde(flatten)] rest: Rest } pub(super) struct Rest { a: u16, b: Option<u8> } }
        flat_option: { pub(super) struct T { id: u8, #[serde(flatten)] rest: Rest } pub(super) struct Rest { a: u8, c: Option<u8> } }
        tagged: { #[serde(tag = "type")] pub(super) enum T { A { x: u8 }, B { y: String, z: Option<u8> }, C } }
        tagged_added: { #[serde(tag = "type")] pub(super) enum T { A { x: u8 }, B { y: String, z: Option<u8> }, C, D } }
        tagged_renamed: { #[serde(tag = "type")] pub(super) enum T { A { x: u8 }, B { w: String, z: Option<u8> }, C } }
        tagged_retyped: { #[serde(tag = "type")] pub(super) enum T { A { x: u8 }, B { y: u8, z: Option<u8> }, C } }
        tagged_option: { #[serde(tag = "type")] pub(super) enum T { A { x: u8 }, B { y: String, v: Option<u8> }, C } }
        adjacent: { #[serde(tag = "t", content = "c")] pub(super) enum T { A { x: u8 }, B(String) } }
        adjacent_retyped: { #[serde(tag = "t", content = "c")] pub(super) enum T { A { x: u8 }, B(u8) } }
        untagged: { #[serde(untagged)] pub(super) enum T { A(u8), B(String) } }
        untagged_added: { #[serde(untagged)] pub(super) enum T { A(u8), B(String), C(f64) } }
    }
    macro_rules! names_aside {
        ($($module:ident)*) => { [$((stringify!($module), structure_only::<$module::T>())),*] };
    }
    /// Without the name of the type, which would tell them apart here in any case.
    fn structure_only<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> u64 {
        Subject::of::<V>().explore().hash("")
    }
    all_differ(&names_aside! {
        flat flat_renamed flat_retyped flat_option tagged tagged_added tagged_renamed tagged_retyped tagged_option adjacent
        adjacent_retyped untagged untagged_added
    });
}

#[test]
fn types_that_cannot_be_read_by_place_are_known() {
    #[derive(Serialize, Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        A { x: u8 },
    }
    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        A(u8),
    }
    #[derive(Serialize, Deserialize)]
    struct Flat {
        #[serde(flatten)]
        rest: HashMap<String, u8>,
    }
    #[derive(Serialize, Deserialize)]
    #[allow(dead_code)]
    struct Secretive {
        id: u8,
        #[serde(skip_serializing, default)]
        password: String,
    }
    #[derive(Serialize, Deserialize)]
    #[allow(dead_code)]
    struct Sparse {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u8>,
        #[serde(skip)]
        seen: u8,
        name: String,
    }
    assert!(!Subject::of::<Tagged>().find_out().positional);
    assert!(!Subject::of::<Vec<Option<Untagged>>>().find_out().positional);
    assert!(!Subject::of::<Flat>().find_out().positional);
    assert!(!Subject::of::<Secretive>().find_out().positional);
    assert!(
        !Subject::of::<Option<Vec<Secretive>>>()
            .find_out()
            .positional
    );
    assert!(!Subject::of::<serde_json::Value>().find_out().positional);
    // Its values are refused one by one.
    assert!(Subject::of::<Sparse>().find_out().positional);
    assert!(Subject::of::<product::T>().find_out().positional);
    assert!(Subject::of::<recursive::T>().find_out().positional);
    assert!(
        Subject::of::<(IpAddr, SystemTime, Arc<str>, PathBuf)>()
            .find_out()
            .positional
    );
}

#[test]
fn a_change_behind_a_scalar_that_accepts_few_values_is_seen() {
    types! {
        one: { pub(super) struct T { at: Instant, id: Uuid, more: u8 } }
        two: { pub(super) struct T { at: Instant, id: Uuid, more: u8 } }
        three: { pub(super) struct T { at: Instant, id: Uuid, more: u16 } }
    }
    assert_eq!(fingerprint::<one::T>(), fingerprint::<two::T>());
    assert_ne!(fingerprint::<one::T>(), fingerprint::<three::T>());
}

/// Reads only what looks like an instant.
#[derive(Serialize)]
struct Instant(String);

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let looks_right = text.len() == 20 && text.ends_with('Z');
        looks_right
            .then_some(Self(text))
            .ok_or_else(|| serde::de::Error::custom("not an instant"))
    }
}

/// Reads only 16 bytes.
struct Uuid([u8; 16]);

impl Serialize for Uuid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Uuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl serde::de::Visitor<'_> for Bytes {
            type Value = Uuid;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("16 bytes")
            }

            fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Uuid, E> {
                bytes
                    .try_into()
                    .map(Uuid)
                    .map_err(|_| E::custom("not 16 bytes"))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

#[test]
fn hand_written_impls_do_no_harm() {
    struct Choosy;
    impl Serialize for Choosy {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_str("an unlikely text")
        }
    }
    impl<'de> Deserialize<'de> for Choosy {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            match String::deserialize(deserializer)?.as_str() {
                "an unlikely text" => Ok(Self),
                other => Err(serde::de::Error::custom(other)),
            }
        }
    }
    #[derive(Serialize, Deserialize)]
    struct Holder {
        choosy: Choosy,
        more: u8,
    }
    #[derive(Serialize, Deserialize)]
    #[serde(try_from = "u8", into = "u8")]
    #[derive(Clone)]
    struct Even(u8);
    impl TryFrom<u8> for Even {
        type Error = String;
        fn try_from(number: u8) -> Result<Self, String> {
            if number > 0 && number.is_multiple_of(2) {
                Ok(Self(number))
            } else {
                Err("odd".into())
            }
        }
    }
    impl From<Even> for u8 {
        fn from(even: Even) -> Self {
            even.0
        }
    }
    struct Panicking;
    impl Serialize for Panicking {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_unit()
        }
    }
    impl<'de> Deserialize<'de> for Panicking {
        fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            std::panic::resume_unwind(Box::new(()))
        }
    }
    all_differ(&[
        ("choosy", fingerprint::<Choosy>()),
        ("holder", fingerprint::<Holder>()),
        ("even", fingerprint::<Even>()),
        ("evens", fingerprint::<(Even, Even)>()),
        ("panicking", fingerprint::<Panicking>()),
    ]);
    assert_eq!(fingerprint::<Holder>(), fingerprint::<Holder>());
    assert_eq!(fingerprint::<Panicking>(), fingerprint::<Panicking>());
}
