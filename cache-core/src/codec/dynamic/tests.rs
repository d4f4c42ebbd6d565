//! What a type reads through objects is what it reads directly, whatever it asks and whatever the format answers.

#![allow(dead_code)] // fields are compared as they are printed

use std::{
    any::type_name,
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    fmt,
    marker::PhantomData,
    net::{IpAddr, SocketAddr},
    num::{NonZeroU8, NonZeroU64, Wrapping},
    ops::{Bound, Range},
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, Error, IgnoredAny, SeqAccess, Visitor},
};

use crate::codec::{Bincode, CodecHandle, CodecReader, Json, MessagePack, Postcard};

fn codecs() -> [CodecHandle; 4] {
    [
        Bincode.into(),
        Json.into(),
        Postcard.into(),
        MessagePack.into(),
    ]
}

/// Asserts that a type reads the same from the bytes of a value, of another type perhaps, and from damaged ones.
fn reads_alike<T: DeserializeOwned + fmt::Debug>(written: &impl Serialize) -> usize {
    let mut read = 0;
    for codec in codecs() {
        let Ok(bytes) = codec.encode_direct(written) else {
            continue;
        };
        read += usize::from(alike::<T>(&codec, &bytes));
        for at in 0..bytes.len() {
            alike::<T>(&codec, &bytes[..at]);
            for byte in [0, 1, 0x90, 0xc0, b'"', bytes[at].wrapping_add(1)] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                alike::<T>(&codec, &damaged);
            }
        }
    }
    read
}

fn alike<T: DeserializeOwned + fmt::Debug>(codec: &CodecHandle, bytes: &[u8]) -> bool {
    let direct = codec.decode_direct::<T>(bytes).ok();
    let mut place = None::<T>;
    let dynamic = codec
        .as_codec()
        .decode(bytes, CodecReader(&mut place))
        .ok()
        .and(place);
    assert_eq!(
        format!("{direct:?}"),
        format!("{dynamic:?}"),
        "{} from {codec:?} {bytes:?}",
        type_name::<T>()
    );
    direct.is_some()
}

/// Asserts that values are read alike, and by so many codecs.
macro_rules! zoo {
    ($($codecs:literal $type:ty = $value:expr;)*) => {$(
        let value: $type = $value;
        assert_eq!(reads_alike::<$type>(&value), $codecs, "{}", type_name::<$type>());
    )*};
}

