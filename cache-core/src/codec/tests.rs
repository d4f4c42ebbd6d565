use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    net::IpAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use proptest::{collection::vec, prelude::*};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    Bincode, Codec, CodecError, CodecHandle, CodecReader, Form, Json, MessagePack, Postcard,
};

fn builtins() -> [CodecHandle; 4] {
    [
        Bincode.into(),
        Json.into(),
        Postcard.into(),
        MessagePack.into(),
    ]
}

fn encode<V: Serialize + DeserializeOwned + Send + Sync + 'static>(
    codec: impl Into<CodecHandle>,
    value: &V,
) -> Result<Vec<u8>, CodecError> {
    Form::of::<V>().encode(&codec.into(), value)
}

fn decode<V: Serialize + DeserializeOwned + Send + Sync + 'static>(
    codec: impl Into<CodecHandle>,
    bytes: &[u8],
) -> Result<V, CodecError> {
    let mut value = Form::of::<V>().decode(&codec.into(), bytes)?;
    Ok(value.take().expect("of this type"))
}

/// Asserts that the codec gives the value back, and that it takes neither more nor fewer bytes for it.
fn carries<V: Serialize + DeserializeOwned + PartialEq + fmt::Debug + Send + Sync + 'static>(
    codec: &CodecHandle,
    value: &V,
) {
    let bytes = encode(codec.clone(), value)
        .unwrap_or_else(|error| panic!("{codec:?}: {error} ({value:?})"));
    assert_eq!(
        decode(codec.clone(), &bytes).as_ref(),
        Ok(value),
        "{codec:?}"
    );
    let longer = [&bytes[..], &[1]].concat();
    assert!(
        decode::<V>(codec.clone(), &longer).is_err(),
        "{codec:?} leaves bytes over"
    );
    if let Some((_, shorter)) = bytes.split_last() {
        assert_ne!(
            decode(codec.clone(), &bytes[..shorter.len()]).as_ref(),
            Ok(value),
            "{codec:?} does not need all bytes"
        );
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Product {
    id: u64,
    name: String,
    price: Option<f64>,
    tags: Vec<String>,
    kind: Kind,
    #[serde(skip)]
    seen: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Plain,
    Sized(u8),
    Boxed(u8, i64),
    Named { label: char },
}

fn product() -> Product {
    let tags = vec!["a".into(), "ü \"b\"".into()];
    Product {
        id: u64::MAX,
        name: "Stuhl".into(),
        price: Some(0.1 + 0.2),
        tags,
        kind: Kind::Boxed(1, i64::MIN),
        seen: 0,
    }
}

#[test]
fn case_52_every_codec_carries_every_ordinary_value() {
    for codec in builtins() {
        carries(&codec, &product());
        carries(&codec, &vec![String::from("a"), String::new()]);
        carries(&codec, &[1i32, -2, 3]);
        carries(
            &codec,
            &vec![HashMap::from([("k".to_owned(), vec![0u8, 255])])],
        );
        carries(&codec, &None::<String>);
        carries(&codec, &Some(String::from("null")));
        carries(&codec, &Some(vec![None, Some(1u8)]));
        carries(&codec, &Arc::new(product()));
        carries(
            &codec,
            &BTreeMap::from([(1u32, Kind::Plain), (2, Kind::Named { label: 'ß' })]),
        );
        carries(&codec, &BTreeSet::from([(true, 'x'), (false, 'y')]));
        carries(
            &codec,
            &(i128::MIN, u128::MAX, f32::MIN_POSITIVE, -0.0f64, ()),
        );
        carries(
            &codec,
            &(
                Duration::from_millis(1_500),
                SystemTime::UNIX_EPOCH + Duration::from_nanos(7),
            ),
        );
        carries(
            &codec,
            &["127.0.0.1", "::1"].map(|address| address.parse::<IpAddr>().expect("is an address")),
        );
        carries(&codec, &Result::<u8, String>::Err("no".into()));
    }
}

#[test]
fn the_bytes_are_pinned() {
    #[derive(Serialize, Deserialize)]
    struct Small {
        id: u16,
        name: String,
        kind: Option<Kind>,
    }
    let small = Small {
        id: 300,
        name: "x".into(),
        kind: Some(Kind::Sized(7)),
    };
    assert_eq!(
        encode(Bincode, &small),
        Ok(vec![251, 44, 1, 1, b'x', 1, 1, 7])
    );
    assert_eq!(
        encode(Postcard, &small),
        Ok(vec![0xac, 2, 1, b'x', 1, 1, 7])
    );
    assert_eq!(
        encode(Json, &small),
        Ok(br#"{"id":300,"name":"x","kind":{"Sized":7}}"#.to_vec())
    );
    let named = b"\x83\xa2id\xcd\x01\x2c\xa4name\xa1x\xa4kind\x81\xa5Sized\x07";
    assert_eq!(encode(MessagePack, &small), Ok(named.to_vec()));
}

#[test]
fn floats_are_given_back_to_the_last_bit() {
    for codec in builtins() {
        for float in [
            0.1 + 0.2,
            1.0 / 3.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            2.225_073_858_507_201e-308,
            123_456_789.123_456_79,
        ] {
            carries(&codec, &float);
        }
    }
}

#[test]
fn nan_is_refused_by_json_alone() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(
            encode(Json, &vec![Some(value)]),
            Err(CodecError::NOT_FINITE)
        );
        for codec in [
            CodecHandle::from(Bincode),
            Postcard.into(),
            MessagePack.into(),
        ] {
            let bytes = encode(codec.clone(), &value).expect("carries it");
            assert_eq!(
                decode::<f64>(codec, &bytes)
                    .expect("gives it back")
                    .to_bits(),
                value.to_bits()
            );
        }
    }
    assert_eq!(encode(Json, &f32::NAN), Err(CodecError::NOT_FINITE));
}

#[test]
fn nested_options_are_refused_where_they_would_be_merged() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Id<T>(T);
    for codec in [CodecHandle::from(Json), MessagePack.into()] {
        assert_eq!(
            encode(codec.clone(), &Some(None::<u8>)),
            Err(CodecError::NESTED_OPTION)
        );
        assert_eq!(
            encode(codec.clone(), &vec![Some(Some(()))]),
            Err(CodecError::NESTED_OPTION)
        );
        assert_eq!(
            encode(codec.clone(), &Some(Id(None::<u8>))),
            Err(CodecError::NESTED_OPTION)
        );
        assert_eq!(
            encode(codec.clone(), &Some(serde_json::Value::Null)),
            Err(CodecError::NESTED_OPTION)
        );
        carries(&codec, &None::<Option<u8>>);
        carries(&codec, &Some(Some(1u8)));
        carries(&codec, &Some(vec![None::<u8>]));
        carries(&codec, &Some((None::<u8>,)));
    }
    for codec in [CodecHandle::from(Bincode), Postcard.into()] {
        carries(&codec, &Some(None::<u8>));
        carries(&codec, &Some(()));
        carries(&codec, &Some(Id(Some(None::<u8>))));
    }
}

