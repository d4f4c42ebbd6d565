//! What identifies an entry.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Mutex,
};

use cache_core::{Cache, CacheManager, Hashed, cache_invalidate, cache_put, cache_result};
use serde::{Deserialize, Serialize};
use tests::{
    World, assert_value_keys, bodies, body, both, caches, keys_like, on_redis, stored, value_keys,
    with_caches,
};

both!(
    case_004_two_arguments_order_counts,
    case_006_marked_parameters_only,
    case_008_invalidator_with_another_parameter_layout,
    case_009_swapped_key_order_in_the_invalidator_finds_nothing,
    case_011_one_marked_parameter_is_that_argument_itself,
    case_013_none_as_the_only_argument,
    case_014_key_expression_replaces_the_marks,
    case_016_key_expression_may_use_the_functions_own_context,
    case_b14_keys_of_different_parts_never_meet,
    case_b14_arguments_that_differ_never_meet,
    case_b14_texts_are_pinned,
    case_b14_name_and_key_cannot_be_shifted_into_each_other,
    a_tuple_in_a_key_expression_is_several_parts,
    references_and_owned_values_are_the_same_key,
    maps_are_keys_whatever_their_order,
    key_of_a_put_from_its_value,
    key_of_an_invalidation_from_the_value,
    keys_by_hand_are_those_of_the_attributes,
    hashed_parts_are_not_readable,
    hashed_parts_depend_on_the_secret,
    long_keys_become_digests,
    a_key_without_text_goes_past_the_cache,
    the_key_is_made_of_the_arguments_as_they_came,
);

async fn case_004_two_arguments_order_counts() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(a: i64, b: i64) -> String {
        format!("f {a} {b} {}", body("f"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn g(a: i64, b: i64) -> String {
        format!("g {a} {b} {}", body("g"))
    }

    let first = f(1, 2).await;
    assert_eq!(g(1, 2).await, first);
    assert_eq!(g(2, 1).await, "g 2 1 0");
    assert_eq!((bodies("f"), bodies("g")), (1, 1));
    assert_value_keys(&["cache:c:[1,2]", "cache:c:[2,1]"]).await;
}

async fn case_006_marked_parameters_only() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] a: &str, other: &str, #[cache_key] b: &str) -> String {
        format!("{a} {other} {b} {}", body("f"))
    }

    let first = f("hello", "a", "1").await;
    assert_eq!(f("hello", "b", "1").await, first);
    assert_eq!(bodies("f"), 1);
    assert_value_keys(&[r#"cache:c:["hello","1"]"#]).await;
}

async fn case_008_invalidator_with_another_parameter_layout() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] a: &str, #[cache_key] b: u32, x: bool) -> String {
        format!("{a} {b} {x} {}", body("f"))
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(x: char, #[cache_key] a: &str, #[cache_key] b: u32) {
        let _ = (x, a, b);
    }

    f("a1", 1, true).await;
    f("a2", 2, true).await;
    d('x', "a1", 1).await;
    f("a2", 2, false).await;
    assert_eq!(bodies("f"), 2);
    f("a1", 1, false).await;
    assert_eq!(bodies("f"), 3);
}

/// The warning about it is tested in `check_keys.rs`.
async fn case_009_swapped_key_order_in_the_invalidator_finds_nothing() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(a: String, b: i32) -> String {
        format!("{a} {b} {}", body("f"))
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(b: i32, a: String) {
        let _ = (a, b);
    }

    f("a".to_owned(), 1).await;
    d(1, "a".to_owned()).await;
    f("a".to_owned(), 1).await;
    assert_eq!(bodies("f"), 1);
}

