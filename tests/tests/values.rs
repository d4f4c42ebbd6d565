//! What is stored, and what comes back.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cache_core::{Bincode, Cache, Json, MessagePack, Postcard, cache_put, cache_result};
use serde::{Deserialize, Serialize};
use tests::{
    World, assert_value_keys, bodies, body, both, caches, on_redis, spawn, stored, value_keys,
    with_caches,
};

both!(
    case_044_none_is_cached,
    case_046_absent_and_stored_none_differ,
    case_047_err_is_not_cached_and_unchanged,
    case_049_panic_in_the_body,
    case_053_result_veto,
    veto_of_a_put_ends_what_is_there,
    result_behind_an_alias_is_a_result,
    value_of_a_result_is_shared_with_functions_that_do_not_fail,
    shared_values_are_stored_everywhere,
    values_without_serde_are_kept_in_memory_alone,
    what_a_codec_cannot_carry_is_returned_and_not_stored,
);

async fn case_044_none_is_cached() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> Option<String> {
        body("f");
        (k > 100).then(|| k.to_string())
    }

    #[cache_result(cache = "fallible", manager = caches())]
    async fn g(k: u32) -> Result<Option<String>, String> {
        body("g");
        Ok((k > 100).then(|| k.to_string()))
    }

    for _ in 0..2 {
        assert_eq!(f(1).await, None);
        assert_eq!(g(1).await, Ok(None));
    }
    assert_eq!((bodies("f"), bodies("g")), (1, 1));
    assert_value_keys(&["cache:c:1", "cache:fallible:1"]).await;
    for _ in 0..2 {
        assert_eq!(f(1).await, None);
        assert_eq!(f(101).await.as_deref(), Some("101"));
    }
    assert_eq!(bodies("f"), 2);
}

async fn case_046_absent_and_stored_none_differ() {
    let cache: Cache<Option<String>> = caches().cache("c").expect("a fresh cache");
    assert_eq!(cache.get(&1).await, None);
    cache.insert(&1, None).await.expect("stored");
    assert_eq!(cache.get(&1).await, Some(None));
    let loaded = cache.get_or_load(&1, async { panic!("it is there") }).await;
    assert_eq!(loaded, None);
}

/// It has no trait but the one to be compared by here: nothing is asked of an error.
#[derive(PartialEq)]
struct MyErr {
    code: u32,
    place: Box<str>,
}

async fn case_047_err_is_not_cached_and_unchanged() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> Result<String, MyErr> {
        body("f");
        Err(MyErr {
            code: k,
            place: "here".into(),
        })
    }

    #[cache_result(cache = "boxed", manager = caches())]
    async fn boxed() -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        body("boxed");
        "no number".parse::<u32>()?;
        Ok(String::new())
    }

    for _ in 0..2 {
        let error = f(7).await.expect_err("it fails");
        assert!(error.code == 7 && &*error.place == "here");
        let error = boxed().await.expect_err("it fails");
        assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
    }
    assert_eq!((bodies("f"), bodies("boxed")), (2, 2));
    assert_value_keys(&[]).await;
    caches().settle().await;
    let stats = caches().stats()["c"];
    assert_eq!((stats.loads, stats.load_failures, stats.stores), (2, 2, 0));
}