#[test]
fn scalars_and_collections() {
    zoo! {
        4 (bool, char, ()) = (true, 'ß', ());
        4 (i8, i16, i32, i64, i128) = (-1, 300, -70_000, i64::MIN, i128::MIN);
        4 (u8, u16, u32, u64, u128) = (200, 300, 70_000, u64::MAX, u128::MAX);
        4 (f32, f64, f64) = (0.1, -0.0, 3.0);
        4 String = "a \"ü\"\n".to_owned();
        4 (Cow<'static, str>, Box<str>, Arc<str>, PathBuf) = ("a".into(), "b".into(), "c".into(), "d".into());
        4 Option<Option<u8>> = Some(Some(1));
        4 (Option<u8>, Option<String>) = (None, Some("x".into()));
        4 (Vec<u8>, VecDeque<String>, BTreeSet<i8>, [u16; 3]) = (vec![1, 255], ["a".into()].into(), [1, -1].into(), [1, 2, 3]);
        4 HashMap<String, Vec<Option<u8>>> = [("k".to_owned(), vec![None, Some(1)])].into();
        4 (BTreeMap<u32, bool>, BTreeMap<i8, ()>, BTreeMap<char, u8>) = ([(1, true)].into(), [(-1, ())].into(), [('x', 1)].into());
        4 BTreeMap<bool, u8> = [(true, 1)].into();
        4 (Result<u8, String>, Result<u8, String>) = (Ok(1), Err("no".into()));
        4 (Duration, SystemTime, Range<u8>, Bound<u8>) = (Duration::from_millis(1_500), SystemTime::UNIX_EPOCH, 1..3, Bound::Included(1));
        4 (IpAddr, SocketAddr) = ("::1".parse().expect("is one"), "1.2.3.4:80".parse().expect("is one"));
        4 (NonZeroU8, NonZeroU64, Wrapping<i16>, PhantomData<u8>) = (NonZeroU8::MIN, NonZeroU64::MAX, Wrapping(-7), PhantomData);
        2 serde_json::Value = serde_json::json!({"a": [1, -2, 0.5, "x", true, null, {"b": {}}]});
    }
}

#[test]
fn derived_types() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Unit;
    #[derive(Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    struct Newtype(String);
    #[derive(Debug, Serialize, Deserialize)]
    struct Tuple(u8, Unit, Option<Box<Tuple>>);
    #[derive(Debug, Serialize, Deserialize)]
    struct Empty {}
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Fields {
        first_one: u8,
        #[serde(rename = "x", alias = "y")]
        second: Newtype,
        #[serde(skip)]
        third: u8,
        #[serde(with = "as_text")]
        fourth: u64,
        #[serde(default)]
        fifth: Option<Tuple>,
        sixth: Empty,
    }
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        only: u8,
    }
    #[derive(Debug, Serialize, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    enum Plain {
        A,
        B,
    }
    #[derive(Debug, Serialize, Deserialize)]
    enum Enum {
        Unit,
        Newtype(Newtype),
        Tuple(u8, i64),
        Fields { a: u8, b: Box<Enum> },
    }
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        A { x: u8, y: Option<String> },
        B(Strict),
        C,
    }
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        A { x: u8 },
        B(String),
        C,
        D(u8, i64),
    }
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        A(u8),
        B { x: Option<i64> },
        C(Vec<Untagged>),
        D(Plain),
        E(f64),
        F(String),
        G(BTreeMap<Plain, Newtype>),
        H,
    }
    #[derive(Debug, Serialize, Deserialize)]
    struct Flat {
        id: u8,
        #[serde(flatten)]
        strict: Option<Tagged>,
        #[serde(flatten)]
        rest: BTreeMap<String, Untagged>,
    }
    #[derive(Debug, Clone, Serialize, Deserialize)]
    #[serde(try_from = "u8", into = "u8")]
    struct Even(u8);
    impl TryFrom<u8> for Even {
        type Error = String;
        fn try_from(number: u8) -> Result<Self, String> {
            let even = number.is_multiple_of(2).then_some(Self(number));
            even.ok_or_else(|| "odd".into())
        }
    }
    impl From<Even> for u8 {
        fn from(even: Even) -> Self {
            even.0
        }
    }
    let newtype = || Newtype("x".into());
    let fields = || Fields {
        first_one: 1,
        second: newtype(),
        third: 0,
        fourth: 44,
        fifth: Some(Tuple(1, Unit, None)),
        sixth: Empty {},
    };
    zoo! {
        4 Unit = Unit;
        4 Newtype = newtype();
        4 Tuple = Tuple(1, Unit, Some(Box::new(Tuple(2, Unit, None))));
        4 Fields = fields();
        4 Strict = Strict { only: 1 };
        4 [Enum; 4] = [Enum::Unit, Enum::Newtype(newtype()), Enum::Tuple(1, -1), Enum::Fields { a: 1, b: Box::new(Enum::Unit) }];
        4 BTreeMap<Newtype, u8> = [(newtype(), 1)].into();
        4 BTreeMap<Plain, u8> = [(Plain::A, 1), (Plain::B, 2)].into();
        2 Vec<Tagged> = vec![Tagged::A { x: 1, y: None }, Tagged::B(Strict { only: 2 }), Tagged::C];
        2 Vec<Adjacent> = vec![Adjacent::A { x: 1 }, Adjacent::B("b".into()), Adjacent::D(1, -1)];
        2 Adjacent = Adjacent::C;
        2 Vec<Untagged> = vec![Untagged::A(1), Untagged::B { x: Some(-1) }, Untagged::C(vec![Untagged::H]), Untagged::D(Plain::A), Untagged::E(0.5), Untagged::F("x".into()), Untagged::G([(Plain::B, newtype())].into())];
        2 Flat = Flat { id: 1, strict: Some(Tagged::A { x: 1, y: Some("z".into()) }), rest: [("a".to_owned(), Untagged::A(3))].into() };
        2 Flat = Flat { id: 1, strict: None, rest: BTreeMap::new() };
        4 (Even, Even) = (Even(2), Even(0));
    }
    // Of other types than were written.
    reads_alike::<Strict>(&fields());
    reads_alike::<Flat>(&fields());
    reads_alike::<Fields>(&(1, newtype(), "44", None::<u8>, Empty {}));
    reads_alike::<Vec<Enum>>(&["Unit", "Tuple", "none"]);
    reads_alike::<BTreeMap<String, Untagged>>(&fields());
    reads_alike::<IgnoredAny>(&fields());
}

mod as_text {
    use super::*;

    pub(super) fn serialize<S: Serializer>(number: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// What its visitor was given, when it asked for something.
#[derive(Debug)]
struct Lenient<const ASKS: u8>(String);

impl<'de, const ASKS: u8> Deserialize<'de> for Lenient<ASKS> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = match ASKS {
            b'b' => from.deserialize_bool(Taking),
            b'1' => from.deserialize_u8(Taking),
            b'2' => from.deserialize_i64(Taking),
            b'3' => from.deserialize_f64(Taking),
            b'4' => from.deserialize_u128(Taking),
            b'c' => from.deserialize_char(Taking),
            b's' => from.deserialize_str(Taking),
            b'S' => from.deserialize_string(Taking),
            b'y' => from.deserialize_bytes(Taking),
            b'Y' => from.deserialize_byte_buf(Taking),
            _ => from.deserialize_any(Taking),
        };
        text.map(Self)
    }
}

