//! When a body runs and when it does not.

use std::time::Duration;

use cache_core::{
    CacheConfig, CacheManager, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
};
use tests::{advance, assert_value_keys, bodies, body, both, caches, stored};

both!(
    case_001_same_argument_twice,
    case_003_no_argument,
    case_042_nothing_happens_before_the_first_poll,
    case_055_condition_on_arguments,
    condition_of_a_put_and_of_an_invalidation,
    condition_is_asked_before_the_body,
    nothing_is_asked_of_what_goes_past_the_cache,
    entries_live_as_long_as_the_attribute_says,
    settings_of_the_cache_outrank_the_attribute,
    every_call_has_one_outcome,
    a_function_without_its_cache_still_runs,
);

async fn case_001_same_argument_twice() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: &str) -> String {
        format!("{k} {}", body("f"))
    }

    let first = f("en").await;
    assert_eq!(f("en").await, first);
    assert_eq!(bodies("f"), 1);
    assert_value_keys(&["cache:c:en"]).await;
}

async fn case_003_no_argument() {
    #[cache_result(cache = "store-products-catalog", manager = caches())]
    async fn all() -> Vec<u64> {
        vec![1, body("all")]
    }

    assert_eq!(all().await, all().await);
    assert_eq!(bodies("all"), 1);
    assert_value_keys(&["cache:store-products-catalog:default-cache-key"]).await;
}

async fn case_042_nothing_happens_before_the_first_poll() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        body("f") + u64::from(k)
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(k: u32) {
        body("d");
        let _ = k;
    }

    let (unused_reader, unused_invalidator) = (f(1), d(1));
    let invalidator = d(1);
    assert_eq!((bodies("f"), bodies("d")), (0, 0));

    f(1).await;
    assert_eq!(bodies("f"), 1);
    f(1).await;
    assert_eq!(
        bodies("f"),
        1,
        "a future that is not awaited removes nothing"
    );

    invalidator.await;
    f(1).await;
    assert_eq!((bodies("f"), bodies("d")), (2, 1));

    drop((unused_reader, unused_invalidator));
    f(1).await;
    assert_eq!(
        (bodies("f"), bodies("d")),
        (2, 1),
        "dropping what was never polled is no interruption"
    );
}

async fn case_055_condition_on_arguments() {
    #[cache_result(cache = "c", condition = n == 3, manager = caches())]
    async fn f(n: u32) -> (u32, u64) {
        (n, body("f"))
    }

    f(4).await;
    f(4).await;
    assert_eq!(bodies("f"), 2);
    assert_value_keys(&[]).await;
    let by_hand = caches()
        .cache::<(u32, u64)>("c")
        .expect("the function's type");
    assert_eq!(by_hand.get(&4).await, None);

    assert_eq!(f(3).await, f(3).await);
    assert_eq!(bodies("f"), 3);
    assert_value_keys(&["cache:c:3"]).await;
    // The two for 4; asking by hand was a miss.
    assert_eq!(caches().stats()["c"].bypasses, 2);
}

async fn condition_of_a_put_and_of_an_invalidation() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u32 {
        body("f");
        k
    }

    #[cache_put(cache = "c", key = k, condition = really, manager = caches())]
    async fn put(k: u32, really: bool) -> u32 {
        body("put");
        let _ = really;
        k + 100
    }

    #[cache_invalidate(cache = "c", key = k, condition = really, manager = caches())]
    async fn remove(k: u32, really: bool) {
        body("remove");
        let _ = (k, really);
    }

    #[cache_invalidate_all(cache = "c", condition = really, manager = caches())]
    async fn clear(really: bool) {
        body("clear");
        let _ = really;
    }

    f(1).await;
    put(1, false).await;
    assert_eq!(f(1).await, 1);
    put(1, true).await;
    assert_eq!(f(1).await, 101);
    remove(1, false).await;
    assert_eq!(f(1).await, 101);
    clear(false).await;
    assert_eq!(f(1).await, 101);
    remove(1, true).await;
    assert_eq!(f(1).await, 1);
    put(1, true).await;
    clear(true).await;
    assert_eq!(f(1).await, 1);
    assert_eq!(bodies("f"), 3);
    assert_eq!(
        (bodies("put"), bodies("remove"), bodies("clear")),
        (3, 2, 2)
    );
}

/// Something that no cache may touch.
#[derive(Debug)]
struct Untouchable;

impl Clone for Untouchable {
    fn clone(&self) -> Self {
        panic!("nobody is to have it too")
    }
}

async fn nothing_is_asked_of_what_goes_past_the_cache() {
    fn no_key(_: &u32) -> u32 {
        panic!("it has no key")
    }

    #[cache_result(
        cache = "c",
        condition = false,
        store_if = |_: &u32| panic!("it is not stored"),
        ttl_with = |_: &u32| panic!("it is not stored"),
        manager = caches()
    )]
    async fn read(k: u32) -> Result<u32, Untouchable> {
        if k == 0 { Err(Untouchable) } else { Ok(k) }
    }

    #[cache_result(cache = "c", condition = false, manager = caches())]
    async fn read_plainly(k: u32) -> Result<u32, Untouchable> {
        if k == 0 { Err(Untouchable) } else { Ok(k) }
    }

    #[cache_put(
        cache = "c",
        condition = false,
        store_if = |_: &u32| panic!("it is not stored"),
        ttl_with = |_: &u32| panic!("it is not stored"),
        key_with = no_key,
        manager = caches()
    )]
    async fn write(k: u32) -> Result<u32, Untouchable> {
        if k == 0 { Err(Untouchable) } else { Ok(k) }
    }

    for k in [0, 1] {
        assert_eq!(read(k).await.is_ok(), k == 1);
        assert_eq!(read_plainly(k).await.is_ok(), k == 1);
        assert_eq!(write(k).await.is_ok(), k == 1);
    }
}

