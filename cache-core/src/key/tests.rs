//! The texts themselves, pinned: they are stored, and services of different versions share them.

mod property;

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use serde::{Serialize, Serializer};

use super::{Hashed, KeyError, KeySecret, KeyText};

/// The text of a key given by hand.
fn by_hand<K: Serialize + ?Sized>(key: &K) -> String {
    KeyText::of(key, None)
        .expect("has a text")
        .as_str()
        .to_owned()
}

/// The text of the one argument of a function.
fn argument<T: Serialize + ?Sized>(part: &T) -> String {
    KeyText::from_parts(1, None, |key| key.part(part))
        .expect("has a text")
        .as_str()
        .to_owned()
}

fn error<K: Serialize + ?Sized>(key: &K) -> KeyError {
    KeyText::of(key, None).expect_err("has no text")
}

struct Bytes(&'static [u8]);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Pair(i32, &'static str);

#[derive(Serialize)]
struct Id<T>(T);

#[derive(Serialize)]
struct Filter {
    text: Option<&'static str>,
    page: u32,
    #[serde(skip)]
    #[allow(dead_code)]
    trace: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort: Option<Sort>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Sort {
    Name,
    Field(&'static str),
    Two(&'static str, &'static str),
    Price { up: bool },
}

#[test]
fn case_1_a_string_alone_is_written_bare() {
    assert_eq!(by_hand("en"), "en");
    assert_eq!(argument("en"), "en");
    assert_eq!(argument(&String::from("en")), "en");
    assert_eq!(argument(&'x'), "x");
    assert_eq!(argument(&Some("en")), "en");
    assert_eq!(argument(&Id("en")), "en");
    assert_eq!(argument(&Sort::Name), "name");
    for text in [
        "a:b",
        "Größe 東京",
        "a\"b\\c",
        "{}"[1..].into(),
        "-",
        "1.",
        "007",
        "nulL",
        " ",
        "default-cache-keys",
        "a,b]",
    ] {
        assert_eq!(argument(text), text);
    }
}

#[test]
fn a_string_alone_is_quoted_where_it_could_be_something_else() {
    for (string, text) in [
        ("", r#""""#),
        ("42", r#""42""#),
        ("-0.5e+7", r#""-0.5e+7""#),
        ("true", r#""true""#),
        ("false", r#""false""#),
        ("null", r#""null""#),
        ("default-cache-key", r#""default-cache-key""#),
        ("[1]", r#""[1]""#),
        ("{}", r#""{}""#),
        ("\"42\"", r#""\"42\"""#),
        ("#abc", r##""#abc""##),
        ("a\nb", r#""a\nb""#),
        ("\0\u{8}\t\u{c}\r\u{1f}", r#""\u0000\b\t\f\r\u001f""#),
        ("ü\u{85}", "\"ü\u{85}\""),
    ] {
        assert_eq!(argument(string), text);
        assert_eq!(by_hand(string), text);
    }
}

#[test]
fn case_3_no_part_is_the_default_key() {
    assert_eq!(by_hand(&()), "default-cache-key");
    let text = KeyText::from_parts(0, None, |_| unreachable!("there is nothing to write"))
        .expect("has a text");
    assert_eq!(text.as_str(), "default-cache-key");
}

#[test]
fn case_11_one_part_is_that_part() {
    assert_eq!(argument(&5), "5");
    assert_eq!(by_hand(&5), "5");
    assert_eq!(by_hand(&(5,)), "5");
    assert_eq!(by_hand(&&(&"en",)), "en");
    assert_eq!(argument(&Arc::new(Id(5))), "5");
    assert_eq!(argument(&true), "true");
    assert_eq!(
        argument(&i128::MIN),
        "-170141183460469231731687303715884105728"
    );
    assert_eq!(
        argument(&u128::MAX),
        "340282366920938463463374607431768211455"
    );
    assert_eq!(argument(&u64::MAX), "18446744073709551615");
    assert_eq!(argument(&-1i8), "-1");
}

#[test]
fn case_13_none_meets_no_string() {
    assert_eq!(argument(&None::<String>), "null");
    assert_eq!(argument(&Some("null")), r#""null""#);
    assert_eq!(argument(&Some("x")), "x");
}

#[test]
fn case_19_floats_keep_their_point() {
    for (float, text) in [
        (1.0, "1.0"),
        (2.0, "2.0"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e300, "1e300"),
        (5e-324, "5e-324"),
    ] {
        assert_eq!(argument(&float), text);
    }
    assert_eq!(argument(&0.1f32), "0.1");
    assert_eq!(by_hand(&(1.0, 1)), "[1.0,1]");
}

#[test]
fn case_b14_parts_never_run_into_each_other() {
    assert_eq!(by_hand(&("a:b", "c")), r#"["a:b","c"]"#);
    let texts = [
        by_hand(&("a:b", "c")),
        by_hand(&("a", "b:c")),
        by_hand(&("", "x")),
        by_hand(&("x", "")),
        by_hand(&None::<&str>),
        by_hand(&Some("None")),
        by_hand(&Some("null")),
        by_hand(&1u32),
        by_hand("1"),
        by_hand(&["a", "b"]),
        by_hand(&["a,b"]),
        by_hand(&["a\",\"b"]),
        by_hand("[\"a\",\"b\"]"),
        by_hand("a\0b"),
        by_hand("a\\u0000b"),
        by_hand("a\nb"),
        by_hand("a\\nb"),
        by_hand("{a}"),
        by_hand("東京"),
        by_hand(&()),
        by_hand("default-cache-key"),
        by_hand("b:c"),
    ];
    for (index, text) in texts.iter().enumerate() {
        assert!(!texts[..index].contains(text), "{text} stands for two keys");
    }
}

#[test]
fn several_parts_are_an_array() {
    assert_eq!(by_hand(&(42, "en")), r#"[42,"en"]"#);
    let text = KeyText::from_parts(2, None, |key| {
        key.part(&42)?;
        key.part("en")
    });
    assert_eq!(text.expect("has a text").as_str(), r#"[42,"en"]"#);
    assert_eq!(
        by_hand(&(None::<i32>, "null", "東", Sort::Name)),
        r#"[null,"null","東","name"]"#
    );
}

#[test]
fn an_array_is_one_part_whatever_its_length() {
    assert_eq!(
        (argument(&[1]), by_hand(&[1])),
        ("[1]".into(), "[1]".into())
    );
    assert_eq!(
        (argument(&["x"; 0]), by_hand(&["x"; 0])),
        ("[]".into(), "[]".into())
    );
    assert_eq!(
        (argument(&vec!["x"]), by_hand(&vec!["x"])),
        (r#"["x"]"#.into(), r#"["x"]"#.into())
    );
    assert_eq!(
        (argument(&(1,)), by_hand(&((1,),))),
        ("[1]".into(), "[1]".into())
    );
    assert_eq!(
        (argument(&(1, 2)), by_hand(&(1, 2))),
        ("[1,2]".into(), "[1,2]".into())
    );
    assert_eq!(by_hand(&Some((1,))), argument(&Some((1,))));
}

#[test]
fn what_json_would_merge_is_tagged() {
    assert_eq!(argument(&None::<Option<()>>), "null");
    assert_eq!(argument(&Some(None::<()>)), "{some:null}");
    assert_eq!(argument(&Some(Some(()))), "{unit}");
    assert_eq!(argument(&Some(Some(None::<i32>))), "{some:{some:null}}");
    assert_eq!(argument(&Some(Some(1))), "1");
    assert_eq!(argument(&Id(Some(Id(None::<i32>)))), "{some:null}");
    assert_eq!(argument(&()), "{unit}");
    assert_eq!(argument(&Unit), "{unit}");
    assert_eq!(by_hand(&Unit), "{unit}");
    assert_eq!(
        by_hand(&((), None::<()>, Some(None::<()>))),
        "[{unit},null,{some:null}]"
    );
    assert_eq!(argument(&Bytes(&[1, 2, 3])), "{bytes:AQID}");
    assert_eq!(argument(&Bytes(b"")), "{bytes:}");
    assert_eq!(argument(&Bytes(&[0xff; 49])).len(), "{bytes:}".len() + 66);
    assert_eq!(argument(&[1u8, 2, 3]), "[1,2,3]");
}

#[test]
fn structs_and_enums_are_written_as_serde_does() {
    let filter = Filter {
        text: None,
        page: 3,
        trace: 7,
        sort: None,
    };
    assert_eq!(argument(&filter), r#"{"text":null,"page":3}"#);
    let filter = Filter {
        text: Some("a\"b"),
        page: 3,
        trace: 7,
        sort: Some(Sort::Name),
    };
    assert_eq!(
        argument(&filter),
        r#"{"text":"a\"b","page":3,"sort":"name"}"#
    );
    assert_eq!(argument(&Sort::Field("a")), r#"{"field":"a"}"#);
    assert_eq!(argument(&Sort::Two("a", "b")), r#"{"two":["a","b"]}"#);
    assert_eq!(
        argument(&Sort::Price { up: true }),
        r#"{"price":{"up":true}}"#
    );
    assert_eq!(argument(&Pair(1, "a")), r#"[1,"a"]"#);
    assert_eq!(argument(&Duration::new(1, 5)), r#"{"secs":1,"nanos":5}"#);
    assert_eq!(argument(&IpAddr::V4(Ipv4Addr::LOCALHOST)), "127.0.0.1");
}

#[test]
fn maps_are_sorted_by_the_text_of_their_keys() {
    assert_eq!(
        argument(&BTreeMap::from([("b", 1), ("a", 2), ("", 3)])),
        r#"{"":3,"a":2,"b":1}"#
    );
    assert_eq!(
        argument(&BTreeMap::from([(9, "a"), (10, "b")])),
        r#"{10:"b",9:"a"}"#
    );
    assert_eq!(argument(&HashMap::<u8, u8>::new()), "{}");
    let nested = HashMap::from([
        ("x", HashMap::from([("z", 1), ("y", 2)])),
        ("w", HashMap::new()),
    ]);
    assert_eq!(argument(&nested), r#"{"w":{},"x":{"y":2,"z":1}}"#);
    assert_eq!(
        by_hand(&(1, &nested, 2)),
        r#"[1,{"w":{},"x":{"y":2,"z":1}},2]"#
    );
}

#[test]
fn equal_maps_have_one_text_however_they_were_filled() {
    let names: Vec<String> = (0..50).map(|n| format!("name {n}")).collect();
    let forth: HashMap<&str, usize> = names
        .iter()
        .map(|name| (name.as_str(), name.len()))
        .collect();
    let back: HashMap<&str, usize> = names
        .iter()
        .rev()
        .map(|name| (name.as_str(), name.len()))
        .collect();
    assert_eq!(argument(&forth), argument(&back));
}

const TOKEN: &str = "a session token";

#[test]
fn a_hashed_part_is_its_digest() {
    assert_eq!(
        by_hand(&Hashed(TOKEN)),
        "#f5MCM7TITDDtSUAn1Ea1Ba1fB6rjQx6nI6U7U59AuV0"
    );
    let secret = KeySecret::new("pepper");
    let keyed = KeyText::of(&Hashed(TOKEN), Some(&secret)).expect("has a text");
    assert_eq!(
        keyed.as_str(),
        "#Pmi-RY1E43oT3KX5R-DQ5vZZlRD-3lkogx0RIZqmSS8"
    );
    assert_ne!(
        KeyText::of(&Hashed(TOKEN), Some(&KeySecret::new("salt"))),
        Ok(keyed)
    );
}

#[test]
fn hashed_by_hand_and_by_attribute_are_one() {
    for secret in [None, Some(&KeySecret::new([1, 2, 3]))] {
        let attribute = KeyText::from_parts(2, secret, |key| {
            key.part(&1)?;
            key.hashed(TOKEN)
        });
        let attribute = attribute.expect("has a text");
        assert!(attribute.as_str().starts_with("[1,#") && attribute.as_str().ends_with(']'));
        assert_eq!(attribute.as_str().len(), "[1,#]".len() + 43);
        assert_eq!(
            KeyText::of(&(1, Hashed(TOKEN)), secret).as_ref(),
            Ok(&attribute)
        );

        let alone = KeyText::from_parts(1, secret, |key| key.hashed(TOKEN)).expect("has a text");
        assert_eq!(alone.as_str().len(), 44);
        assert_eq!(KeyText::of(&Hashed(TOKEN), secret).as_ref(), Ok(&alone));
        assert_eq!(KeyText::of(&(Hashed(TOKEN),), secret).as_ref(), Ok(&alone));
    }
}

#[test]
fn different_values_have_different_digests() {
    assert_ne!(by_hand(&Hashed("1")), by_hand(&Hashed(1)));
    assert_ne!(by_hand(&(1, Hashed("1"))), by_hand(&(1, Hashed(1))));
    assert_ne!(by_hand(&Hashed(None::<&str>)), by_hand(&Hashed("null")));
    // A literal that looks like a digest is quoted.
    assert_ne!(by_hand(&by_hand(&Hashed(TOKEN))), by_hand(&Hashed(TOKEN)));
    assert_ne!(
        by_hand(&(by_hand(&Hashed(TOKEN)), 1)),
        by_hand(&(Hashed(TOKEN), 1))
    );
}

#[test]
fn a_text_over_512_bytes_becomes_a_digest() {
    let longest = "x".repeat(512);
    assert_eq!(argument(&longest), longest);
    let text = argument(&format!("{longest}x"));
    assert_eq!((text.len(), &text[..1]), (44, "#"));
    // As if the part had been marked, so that a marked and an unmarked function agree.
    assert_eq!(text, by_hand(&Hashed(format!("{longest}x"))));

    let parts = by_hand(&(1, &longest));
    assert_eq!((parts.len(), &parts[..1]), (44, "#"));
    assert_ne!(parts, by_hand(&(2, &longest)));
    let secret = KeySecret::new("pepper");
    assert_ne!(
        KeyText::of(&(1, &longest), Some(&secret))
            .expect("has a text")
            .as_str(),
        parts
    );
    // A long part that is hashed leaves a short text.
    assert!(by_hand(&(1, Hashed("x".repeat(10_000)))).starts_with("[1,#"));
}

#[test]
fn what_has_no_canonical_form_is_refused() {
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(error(&float).to_string().contains("NaN"));
        assert_eq!(error(&vec![Some((1, float))]), error(&f32::NAN));
        assert_eq!(error(&Hashed(float)), error(&f32::NAN));
    }
}

#[test]
fn a_failing_serialize_is_refused_and_not_quoted() {
    struct Failing;
    impl Serialize for Failing {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("hunter2"))
        }
    }
    let error = error(&(1, Failing));
    assert!(!format!("{error} {error:?}").contains("hunter2"));
}

#[test]
fn nesting_is_bounded() {
    #[derive(Serialize)]
    struct Chain(Option<Box<Chain>>);
    #[derive(Serialize)]
    enum List {
        End,
        Next { rest: Box<List> },
    }
    let chain = |length| (0..length).fold(Chain(None), |chain, _| Chain(Some(Box::new(chain))));
    let list = |length| {
        (0..length).fold(List::End, |rest, _| List::Next {
            rest: Box::new(rest),
        })
    };
    argument(&chain(60));
    argument(&list(120));
    assert!(error(&chain(2_000)).to_string().contains("128 levels"));
    assert!(error(&list(2_000)).to_string().contains("128 levels"));
}

#[test]
fn the_number_of_parts_must_be_the_announced_one() {
    assert!(KeyText::from_parts(2, None, |key| key.part(&1)).is_err());
    assert!(KeyText::from_parts(1, None, |_| Ok(())).is_err());
    let three = KeyText::from_parts(2, None, |key| {
        key.part(&1).and(key.part(&2)).and(key.part(&3))
    });
    assert!(three.is_err());
}

#[test]
fn debug_shows_neither_key_nor_secret() {
    let shown = format!(
        "{:?} {:?} {:?}",
        KeyText::of(&"hunter2", None),
        Hashed("hunter2"),
        KeySecret::new("hunter2"),
    );
    assert_eq!(shown, "Ok(KeyText(7 bytes)) Hashed(..) KeySecret(..)");
    let shown = KeyText::from_parts(1, None, |key| {
        key.part("hunter2")?;
        assert!(!format!("{key:?}").contains("hunter2"));
        Ok(())
    });
    assert!(shown.is_ok());
}

#[test]
fn hashed_is_its_content_to_any_other_serializer() {
    assert_eq!(
        serde_json::to_string(&Hashed(vec![1])).expect("is JSON"),
        "[1]"
    );
}

#[test]
fn a_key_is_shown_by_its_size_at_every_moment() {
    let mut seen = Vec::new();
    let key = KeyText::from_parts(1, None, |writer| {
        seen.push(format!("{writer:?}"));
        writer.part(&7_123_456)?;
        seen.push(format!("{writer:?}"));
        Ok(())
    });
    seen.push(format!("{key:?}"));
    assert!(
        seen.iter().all(|seen| !seen.contains("7123456")),
        "{seen:?}"
    );
    assert_eq!(seen[2], "Ok(KeyText(7 bytes))");
}