async fn case_049_panic_in_the_body() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        let runs = body("f");
        assert!(runs > 0, "the first one panics");
        u64::from(k) + runs
    }

    let panic = spawn(f(1)).await.expect_err("the body panics").into_panic();
    assert_eq!(panic.downcast_ref(), Some(&"the first one panics"));
    let again = tokio::time::timeout(Duration::from_secs(1), f(1));
    assert_eq!(again.await, Ok(2));
    assert_eq!(f(1).await, 2);
    assert_eq!(bodies("f"), 2);
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Product {
    id: u64,
    name: String,
    price: Option<Price>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Price {
    cents: i64,
    rate: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Plain,
    Sized(u8, String),
    Other { until: (u16, char) },
}

fn products() -> Vec<Product> {
    let product = |id, price, kind| Product {
        id,
        name: format!("„Nr. {id}“ \"\0\n"),
        price,
        kind,
    };
    vec![
        product(0, None, Kind::Plain),
        product(
            u64::MAX,
            Some(Price {
                cents: i64::MIN,
                rate: 0.1,
            }),
            Kind::Sized(9, "L".to_owned()),
        ),
        product(
            7,
            None,
            Kind::Other {
                until: (2038, 'ß')
            },
        ),
    ]
}

#[tokio::test]
async fn case_051_struct_through_redis() {
    World::redis().run(struct_through_redis()).await;
}

async fn struct_through_redis() {
    #[cache_result(cache = "default", manager = caches())]
    async fn default(index: usize) -> Product {
        body("default");
        products().swap_remove(index)
    }

    #[cache_result(cache = "bincode", manager = caches())]
    async fn bincode(index: usize) -> Product {
        body("bincode");
        products().swap_remove(index)
    }

    #[cache_result(cache = "json", manager = caches())]
    async fn json(index: usize) -> Product {
        body("json");
        products().swap_remove(index)
    }

    #[cache_result(cache = "postcard", manager = caches())]
    async fn postcard(index: usize) -> Product {
        body("postcard");
        products().swap_remove(index)
    }

    #[cache_result(cache = "message-pack", manager = caches())]
    async fn message_pack(index: usize) -> Product {
        body("message_pack");
        products().swap_remove(index)
    }

    let configure = |builder: cache_core::CacheManagerBuilder| {
        builder
            .defaults(stored())
            .cache("bincode", stored().codec(Bincode))
            .cache("json", stored().codec(Json))
            .cache("postcard", stored().codec(Postcard))
            .cache("message-pack", stored().codec(MessagePack))
    };
    with_caches(configure, async {
        for _ in 0..2 {
            for (index, product) in products().into_iter().enumerate() {
                assert_eq!(default(index).await, product);
                assert_eq!(bincode(index).await, product);
                assert_eq!(json(index).await, product);
                assert_eq!(postcard(index).await, product);
                assert_eq!(message_pack(index).await, product);
            }
            caches().settle().await; // the next round reads what is in Redis
        }
        for name in ["default", "bincode", "json", "postcard", "message_pack"] {
            assert_eq!(bodies(name), 3, "{name}");
        }
        for (index, product) in products().iter().enumerate() {
            let stored = raw(&format!("cache:json:{index}")).await;
            let json = serde_json::to_vec(product).expect("a plain struct");
            assert!(stored.starts_with(&json), "{stored:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn case_052_collections_and_nested_generics() {
    World::redis().run(collections_and_nested_generics()).await;
}

async fn collections_and_nested_generics() {
    #[cache_result(cache = "strings", manager = caches())]
    async fn strings() -> Vec<String> {
        body("strings");
        vec!["a".to_owned(), String::new(), "ß".to_owned()]
    }

    #[cache_result(cache = "array", manager = caches())]
    async fn array() -> [i32; 3] {
        body("array");
        [i32::MIN, 0, i32::MAX]
    }

    #[cache_result(cache = "nested", manager = caches())]
    async fn nested() -> Vec<HashMap<String, Vec<u8>>> {
        body("nested");
        vec![
            HashMap::from([("a".to_owned(), vec![0, 255]), ("b".to_owned(), Vec::new())]),
            HashMap::new(),
        ]
    }

    #[cache_result(cache = "tuple", manager = caches())]
    async fn tuple() -> (u8, Option<Box<str>>, Result<bool, String>, Duration) {
        body("tuple");
        (1, None, Err("kept".to_owned()), Duration::from_millis(1500))
    }

    let first = (
        strings().await,
        array().await,
        nested().await,
        tuple().await,
    );
    caches().settle().await;
    assert_eq!(strings().await, first.0);
    assert_eq!(array().await, first.1);
    assert_eq!(nested().await, first.2);
    assert_eq!(tuple().await, first.3);
    for name in ["strings", "array", "nested", "tuple"] {
        assert_eq!(bodies(name), 1, "{name}");
    }
    assert_eq!(
        value_keys().await,
        ["array", "nested", "strings", "tuple"]
            .map(|name| format!("cache:{name}:default-cache-key"))
    );
}

async fn case_053_result_veto() {
    #[cache_result(cache = "c", store_if = |v: &Vec<_>| !v.is_empty(), manager = caches())]
    async fn f(n: usize) -> Vec<u8> {
        body("f");
        vec![7; n]
    }

    #[cache_result(cache = "path", store_if = Option::is_some, manager = caches())]
    async fn path(n: usize) -> Result<Option<u8>, String> {
        body("path");
        Ok((n > 0).then_some(7))
    }

    for n in [0, 0] {
        assert!(f(n).await.is_empty());
        assert_eq!(path(n).await, Ok(None));
        assert_value_keys(&[]).await;
    }
    assert_eq!((bodies("f"), bodies("path")), (2, 2));
    for n in [1, 1] {
        assert_eq!(f(n).await, [7]);
        assert_eq!(path(n).await, Ok(Some(7)));
    }
    assert_eq!((bodies("f"), bodies("path")), (3, 3));
    assert_value_keys(&["cache:c:1", "cache:path:1"]).await;
}

async fn veto_of_a_put_ends_what_is_there() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u32 {
        body("f");
        k
    }

    #[cache_put(cache = "c", key = k, store_if = |v: &u32| *v > 0, manager = caches())]
    async fn put(k: u32, value: u32) -> u32 {
        let _ = k;
        value
    }

    assert_eq!(put(1, 10).await, 10);
    assert_eq!(f(1).await, 10);
    assert_eq!(put(1, 0).await, 0);
    assert_eq!(f(1).await, 1);
    assert_eq!(bodies("f"), 1);
}

type Lookup<T> = Result<T, &'static str>;

mod named {
    pub(super) type Answer = std::io::Result<Vec<u8>>;
}

async fn result_behind_an_alias_is_a_result() {
    #[cache_result(cache = "lookup", manager = caches())]
    async fn lookup(k: u32) -> Lookup<u32> {
        body("lookup");
        if k == 0 { Err("zero") } else { Ok(k) }
    }

    #[cache_result(cache = "answer", manager = caches())]
    async fn answer(k: u8) -> named::Answer {
        body("answer");
        if k == 0 {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        Ok(vec![k])
    }

    for _ in 0..2 {
        assert_eq!(lookup(0).await, Err("zero"));
        assert_eq!(lookup(1).await, Ok(1));
        assert_eq!(
            answer(0).await.map_err(|error| error.kind()),
            Err(std::io::ErrorKind::NotFound)
        );
        assert_eq!(answer(1).await.expect("it is there"), [1]);
    }
    assert_eq!((bodies("lookup"), bodies("answer")), (3, 3));
    let handle: Cache<u32> = caches().cache("lookup").expect("the value, not the result");
    assert_eq!(handle.get(&1).await, Some(1));
}

async fn value_of_a_result_is_shared_with_functions_that_do_not_fail() {
    #[cache_result(cache = "c", manager = caches())]
    async fn fallible(k: u32) -> Result<String, MyErr> {
        body("fallible");
        Ok(format!("fallible {k}"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn plain(k: u32) -> String {
        body("plain");
        format!("plain {k}")
    }

    assert!(fallible(1).await.is_ok_and(|value| value == "fallible 1"));
    assert_eq!(plain(1).await, "fallible 1");
    assert_eq!(plain(2).await, "plain 2");
    assert!(fallible(2).await.is_ok_and(|value| value == "plain 2"));
    assert_eq!((bodies("fallible"), bodies("plain")), (1, 1));
}

async fn shared_values_are_stored_everywhere() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f() -> Arc<Vec<Product>> {
        body("f");
        Arc::new(products())
    }

    let first = f().await;
    caches().settle().await;
    let (second, third) = (f().await, f().await);
    assert_eq!(bodies("f"), 1);
    assert_eq!(*first, *second);
    assert_eq!(*first, *third);
    // In memory a hit is a reference count.
    assert_eq!(Arc::ptr_eq(&second, &third), !on_redis());
}

/// Neither `Serialize` nor `Debug`.
#[derive(Clone)]
struct Compiled {
    run: Arc<dyn Fn(u32) -> u32 + Send + Sync>,
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.run)(1).fmt(f)
    }
}

async fn values_without_serde_are_kept_in_memory_alone() {
    #[cache_result(cache = "c", manager = caches())]
    async fn compile(plus: u32) -> Result<Compiled, MyErr> {
        body("compile");
        Ok(Compiled {
            run: Arc::new(move |n| n + plus),
        })
    }

    for _ in 0..2 {
        assert!(
            compile(1)
                .await
                .is_ok_and(|compiled| compiled.to_string() == "2")
        );
    }
    // A store that cannot take it is gone past; the function is none the worse for it.
    let (runs, bypasses) = if on_redis() { (2, 2) } else { (1, 0) };
    assert_eq!(bodies("compile"), runs);
    assert_eq!(caches().stats()["c"].bypasses, bypasses);
    assert_value_keys(&[]).await;

    let by_hand: Cache<Compiled> = caches().cache("c").expect("the function's type");
    assert_eq!(by_hand.get(&1).await.is_some(), !on_redis());
    let inserted = by_hand
        .insert(
            &2,
            Compiled {
                run: Arc::new(|n| n),
            },
        )
        .await;
    assert_eq!(inserted.is_ok(), !on_redis());
    assert_eq!(by_hand.get(&2).await.is_some(), !on_redis());
}

async fn what_a_codec_cannot_carry_is_returned_and_not_stored() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> (f64, Option<Option<u32>>) {
        body("f");
        match k {
            0 => (f64::NAN, None),
            1 => (0.0, Some(None)),
            _ => (0.0, Some(Some(k))),
        }
    }

    let json = stored().codec(Json);
    with_caches(|builder| builder.cache("c", json), async {
        for _ in 0..2 {
            assert!(f(0).await.0.is_nan());
            assert_eq!(f(1).await.1, Some(None));
            assert_eq!(f(2).await.1, Some(Some(2)));
            caches().settle().await;
        }
        assert_value_keys(&["cache:c:2"]).await;
        let (runs, failures) = if on_redis() { (5, 4) } else { (3, 0) };
        assert_eq!(bodies("f"), runs);
        assert_eq!(caches().stats()["c"].store_failures, failures);
    })
    .await;
}

#[tokio::test]
async fn case_059_undecodable_entry() {
    World::redis().run(undecodable_entry()).await;
}

async fn undecodable_entry() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> Price {
        body("f");
        Price {
            cents: i64::from(k),
            rate: 0.5,
        }
    }

    let json = stored().codec(Json);
    with_caches(|builder| builder.cache("c", json), async {
        let valid = {
            f(0).await;
            caches().settle().await;
            raw("cache:c:0").await
        };
        let planted: Vec<Vec<u8>> = vec![
            b"{broken".to_vec(),
            br#"{"cents":1}"#.to_vec(),
            br#"{"cents":1,"rate":0.5}"#.to_vec(),
            b"".to_vec(),
            valid[..valid.len() - 1].to_vec(),
            [&valid[..], b" "].concat(),
            // Of another key: right in itself, but not what was asked for.
            valid,
        ];
        for (k, bytes) in (1..).zip(&planted) {
            let decode_failures = caches().stats()["c"].decode_failures;
            let runs = bodies("f");
            ::redis::cmd("SET")
                .arg(format!("cache:c:{k}"))
                .arg(bytes)
                .exec_async(&mut tests::redis().await)
                .await
                .expect("the server answers");
            assert_eq!(f(k).await.cents, i64::from(k));
            caches().settle().await;
            let overwritten = raw(&format!("cache:c:{k}")).await;
            let begin = format!(r#"{{"cents":{k},"rate":0.5}}"#);
            assert!(overwritten.starts_with(begin.as_bytes()), "{overwritten:?}");
            assert_eq!(f(k).await.cents, i64::from(k));
            assert_eq!(bodies("f"), runs + 1);
            assert_eq!(caches().stats()["c"].decode_failures, decode_failures + 1);
        }
    })
    .await;
}

mod before {
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub(super) struct User {
        pub(super) name: String,
    }
}

mod after {
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub(super) struct User {
        pub(super) name: String,
        pub(super) age: Option<u8>,
    }
}

/// Two versions of a service share keys; what one of them stored is no value to the other.
#[tokio::test]
async fn case_059_entry_of_another_version_of_the_type() {
    World::redis().run(entry_of_another_version()).await;
}

async fn entry_of_another_version() {
    #[cache_result(cache = "c", manager = caches())]
    async fn old(k: u32) -> before::User {
        body("old");
        before::User {
            name: k.to_string(),
        }
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn new(k: u32) -> after::User {
        body("new");
        after::User {
            name: k.to_string(),
            age: Some(30),
        }
    }

    let config = |json: bool| {
        if json { stored().codec(Json) } else { stored() }
    };
    for json in [false, true] {
        let (olds, news) = (bodies("old"), bodies("new"));
        with_caches(|builder| builder.defaults(config(json)), async {
            old(1).await;
            caches().settle().await;
        })
        .await;
        with_caches(|builder| builder.defaults(config(json)), async {
            assert_eq!(new(1).await.age, Some(30));
            caches().settle().await;
            assert_eq!(new(1).await.age, Some(30));
            assert_eq!(caches().stats()["c"].decode_failures, 1);
        })
        .await;
        with_caches(|builder| builder.defaults(config(json)), async {
            assert_eq!(old(1).await.name, "1");
            caches().settle().await;
            // An invalidation by one ends the other's entries too.
            let handle: Cache<before::User> = caches().cache("c").expect("the type");
            assert!(handle.invalidate(&1).await.expect("answered"));
        })
        .await;
        assert_eq!((bodies("old"), bodies("new")), (olds + 2, news + 1));
        assert_eq!(value_keys().await, [""; 0]);
    }
}

/// A body that panics while others wait leaves the key to them.
#[tokio::test]
async fn case_049_panic_with_others_waiting() {
    World::memory().run(panic_with_others_waiting()).await;
}

async fn panic_with_others_waiting() {
    #[cache_result(cache = "c", key = (), manager = caches())]
    async fn f(first: Arc<AtomicBool>) -> u64 {
        let runs = body("f");
        if first.swap(false, Ordering::SeqCst) {
            tokio::task::yield_now().await; // the others come
            panic!("the first one panics");
        }
        runs
    }

    let first = Arc::new(AtomicBool::new(true));
    let mut callers = (0..10)
        .map(|_| spawn(f(Arc::clone(&first))))
        .collect::<Vec<_>>();
    let leader = callers.remove(0);
    leader.await.expect_err("the body panics");
    for caller in callers {
        assert_eq!(caller.await.expect("it is no panic of theirs"), 1);
    }
    assert_eq!(bodies("f"), 2);
}

/// The bytes under a key of the server.
async fn raw(key: &str) -> Vec<u8> {
    ::redis::cmd("GET")
        .arg(key)
        .query_async(&mut tests::redis().await)
        .await
        .expect("the server answers")
}