struct Taking;

macro_rules! taking {
    ($($method:ident($type:ty))*) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<String, E> {
            Ok(format!("{} {value:?}", stringify!($method)))
        }
    )*};
}

impl<'de> Visitor<'de> for Taking {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    taking! {
        visit_bool(bool) visit_u64(u64) visit_i64(i64) visit_u32(u32) visit_f64(f64) visit_u128(u128) visit_i128(i128)
        visit_char(char) visit_str(&str) visit_bytes(&[u8])
    }

    fn visit_unit<E: Error>(self) -> Result<String, E> {
        Ok("visit_unit".to_owned())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<String, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element::<u8>()? {
            all.push(item);
        }
        Ok(format!("visit_seq {all:?}"))
    }
}

#[test]
fn visitors_that_take_more_than_they_ask_for() {
    struct Bytes(&'static [u8]);
    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            to.serialize_bytes(self.0)
        }
    }
    fn from_all<const ASKS: u8>() -> usize {
        [
            reads_alike::<Lenient<ASKS>>(&true),
            reads_alike::<Lenient<ASKS>>(&1_u8),
            reads_alike::<Lenient<ASKS>>(&-1_i64),
            reads_alike::<Lenient<ASKS>>(&u64::MAX),
            reads_alike::<Lenient<ASKS>>(&u128::MAX),
            reads_alike::<Lenient<ASKS>>(&0.5_f64),
            reads_alike::<Lenient<ASKS>>(&0.5_f32),
            reads_alike::<Lenient<ASKS>>(&'c'),
            reads_alike::<Lenient<ASKS>>(&"text"),
            reads_alike::<Lenient<ASKS>>(&"quoted \""),
            reads_alike::<Lenient<ASKS>>(&Bytes(b"bytes")),
        ]
        .iter()
        .sum()
    }
    let read = [
        from_all::<b'b'>(),
        from_all::<b'1'>(),
        from_all::<b'2'>(),
        from_all::<b'3'>(),
        from_all::<b'4'>(),
        from_all::<b'c'>(),
        from_all::<b's'>(),
        from_all::<b'S'>(),
        from_all::<b'y'>(),
        from_all::<b'Y'>(),
        from_all::<b'a'>(),
    ];
    assert!(read.iter().all(|&read| read > 0), "{read:?}");
}

#[test]
fn raw_json_is_asked_for_in_a_way_of_its_own() {
    /// Asks as serde_json's raw values do, and is given a map as they are.
    #[derive(Debug)]
    struct Raw(BTreeMap<String, u8>);
    impl<'de> Deserialize<'de> for Raw {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct ByMap;
            impl<'de> Visitor<'de> for ByMap {
                type Value = Raw;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("a map")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Raw, A::Error> {
                    let mut all = BTreeMap::new();
                    while let Some((key, value)) = map.next_entry()? {
                        all.insert(key, value);
                    }
                    Ok(Raw(all))
                }
            }
            from.deserialize_newtype_struct("Raw", ByMap)
        }
    }
    let map = serde::de::value::MapDeserializer::<_, serde::de::value::Error>::new(
        [("a", 1_u8)].into_iter(),
    );
    let mut place = None::<Raw>;
    super::Seed::read(&mut place, &mut super::FromFormat::new(map)).expect("reads it");
    assert_eq!(place.expect("is there").0, [("a".to_owned(), 1)].into());
}

#[test]
fn what_is_nested_as_deep_as_can_be_written_is_read() {
    #[derive(Debug, Serialize, Deserialize)]
    enum Tree {
        Leaf,
        Twig(Box<Tree>),
        Many { trees: Vec<Tree> },
        Maybe(Option<Box<Tree>>),
        Map(BTreeMap<String, Tree>),
    }
    let growths: [fn(Tree) -> Tree; 4] = [
        |tree| Tree::Twig(Box::new(tree)),
        |tree| Tree::Many { trees: vec![tree] },
        |tree| Tree::Maybe(Some(Box::new(tree))),
        |tree| Tree::Map(BTreeMap::from([("a".into(), tree)])),
    ];
    for codec in codecs() {
        for grow in growths {
            let (mut tree, mut deepest) = (Tree::Leaf, Vec::new());
            while let Ok(bytes) = codec.encode_direct(&tree) {
                tree = grow(tree);
                deepest = bytes;
            }
            assert!(alike::<Tree>(&codec, &deepest));
        }
        for byte in [0x01, b'1', b'[', b'{', 0x91, 0x81, 0xdd] {
            assert!(!alike::<Tree>(&codec, &vec![byte; 1 << 20]));
        }
    }
}
