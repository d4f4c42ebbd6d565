//! What a function returns, and what of it is kept.

use std::time::Duration;

use cache_core::{Cache, CacheConfig, CacheManager, cache_put, cache_result};
use tests::{assert_value_keys, bodies, body, both, caches, spawn};

both!(
    case_044_none_is_cached,
    case_046_absent_and_stored_none_differ,
    case_047_err_is_not_cached_and_unchanged,
    case_049_panic_in_the_body,
    traits_of_values_that_panic,
    case_053_result_veto,
    veto_of_a_put_ends_what_is_there,
    result_behind_an_alias_is_a_result,
    value_of_a_result_is_shared_with_functions_that_do_not_fail,
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

/// What a value does when it is cloned or looked at is not the caller's business, as far as the cache does it.
async fn traits_of_values_that_panic() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Touchy(u32);

    impl Clone for Touchy {
        fn clone(&self) -> Self {
            assert_ne!(self.0, 2, "it does not want to be cloned");
            Self(self.0)
        }
    }

    impl serde::Serialize for Touchy {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            assert_ne!(self.0, 3, "it does not want to be looked at");
            serializer.serialize_newtype_struct("Touchy", &self.0)
        }
    }

    #[cache_result(cache = "touchy", key = 1, manager = caches())]
    async fn read(value: u32) -> Touchy {
        Touchy(value)
    }

    #[cache_put(cache = "touchy", key = 1, manager = caches())]
    async fn put(value: u32) -> Touchy {
        Touchy(value)
    }

    assert_eq!(read(1).await, Touchy(1));
    // Whether the put succeeds or panics: what it was to supersede is gone.
    let _ = spawn(put(2)).await;
    assert_ne!(read(4).await, Touchy(1));

    // Whether it is a `None` is looked at, where `None`s are kept for a shorter time.
    let manager = CacheManager::builder()
        .defaults(CacheConfig::memory().none_ttl(Duration::from_secs(1)))
        .build()
        .expect("valid");
    let looked_at = manager.cache::<Touchy>("looked-at").expect("a cache");
    assert_eq!(
        looked_at.get_or_load(&1, async { Touchy(3) }).await,
        Touchy(3)
    );
}
