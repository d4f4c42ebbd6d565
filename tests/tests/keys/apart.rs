//! Keys that differ never meet.

use std::collections::BTreeMap;

use cache_core::{Cache, Hashed, cache_result};
use tests::{bodies, body, both, caches, on_redis, stored, value_keys, with_caches};

use crate::key_texts;

both!(
    case_b14_keys_of_different_parts_never_meet,
    case_b14_arguments_that_differ_never_meet,
    case_b14_name_and_key_cannot_be_shifted_into_each_other,
);

/// Keys of one cache that a careless encoding would merge, each with what it is.
macro_rules! keys_apart {
    ($each:ident) => {
        // Parts and their borders.
        $each!(("a:b", "c"));
        $each!(("a", "b:c"));
        $each!(("a,b", "c"));
        $each!((r#"a","b"#, "c"));
        $each!(("", "x"));
        $each!(("x", ""));
        $each!(("", ""));
        $each!("");
        $each!(("a", "b", "c"));
        $each!(["a,b"]);
        $each!([r#"a","b"#]);
        $each!(r#"["a","b"]"#);
        $each!("[1,2]");
        $each!((1, 2));
        $each!((1, "2"));
        $each!(("1", 2));
        $each!(((1, 2), 3));
        $each!((1, (2, 3)));
        // Numbers, strings, options.
        $each!(1_u32);
        $each!("1");
        $each!(1.0_f64);
        $each!("1.0");
        $each!(-0.0_f64);
        $each!(0.0_f64);
        $each!(true);
        $each!("true");
        $each!(None::<&str>);
        $each!("None");
        $each!("null");
        $each!(Some(None::<u32>));
        $each!(Some(Some(None::<u32>)));
        $each!("{some:null}");
        $each!(());
        $each!("default-cache-key");
        // What text can hold.
        $each!("a\0b");
        $each!("a\nb");
        $each!("a\\nb");
        $each!("{a}");
        $each!("}{");
        $each!("[");
        $each!("#a");
        $each!("\"a\"");
        $each!("a b");
        $each!(" a");
        $each!("é");
        $each!("e\u{301}");
        $each!("日本");
        $each!("a*b");
        $each!("a?b");
        // Long ones, and what their digests must not be taken for.
        $each!("x".repeat(600));
        $each!("x".repeat(601));
        $each!(("x".repeat(600), 1));
        $each!(Hashed("a"));
        $each!(Hashed("b"));
        $each!((Hashed("a"), 1));
        $each!((1, Hashed("a")));
        // Structures.
        $each!(BTreeMap::from([("a", 1)]));
        $each!(BTreeMap::from([(1, "a")]));
        $each!(r#"{"a":1}"#);
        $each!(vec![Some(1), None]);
        $each!(vec![None, Some(1)]);
        $each!(Vec::<u8>::new());
    };
}

async fn case_b14_keys_of_different_parts_never_meet() {
    let cache: Cache<usize> = caches().cache("c").expect("a fresh cache");
    let mut stored = 0;
    macro_rules! store {
        ($key:expr) => {{
            assert_eq!(cache.get(&$key).await, None, "{}", stringify!($key));
            cache
                .insert(&$key, stored)
                .await
                .expect("the key has a text");
            stored += 1;
        }};
    }
    keys_apart!(store);

    let mut read = 0;
    macro_rules! read {
        ($key:expr) => {{
            assert_eq!(cache.get(&$key).await, Some(read), "{}", stringify!($key));
            read += 1;
        }};
    }
    keys_apart!(read);
    assert_eq!(read, stored);

    let texts = key_texts::<usize>("c").await;
    assert_eq!(texts.len(), stored);
    if on_redis() {
        let keys: Vec<_> = texts.iter().map(|text| format!("cache:c:{text}")).collect();
        assert_eq!(value_keys().await, keys);
    }
}

/// The same through functions of one cache, one for each number and type of parameters.
async fn case_b14_arguments_that_differ_never_meet() {
    macro_rules! functions {
        ($($name:ident($($param:ident: $type:ty),*)),+ $(,)?) => {$(
            #[cache_result(cache = "c", manager = caches())]
            async fn $name($($param: $type),*) -> String {
                body("any");
                format!("{:?}", ($($param,)*))
            }
        )+};
    }
    functions! {
        text(a: &str),
        texts(a: &str, b: &str),
        three(a: &str, b: &str, c: &str),
        option(a: Option<&str>),
        option_and_text(a: Option<&str>, b: &str),
        nested(a: Option<Option<u32>>),
        number(a: u32),
        float(a: f64),
        numbers(a: u32, b: u32),
        mixed(a: u32, b: &str),
        list(a: &[&str]),
        list_and_text(a: &[&str], b: &str),
        pair(a: (&str, &str)),
        pair_and_text(a: (&str, &str), b: &str),
        character_and_text(a: char, b: &str),
        flag(a: bool),
    }

    let pairs = [
        ("a:b", "c"),
        ("a", "b:c"),
        ("", "x"),
        ("x", ""),
        ("", ""),
        ("a,b", "c"),
        (r#"a","b"#, "c"),
        ("a\0", "b"),
        ("a", "\0b"),
        ("1", "2"),
        ("null", "x"),
        ("None", "x"),
    ];
    let alone = [
        "",
        "1",
        "1.0",
        "true",
        "null",
        "None",
        "[1,2]",
        r#"["a","b"]"#,
        "{a}",
        "a\nb",
        "é",
        "e\u{301}",
        "default-cache-key",
        "#x",
        "\"1\"",
    ];
    for _ in 0..2 {
        for (a, b) in pairs {
            assert_eq!(texts(a, b).await, format!("{:?}", (a, b)));
        }
        for a in alone {
            assert_eq!(text(a).await, format!("{:?}", (a,)));
        }
        assert_eq!(three("a", "b", "c").await, r#"("a", "b", "c")"#);
        assert_eq!(option(None).await, "(None,)");
        assert_eq!(option_and_text(None, "x").await, r#"(None, "x")"#);
        assert_eq!(nested(Some(None)).await, "(Some(None),)");
        assert_eq!(number(1).await, "(1,)");
        assert_eq!(float(1.0).await, "(1.0,)");
        assert_eq!(float(-0.0).await, "(-0.0,)");
        assert_eq!(float(0.0).await, "(0.0,)");
        assert_eq!(numbers(1, 2).await, "(1, 2)");
        assert_eq!(mixed(1, "2").await, r#"(1, "2")"#);
        assert_eq!(list(&["a,b"]).await, r#"(["a,b"],)"#);
        assert_eq!(list(&[]).await, "([],)");
        assert_eq!(list_and_text(&["a"], "b").await, r#"(["a"], "b")"#);
        assert_eq!(pair_and_text(("a", "b"), "c").await, r#"(("a", "b"), "c")"#);
        assert_eq!(flag(true).await, "(true,)");
        assert_eq!(bodies("any"), 42);
    }

    // What is equal in every part is one key, whatever holds the parts.
    assert_eq!(character_and_text('x', "").await, r#"("x", "")"#);
    assert_eq!(pair(("x", "")).await, r#"("x", "")"#);
    assert_eq!(list(&["x", ""]).await, r#"("x", "")"#);
    assert_eq!(option(Some("1")).await, r#"("1",)"#);
    assert_eq!(bodies("any"), 42);
}

async fn case_b14_name_and_key_cannot_be_shifted_into_each_other() {
    let error = caches()
        .cache::<u8>("a:b")
        .expect_err("a colon ends the name in a stored key");
    assert!(error.to_string().contains("`a:b`"), "{error}");

    // A prefix may hold one. Then two entries can want one place in the store, but neither is ever taken for the other.
    let (short, long) = (stored().prefix("a"), stored().prefix("a:b"));
    with_caches(
        |builder| builder.cache("short", short).cache("long", long),
        async {
            let short: Cache<u8> = caches().cache("short").expect("configured");
            let long: Cache<u8> = caches().cache("long").expect("configured");
            short.insert("b:c", 1).await.expect("stored");
            assert_eq!(long.get("c").await, None);
            long.insert("c", 2).await.expect("stored");
            assert_ne!(short.get("b:c").await, Some(2));
            assert_eq!(long.get("c").await, Some(2));
        },
    )
    .await;
}