async fn case_011_one_marked_parameter_is_that_argument_itself() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] a: i32, b: i32) -> String {
        format!("{a} {b} {}", body("f"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn g(a: i32) -> String {
        format!("{a} {}", body("g"))
    }

    let first = f(5, 1).await;
    assert_eq!(f(5, 2).await, first);
    assert_eq!(g(5).await, first);
    f(1, 5).await;
    f(2, 5).await;
    assert_eq!((bodies("f"), bodies("g")), (3, 0));
    assert_value_keys(&["cache:c:1", "cache:c:2", "cache:c:5"]).await;
}

async fn case_013_none_as_the_only_argument() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: Option<String>) -> String {
        body("f");
        format!("{k:?}")
    }

    assert_eq!(f(None).await, "None");
    assert_eq!(f(None).await, "None");
    assert_eq!(f(Some("null".to_owned())).await, r#"Some("null")"#);
    assert_eq!(f(Some("x".to_owned())).await, r#"Some("x")"#);
    assert_eq!(bodies("f"), 3);
    assert_value_keys(&[r#"cache:c:"null""#, "cache:c:null", "cache:c:x"]).await;
}

async fn case_014_key_expression_replaces_the_marks() {
    fn tenant_key(a: &str) -> String {
        format!("tenant-{a}")
    }

    #[cache_result(cache = "c", key = tenant_key(a), manager = caches())]
    async fn f(a: &str, #[cache_key] b: &str) -> String {
        format!("{a} {b} {}", body("f"))
    }

    let first = f("x", "1").await;
    assert_eq!(f("x", "2").await, first);
    assert_ne!(f("y", "1").await, first);
    assert_eq!(bodies("f"), 2);
    assert_value_keys(&["cache:c:tenant-x", "cache:c:tenant-y"]).await;
}

async fn case_016_key_expression_may_use_the_functions_own_context() {
    struct S {
        tenant: String,
    }

    impl S {
        #[cache_result(cache = "c", key = (&self.tenant, id), manager = caches())]
        async fn by_tenant(&self, id: u32) -> String {
            format!("{} {id} {}", self.tenant, body("by_tenant"))
        }

        #[cache_result(cache = "without", manager = caches())]
        async fn without(&self, id: u32) -> String {
            format!("{} {id} {}", self.tenant, body("without"))
        }
    }

    let tenants = ["t1", "t2"].map(|tenant| S {
        tenant: tenant.to_owned(),
    });
    for s in tenants.iter().chain(&tenants) {
        assert!(s.by_tenant(1).await.starts_with(&s.tenant));
        assert!(s.without(1).await.starts_with("t1"));
    }
    assert_eq!((bodies("by_tenant"), bodies("without")), (2, 1));
    if on_redis() {
        let keys = value_keys().await;
        assert_eq!(
            keys,
            [
                r#"cache:c:["t1",1]"#,
                r#"cache:c:["t2",1]"#,
                "cache:without:1"
            ]
        );
    }
}

#[tokio::test]
async fn case_019_number_keys_and_custom_prefix() {
    World::redis().run(number_keys_and_custom_prefix()).await;
}

async fn number_keys_and_custom_prefix() {
    #[cache_result(cache = "cache2", manager = caches())]
    async fn f(x: f64) -> String {
        format!("{x} {}", body("f"))
    }

    #[cache_result(cache = "plain", manager = caches())]
    async fn g(x: f64) -> String {
        format!("{x} {}", body("g"))
    }

    let prefixed = stored().prefix("dummy");
    with_caches(
        |builder| builder.defaults(stored()).cache("cache2", prefixed),
        async {
            f(1.0).await;
            f(2.0).await;
            f(2.0).await;
            g(1.0).await;
            assert_eq!(bodies("f"), 2);
            assert_eq!(keys_like("dummy:*").await, ["dummy:1.0", "dummy:2.0"]);
            assert_eq!(value_keys().await, ["cache:plain:1.0"]);
        },
    )
    .await;

    let error = CacheManager::builder()
        .cache("a", stored().prefix("dummy"))
        .cache("b", stored().prefix("dummy"))
        .build()
        .expect_err("entries of the two would meet")
        .to_string();
    for word in ["`a`", "`b`", "`dummy`", "{cache-name}"] {
        assert!(error.contains(word), "{error}");
    }
    CacheManager::builder()
        .cache("a", stored().prefix("dummy:{cache-name}"))
        .cache("b", stored().prefix("dummy:{cache-name}"))
        .build()
        .expect("the name tells them apart");
}

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

async fn case_b14_texts_are_pinned() {
    #[derive(Serialize)]
    struct Page {
        number: u32,
        of: Option<&'static str>,
    }

    #[derive(Serialize)]
    enum Filter {
        All,
        Name(&'static str),
        Price { from: u32 },
    }

    let cache: Cache<bool> = caches().cache("c").expect("a fresh cache");
    let mut expected = BTreeSet::new();
    macro_rules! pinned {
        ($($key:expr => $text:expr),+ $(,)?) => {$(
            cache.insert(&$key, true).await.expect("the key has a text");
            expected.insert($text.to_owned());
        )+};
    }
    pinned! {
        () => "default-cache-key",
        42 => "42",
        -7_i64 => "-7",
        u64::MAX => "18446744073709551615",
        1.0 => "1.0",
        1e300 => "1e300",
        true => "true",
        'x' => "x",
        "en" => "en",
        "de-AT" => "de-AT",
        "42" => r#""42""#,
        "null" => r#""null""#,
        "default-cache-key" => r#""default-cache-key""#,
        "" => r#""""#,
        "#tag" => r##""#tag""##,
        "a\tb" => r#""a\tb""#,
        None::<u32> => "null",
        Some(5) => "5",
        (42, "en") => r#"[42,"en"]"#,
        ("42", None::<u32>, true) => r#"["42",null,true]"#,
        [1, 2, 3] => "[1,2,3]",
        Page { number: 3, of: None } => r#"{"number":3,"of":null}"#,
        Filter::All => "All",
        Filter::Name("x") => r#"{"Name":"x"}"#,
        Filter::Price { from: 10 } => r#"{"Price":{"from":10}}"#,
        HashMap::from([("b", 2), ("a", 1)]) => r#"{"a":1,"b":2}"#,
    }
    assert_eq!(key_texts::<bool>("c").await, expected);
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

async fn a_tuple_in_a_key_expression_is_several_parts() {
    #[cache_result(cache = "c", manager = caches())]
    async fn two(a: u32, b: &str) -> String {
        format!("{a} {b} {}", body("two"))
    }

    #[cache_result(cache = "c", key = (id, name.as_str()), manager = caches())]
    async fn expression(name: String, id: u32) -> String {
        format!("{id} {name} {}", body("expression"))
    }

    #[cache_result(cache = "c", key = (a,), manager = caches())]
    async fn one(a: &str) -> String {
        format!("{a} {}", body("one"))
    }

    let first = two(1, "x").await;
    assert_eq!(expression("x".to_owned(), 1).await, first);
    assert_eq!(bodies("expression"), 0);
    one("x").await;
    assert_value_keys(&[r#"cache:c:[1,"x"]"#, "cache:c:x"]).await;
}

async fn references_and_owned_values_are_the_same_key() {
    #[cache_result(cache = "c", manager = caches())]
    async fn owned(name: String, tags: Vec<String>) -> u64 {
        let _ = (name, tags);
        body("owned")
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn borrowed(name: &str, tags: &[&str]) -> u64 {
        let _ = (name, tags);
        body("borrowed")
    }

    owned("n".to_owned(), vec!["a".to_owned()]).await;
    borrowed("n", &["a"]).await;
    assert_eq!((bodies("owned"), bodies("borrowed")), (1, 0));
}

async fn maps_are_keys_whatever_their_order() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(settings: HashMap<String, u32>) -> usize {
        body("f");
        settings.len()
    }

    for _ in 0..5 {
        // Every map hashes with a seed, and so has an order, of its own.
        f((0..20).map(|n| (n.to_string(), n)).collect()).await;
    }
    assert_eq!(bodies("f"), 1);
}

/// A row that gets its identity in the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    id: u32,
    group: String,
}

async fn key_of_a_put_from_its_value() {
    #[cache_put(cache = "c", key_with = |row: &Row| row.id, manager = caches())]
    async fn create(group: &str) -> Result<Row, String> {
        let id = u32::try_from(body("create")).map_err(|error| error.to_string())?;
        if group.is_empty() {
            return Err("a row has a group".to_owned());
        }
        Ok(Row {
            id,
            group: group.to_owned(),
        })
    }

    #[cache_put(cache = "c", key_with = |row: &Row| (&row.group, row.id), manager = caches())]
    async fn create_in_group(row: Row) -> Row {
        row
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn read(id: u32) -> Option<Row> {
        let _ = id;
        body("read");
        None
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn by_id(id: u32) -> Result<Row, String> {
        body("by_id");
        Err(format!("no row {id}"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn in_group(group: &str, id: u32) -> Result<Row, String> {
        body("in_group");
        Err(format!("no row {group} {id}"))
    }

    let row = create("a").await.expect("a group");
    assert_eq!(by_id(row.id).await, Ok(row));
    create("").await.expect_err("no group");
    let row = Row {
        id: 9,
        group: "b".to_owned(),
    };
    create_in_group(row.clone()).await;
    assert_eq!(in_group("b", 9).await, Ok(row));
    assert_eq!((bodies("by_id"), bodies("in_group")), (0, 0));
    assert_value_keys(&["cache:c:0", r#"cache:c:["b",9]"#]).await;

    // Of another value type than the cache's: it goes past the cache.
    assert_eq!(read(0).await, None);
    assert_eq!(bodies("read"), 1);
}

async fn key_of_an_invalidation_from_the_value() {
    #[cache_result(cache = "c", manager = caches())]
    async fn members(group: &str) -> Vec<String> {
        body("members");
        vec![group.to_owned()]
    }

    #[cache_invalidate(cache = "c", key_with = |row: &Row| &row.group, manager = caches())]
    async fn delete(id: u32) -> Result<Row, String> {
        match id {
            1 => Ok(Row {
                id,
                group: "a".to_owned(),
            }),
            _ => Err(format!("no row {id}")),
        }
    }

    members("a").await;
    members("b").await;
    delete(2).await.expect_err("no such row");
    members("a").await;
    members("b").await;
    assert_eq!(bodies("members"), 2);
    delete(1).await.expect("there is one");
    members("b").await;
    assert_eq!(bodies("members"), 2);
    members("a").await;
    assert_eq!(bodies("members"), 3);
}

async fn keys_by_hand_are_those_of_the_attributes() {
    #[cache_result(cache = "none", manager = caches())]
    async fn none() -> u64 {
        body("none")
    }

    #[cache_result(cache = "one", manager = caches())]
    async fn one(k: &str) -> u64 {
        let _ = k;
        body("one")
    }

    #[cache_result(cache = "two", manager = caches())]
    async fn two(k: Option<u32>, more: [&str; 2]) -> u64 {
        let _ = (k, more);
        body("two")
    }

    none().await;
    one("42").await;
    two(None, ["a", "b"]).await;
    let cache = |name| caches().cache::<u64>(name).expect("the functions' type");
    assert_eq!(cache("none").get(&()).await, Some(0));
    assert_eq!(cache("one").get("42").await, Some(0));
    assert_eq!(cache("one").get(&("42",)).await, Some(0));
    assert_eq!(cache("one").get(&42).await, None);
    assert_eq!(cache("two").get(&(None::<u32>, ["a", "b"])).await, Some(0));
    let removed = cache("two").invalidate(&(None::<u32>, ["a", "b"])).await;
    assert!(removed.expect("the backend answers"));
    two(None, ["a", "b"]).await;
    assert_eq!(bodies("two"), 2);
}

async fn hashed_parts_are_not_readable() {
    #[cache_result(cache = "alone", manager = caches())]
    async fn alone(#[cache_key(hash)] token: &str, trace: u32) -> String {
        format!("{} {trace} {}", token.len(), body("alone"))
    }

    #[cache_result(cache = "among", manager = caches())]
    async fn among(#[cache_key(hash)] token: &str, #[cache_key] page: u32) -> String {
        format!("{} {page} {}", token.len(), body("among"))
    }

    #[cache_invalidate(cache = "among", manager = caches())]
    async fn sign_out(#[cache_key(hash)] token: String, #[cache_key] page: u32) {
        let _ = (token, page);
    }

    for token in ["secret-1", "secret-1", "secret-2"] {
        alone(token, 1).await;
        among(token, 7).await;
    }
    assert_eq!((bodies("alone"), bodies("among")), (2, 2));
    let by_hand = caches()
        .cache::<String>("among")
        .expect("the function's type");
    assert!(by_hand.get(&(Hashed("secret-1"), 7)).await.is_some());
    assert!(by_hand.get(&("secret-1", 7)).await.is_none());

    for text in key_texts::<String>("alone").await {
        assert!(is_digest(&text), "{text}");
    }
    for text in key_texts::<String>("among").await {
        let digest = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(",7]"));
        assert!(digest.is_some_and(is_digest), "{text}");
    }
    if on_redis() {
        let keys = keys_like("*").await.concat();
        assert!(!keys.contains("secret"), "{keys}");
    }

    sign_out("secret-1".to_owned(), 7).await;
    among("secret-2", 7).await;
    among("secret-1", 7).await;
    assert_eq!(bodies("among"), 3);
}

async fn hashed_parts_depend_on_the_secret() {
    let mut texts = BTreeSet::new();
    for secret in [None, Some("one"), Some("other"), Some("one")] {
        let caches_with = |builder: cache_core::CacheManagerBuilder| {
            let builder = builder.defaults(stored());
            match secret {
                Some(secret) => builder.key_secret(secret),
                None => builder,
            }
        };
        with_caches(caches_with, async {
            let cache: Cache<u8> = caches().cache("c").expect("a fresh cache");
            cache.insert(&Hashed("token"), 1).await.expect("stored");
            texts.append(&mut key_texts::<u8>("c").await);
        })
        .await;
    }
    assert_eq!(texts.len(), 3);
}

async fn long_keys_become_digests() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(text: &str, n: u32) -> usize {
        body("f");
        text.len() + n as usize
    }

    let long = "x".repeat(1000);
    f(&long, 1).await;
    f(&long, 1).await;
    f(&long, 2).await;
    f(&long[1..], 1).await;
    assert_eq!(bodies("f"), 3);
    let texts = key_texts::<usize>("c").await;
    assert_eq!(texts.len(), 3);
    assert!(texts.iter().all(|text| is_digest(text)), "{texts:?}");
}

async fn a_key_without_text_goes_past_the_cache() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(x: f64) -> u64 {
        let _ = x;
        body("f")
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(x: f64) -> bool {
        x.is_nan()
    }

    f(1.0).await;
    assert_eq!((f(f64::NAN).await, f(f64::NAN).await), (1, 2));
    assert!(d(f64::NAN).await);
    f(1.0).await;
    assert_eq!(bodies("f"), 3);
    assert_eq!(caches().stats()["c"].bypasses, 2);

    let by_hand = caches().cache::<u64>("c").expect("the function's type");
    assert_eq!(by_hand.get(&f64::NAN).await, None);
    let error = by_hand
        .insert(&f64::NAN, 1)
        .await
        .expect_err("there is no key");
    assert!(error.to_string().contains("NaN"), "{error}");
    by_hand
        .invalidate(&f64::NAN)
        .await
        .expect_err("there is no key");
}

async fn the_key_is_made_of_the_arguments_as_they_came() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(mut n: u32, (mut page, size): (u32, u32)) -> u32 {
        body("f");
        n += 1;
        page += 1;
        n + page + size
    }

    assert_eq!(f(1, (2, 3)).await, 8);
    assert_eq!(f(1, (2, 3)).await, 8);
    assert_eq!(bodies("f"), 1);
    assert_value_keys(&["cache:c:[1,[2,3]]"]).await;
}

/// The key texts of the entries of a cache, seen from outside, on any store.
async fn key_texts<V: Clone + Send + Sync + 'static>(cache: &str) -> BTreeSet<String> {
    caches().settle().await;
    let cache: Cache<V> = caches().cache(cache).expect("the type of its values");
    let texts = Mutex::new(BTreeSet::new());
    let ended = cache
        .invalidate_if(|text| {
            let mut texts = texts.lock().expect("nothing panics here");
            texts.insert(text.to_owned());
            false
        })
        .await;
    assert_eq!(ended.expect("the backend answers"), 0);
    texts.into_inner().expect("nothing panics here")
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digest| {
        digest.len() == 43
            && digest
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    })
}