#[test]
fn a_field_that_is_left_out_is_refused_where_fields_have_no_names() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sparse {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<u8>,
        second: u8,
    }
    for codec in [CodecHandle::from(Bincode), Postcard.into()] {
        assert_eq!(
            encode(
                codec.clone(),
                &Sparse {
                    first: None,
                    second: 1
                }
            ),
            Err(CodecError::LEFT_OUT)
        );
        carries(
            &codec,
            &Sparse {
                first: Some(0),
                second: 1,
            },
        );
    }
    for codec in [CodecHandle::from(Json), MessagePack.into()] {
        carries(
            &codec,
            &Sparse {
                first: None,
                second: 1,
            },
        );
        carries(
            &codec,
            &Sparse {
                first: Some(0),
                second: 1,
            },
        );
    }
}

#[test]
fn types_that_describe_themselves_need_a_codec_with_names() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(tag = "type")]
    enum Tagged {
        A { x: u8 },
        B { y: Option<String> },
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Flat {
        id: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, i64>,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Secretive {
        #[serde(skip_serializing, default)]
        password: String,
        name: String,
    }
    let tagged = vec![Tagged::A { x: 1 }, Tagged::B { y: None }];
    let flat = Flat {
        id: 1,
        rest: BTreeMap::from([("a".into(), -1)]),
    };
    let secretive = Secretive {
        password: String::new(),
        name: "x".into(),
    };
    for codec in [CodecHandle::from(Bincode), Postcard.into()] {
        assert_eq!(
            encode(codec.clone(), &tagged),
            Err(CodecError::NOT_POSITIONAL)
        );
        assert_eq!(
            encode(codec.clone(), &flat),
            Err(CodecError::NOT_POSITIONAL)
        );
        assert_eq!(encode(codec, &secretive), Err(CodecError::NOT_POSITIONAL));
    }
    for codec in [CodecHandle::from(Json), MessagePack.into()] {
        carries(&codec, &tagged);
        carries(&codec, &flat);
        carries(&codec, &secretive);
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Chain(Option<Box<Chain>>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Tree {
    Leaf,
    Twig(Box<Tree>),
    Fork(Box<Tree>, Box<Tree>),
    Many { trees: Vec<Tree> },
    Maybe(Option<Box<Tree>>),
    Map(BTreeMap<String, Tree>),
}

fn chain(length: usize) -> Chain {
    (0..length).fold(Chain(None), |chain, _| Chain(Some(Box::new(chain))))
}

fn grown(length: usize, grow: fn(Tree) -> Tree) -> Tree {
    (0..length).fold(Tree::Leaf, |tree, _| grow(tree))
}

#[test]
fn what_is_nested_too_deep_to_be_read_is_not_written() {
    let growths: [fn(Tree) -> Tree; 5] = [
        |tree| Tree::Twig(Box::new(tree)),
        |tree| Tree::Fork(Box::new(Tree::Leaf), Box::new(tree)),
        |tree| Tree::Many { trees: vec![tree] },
        |tree| Tree::Maybe(Some(Box::new(tree))),
        |tree| Tree::Map(BTreeMap::from([("a".into(), tree)])),
    ];
    for codec in builtins() {
        for grow in growths {
            let mut deepest = 0;
            for length in 0..200 {
                let tree = grown(length, grow);
                match encode(codec.clone(), &tree) {
                    Ok(_) => deepest = length,
                    Err(error) => assert_eq!(error, CodecError::TOO_DEEP),
                }
            }
            assert!((20..130).contains(&deepest), "{deepest}");
            carries(&codec, &grown(deepest, grow));
        }
        assert_eq!(encode(codec, &chain(1_000)), Err(CodecError::TOO_DEEP));
    }
}

#[test]
fn bytes_that_nest_without_end_are_refused() {
    for byte in [0x01, b'1', b'[', b'{', 0x91, 0x81, 0xdd] {
        let bytes = vec![byte; 1 << 20];
        for codec in builtins() {
            assert!(decode::<Chain>(codec.clone(), &bytes).is_err());
            assert!(decode::<Chain>(codec.clone(), &bytes[..1]).is_err());
            assert!(decode::<Tree>(codec.clone(), &bytes).is_err());
            assert!(decode::<serde_json::Value>(codec, &bytes).is_err());
        }
    }
}

#[test]
fn lengths_without_bytes_are_refused() {
    let huge = [0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert!(decode::<Vec<()>>(Bincode, &huge).is_err());
    assert!(decode::<String>(Bincode, &huge).is_err());
    assert!(decode::<Vec<u8>>(Bincode, &huge).is_err());
    assert!(decode::<BTreeMap<(), ()>>(Bincode, &huge).is_err());
    let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    assert!(decode::<Vec<()>>(Postcard, &huge).is_err());
    assert!(decode::<String>(Postcard, &huge).is_err());
    for codec in builtins() {
        carries(&codec, &vec![(); 1_000]);
    }
}

#[test]
fn a_codec_of_ones_own_is_called() {
    /// JSON, reversed.
    struct Reversed;
    impl Codec for Reversed {
        fn name(&self) -> &'static str {
            "reversed"
        }
        fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, CodecError> {
            Json.encode(value)
                .map(|bytes| bytes.into_iter().rev().collect())
        }
        fn decode(&self, bytes: &[u8], reader: CodecReader<'_>) -> Result<(), CodecError> {
            Json.decode(&bytes.iter().rev().copied().collect::<Vec<_>>(), reader)
        }
    }
    let codec = CodecHandle::from(Reversed);
    assert_eq!(
        (codec.name(), format!("{codec:?}")),
        ("reversed", "reversed".into())
    );
    assert_eq!(
        encode(codec.clone(), &(1, "ab".to_owned())),
        Ok(br#"]"ba",1["#.to_vec())
    );
    carries(&codec, &product());
    assert_eq!(
        encode(codec.clone(), &f64::NAN),
        Err(CodecError::NOT_FINITE)
    );
    assert!(decode::<Chain>(codec, b"1").is_err());
}

#[test]
fn a_codec_that_reads_nothing_is_an_error() {
    struct Silent;
    impl Codec for Silent {
        fn name(&self) -> &'static str {
            "silent"
        }
        fn encode(&self, _: &dyn erased_serde::Serialize) -> Result<Vec<u8>, CodecError> {
            Err(CodecError::new("it never does"))
        }
        fn decode(&self, _: &[u8], _: CodecReader<'_>) -> Result<(), CodecError> {
            Ok(())
        }
    }
    assert!(decode::<u8>(Silent, &[1]).is_err());
    assert_eq!(
        encode(Silent, &1u8).expect_err("fails").to_string(),
        "it never does"
    );
}

#[test]
fn the_codecs_have_names_and_numbers_of_their_own() {
    assert_eq!(
        builtins().map(|codec| codec.name()),
        ["bincode", "json", "postcard", "message-pack"]
    );
    assert_eq!(builtins().map(|codec| codec.id()), [1, 2, 3, 4]);
    assert_eq!(CodecHandle::default().name(), "bincode");
    assert_eq!(format!("{:?}", CodecHandle::from(Json)), "json");
}

#[test]
fn none_is_known_by_its_serialize() {
    assert!(serialises_as_none(&None::<Product>));
    assert!(serialises_as_none(&Arc::new(None::<u8>)));
    assert!(!serialises_as_none(&Some(None::<u8>)));
    assert!(!serialises_as_none(&()));
    assert!(!serialises_as_none(&product()));
}

fn trees() -> impl Strategy<Value = Tree> {
    Just(Tree::Leaf).prop_recursive(6, 40, 3, |tree| {
        prop_oneof![
            tree.clone().prop_map(|tree| Tree::Twig(Box::new(tree))),
            (tree.clone(), tree.clone())
                .prop_map(|(one, two)| Tree::Fork(Box::new(one), Box::new(two))),
            vec(tree.clone(), 0..3).prop_map(|trees| Tree::Many { trees }),
            proptest::option::of(tree.clone()).prop_map(|tree| Tree::Maybe(tree.map(Box::new))),
            proptest::collection::btree_map(".{0,4}", tree, 0..3).prop_map(Tree::Map),
        ]
    })
}

type Mixed = Vec<(
    String,
    Option<i64>,
    BTreeMap<u8, Vec<char>>,
    Result<f32, bool>,
    i128,
)>;

fn mixed() -> impl Strategy<Value = Mixed> {
    let map = proptest::collection::btree_map(any::<u8>(), vec(any::<char>(), 0..3), 0..3);
    let result = prop_oneof![
        proptest::num::f32::NORMAL.prop_map(Ok),
        any::<bool>().prop_map(Err)
    ];
    vec(
        (
            any::<String>(),
            any::<Option<i64>>(),
            map,
            result,
            any::<i128>(),
        ),
        0..4,
    )
}

/// Decodes whatever it is, to see that nothing but an error or a value comes of it.
fn decode_as_anything(codec: &CodecHandle, bytes: &[u8]) {
    let _ = decode::<Tree>(codec.clone(), bytes);
    let _ = decode::<Chain>(codec.clone(), bytes);
    let _ = decode::<Mixed>(codec.clone(), bytes);
    let _ = decode::<Vec<Product>>(codec.clone(), bytes);
    let _ = decode::<serde_json::Value>(codec.clone(), bytes);
    let _ = decode::<(Vec<()>, Vec<Vec<()>>, String)>(codec.clone(), bytes);
    let _ = decode::<(IpAddr, SystemTime, std::num::NonZeroU8)>(codec.clone(), bytes);
}

proptest! {
    #[test]
    fn every_codec_gives_every_value_back(tree in trees(), mixed in mixed()) {
        for codec in builtins() {
            carries(&codec, &tree);
            carries(&codec, &mixed);
        }
    }

    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..200)) {
        for codec in builtins() {
            decode_as_anything(&codec, &bytes);
        }
    }

    #[test]
    fn damaged_values_do_no_harm(tree in trees(), mixed in mixed(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for codec in builtins() {
            for mut bytes in [encode(codec.clone(), &tree), encode(codec.clone(), &mixed)].into_iter().flatten() {
                if !bytes.is_empty() {
                    let at = at.index(bytes.len());
                    bytes[at] = byte;
                    decode_as_anything(&codec, &bytes[..]);
                    decode_as_anything(&codec, &bytes[..at]);
                }
            }
        }
    }
}

fn serialises_as_none<V: Serialize + DeserializeOwned + Send + Sync + 'static>(value: &V) -> bool {
    Form::of::<V>().is_none(value)
}