#[tokio::test]
async fn nothing_is_asked_for_a_cache_that_is_disabled() {
    fn asked<T>() -> T {
        panic!("it is not used")
    }

    #[derive(serde::Serialize)]
    struct Argument(#[serde(serialize_with = "unasked")] u32);

    fn unasked<S>(_: &u32, _: S) -> Result<S::Ok, S::Error>
    where
        S: serde::Serializer,
    {
        asked()
    }

    #[cache_result(cache = "c", store_if = |_| asked(), ttl_with = |_| asked(), manager = caches)]
    async fn read(#[cache_key] argument: Argument, caches: &CacheManager) -> u32 {
        argument.0
    }

    #[cache_result(cache = "c", key = asked::<u32>(), manager = caches)]
    async fn read_key(k: u32, caches: &CacheManager) -> u32 {
        k
    }

    #[cache_put(cache = "c", key_with = |_| asked::<u32>(), manager = caches)]
    async fn write(k: u32, caches: &CacheManager) -> u32 {
        k
    }

    #[cache_invalidate(cache = "c", key_with = |_| asked::<u32>(), invalidate_if = |_| asked(), manager = caches)]
    async fn change(k: u32, caches: &CacheManager) -> u32 {
        k
    }

    #[cache_invalidate(cache = "c", key = asked::<u32>(), when = "before", manager = caches)]
    async fn change_key(k: u32, caches: &CacheManager) -> u32 {
        k
    }

    #[cache_invalidate_all(cache = "c", invalidate_if = |_| asked(), manager = caches)]
    async fn change_all(k: u32, caches: &CacheManager) -> u32 {
        k
    }

    let off = &CacheManager::builder()
        .cache("c", CacheConfig::disabled())
        .build()
        .unwrap();
    assert_eq!(read(Argument(7), off).await, 7);
    assert_eq!(read_key(7, off).await, 7);
    assert_eq!(write(7, off).await, 7);
    assert_eq!(change(7, off).await, 7);
    assert_eq!(change_key(7, off).await, 7);
    assert_eq!(change_all(7, off).await, 7);
    let stats = off.cache::<u32>("c").unwrap().stats();
    assert_eq!((stats.bypasses, stats.misses), (2, 0));
}

async fn condition_is_asked_before_the_body() {
    #[cache_result(cache = "c", key = "k", condition = list.is_empty(), manager = caches())]
    async fn f(mut list: Vec<u32>) -> usize {
        body("f");
        list.push(1);
        list.len()
    }

    f(Vec::new()).await;
    f(Vec::new()).await;
    assert_eq!(bodies("f"), 1);
    f(vec![1]).await;
    f(vec![1]).await;
    assert_eq!(bodies("f"), 3);
}

async fn entries_live_as_long_as_the_attribute_says() {
    #[cache_result(cache = "literal", ttl = "1500ms", manager = caches())]
    async fn literal() -> u64 {
        body("literal")
    }

    #[cache_result(cache = "expression", ttl = Duration::from_secs(seconds), manager = caches())]
    async fn expression(seconds: u64) -> u64 {
        body("expression") + seconds
    }

    #[cache_result(
        cache = "from-value",
        ttl_with = |seconds: &u64| Duration::from_secs(*seconds),
        manager = caches()
    )]
    async fn from_value(seconds: u64) -> u64 {
        body("from_value");
        seconds
    }

    let call = async || {
        literal().await;
        expression(60).await;
        from_value(60).await;
        from_value(100_000).await;
        from_value(0).await;
        (
            bodies("literal"),
            bodies("expression"),
            bodies("from_value"),
        )
    };
    assert_eq!(call().await, (1, 1, 3));
    assert_eq!(call().await, (1, 1, 4), "a ttl of zero stores nothing");
    advance(Duration::from_millis(1600)).await;
    assert_eq!(call().await, (2, 1, 5));
    advance(Duration::from_secs(60)).await;
    assert_eq!(call().await, (3, 2, 7));
    // The framework's five minutes are the limit of what a value may ask for.
    advance(Duration::from_secs(240)).await;
    assert_eq!(call().await, (4, 3, 10));
}

async fn settings_of_the_cache_outrank_the_attribute() {
    #[cache_result(cache = "c", ttl = "1s", manager = caches())]
    async fn f() -> u64 {
        body("f")
    }

    let long = stored().ttl(Duration::from_secs(60));
    tests::with_caches(|builder| builder.cache("c", long), async {
        f().await;
        advance(Duration::from_secs(30)).await;
        f().await;
        assert_eq!(bodies("f"), 1);
    })
    .await;
}

async fn every_call_has_one_outcome() {
    #[cache_result(cache = "c", condition = k != 9, manager = caches())]
    async fn f(k: u32) -> Result<u32, String> {
        body("f");
        if k == 7 {
            Err("seven".to_owned())
        } else {
            Ok(k)
        }
    }

    for k in [1, 1, 1, 2, 7, 7, 9] {
        let _ = f(k).await;
    }
    caches().settle().await;
    let stats = caches().stats()["c"];
    assert_eq!(
        (stats.hits, stats.misses, stats.coalesced, stats.bypasses),
        (2, 4, 0, 1)
    );
    assert_eq!((stats.loads, stats.load_failures, stats.stores), (4, 2, 2));
}

async fn a_function_without_its_cache_still_runs() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f() -> u64 {
        body("f")
    }

    tests::with_caches(
        |builder| builder.cache("c", CacheConfig::disabled()),
        async {
            assert_eq!((f().await, f().await), (0, 1));
        },
    )
    .await;
}
