//! Settings: what is effective, and what `build` refuses.

use std::time::Duration;

use cache_core::{
    CacheConfig, CacheManager, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
};
use tests::{
    World, advance, assert_says, assert_value_keys, bodies, body, both, caches, keys_like,
    on_redis, redis, stored, value_keys, with_caches,
};

both!(case_080_switched_off);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn case_079_settings_of_one_cache_and_defaults() {
    let caches = CacheManager::builder()
        .defaults(CacheConfig::memory().max_capacity(100))
        .cache("a", CacheConfig::memory().ttl(Duration::from_secs(30)))
        .cache("b", CacheConfig::memory().max_capacity(5).ttl(4 * DAY))
        .build()
        .expect("the configuration is valid");
    let effective = |name| {
        let cache = caches.cache::<u64>(name).expect("a valid name");
        (cache.config().max_capacity, cache.config().ttl)
    };
    assert_eq!(effective("a"), (100, Some(Duration::from_secs(30))));
    assert_eq!(effective("b"), (5, Some(4 * DAY)));
    assert_eq!(effective("unnamed"), (100, Some(Duration::from_secs(300))));

    let table = caches.effective();
    let line = |start: &str| {
        table
            .lines()
            .find(|line| line.starts_with(start))
            .expect(start)
    };
    assert_says(line("a: memory"), &["ttl 30s", "max_capacity 100"]);
    assert_says(line("b: memory"), &["ttl 345600s", "max_capacity 5"]);
    assert_says(line("unnamed: memory"), &["ttl 300s", "max_capacity 100"]);
    assert_eq!(caches.names(), ["a", "b", "unnamed"]);
}

#[tokio::test]
async fn case_079_an_attribute_stands_between_the_defaults_and_the_settings_of_the_cache() {
    #[cache_result(cache = "plain", ttl = "1h", manager = caches())]
    async fn plain(_k: u8) -> u64 {
        body("plain")
    }

    #[cache_result(cache = "own", ttl = "1h", manager = caches())]
    async fn own(_k: u8) -> u64 {
        body("own")
    }

    let minute = Duration::from_secs(60);
    World::memory()
        .run(with_caches(
            |builder| {
                builder
                    .defaults(CacheConfig::memory().ttl(2 * minute))
                    .cache("own", CacheConfig::memory().ttl(minute))
            },
            async {
                plain(1).await;
                own(1).await;
                advance(minute).await;
                assert_eq!((plain(1).await, own(1).await), (0, 1));
                advance(58 * minute).await;
                assert_eq!(plain(1).await, 0);
                advance(minute).await;
                assert_eq!(plain(1).await, 1);
            },
        ))
        .await;
}

async fn case_080_switched_off() {
    #[cache_result(cache = "off", manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    #[cache_result(cache = "off", manager = caches())]
    async fn fail(_k: u8) -> Result<u64, String> {
        Err(format!("run {}", body("fail")))
    }

    #[cache_result(cache = "off", manager = caches())]
    async fn panics(_k: u8) -> u64 {
        panic!("as this test wants it")
    }

    #[cache_put(cache = "off", manager = caches())]
    async fn put(_k: u8) -> u64 {
        body("put")
    }

    #[cache_invalidate(cache = "off", manager = caches())]
    #[cache_invalidate_all(cache = "off", manager = caches())]
    async fn write(_k: u8) -> Result<u8, String> {
        Ok(3)
    }

    let (defaults, own) = (stored(), CacheConfig::disabled());
    let before = connections_received().await;
    with_caches(
        |builder| builder.defaults(defaults).cache("off", own),
        async move {
            assert_eq!((f(1).await, f(1).await), (0, 1));
            assert_eq!(fail(1).await, Err("run 0".to_owned()));
            assert_eq!(fail(1).await, Err("run 1".to_owned()));
            assert_eq!(put(1).await, 0);
            assert_eq!(write(1).await, Ok(3));
            assert_eq!(f(1).await, 2);
            assert!(
                tests::spawn(panics(1))
                    .await
                    .is_err_and(|error| error.is_panic())
            );

            let cache = caches().cache::<u64>("off").expect("a valid name");
            cache
                .insert(&1, 9)
                .await
                .expect("nothing to be done is no error");
            assert_eq!(cache.get(&1).await, None);
            assert_eq!(cache.get_or_load(&1, async { 8 }).await, 8);
            assert_eq!(cache.invalidate(&1).await.ok(), Some(false));
            assert!(cache.invalidate_all().await.is_ok());
            assert_eq!(cache.invalidate_if(|_| true).await.ok(), Some(0));

            caches().settle().await;
            assert_eq!(cache.stats().bypasses, 8);
            assert_eq!((cache.stats().loads, cache.stats().stores), (0, 0));
            // The one more is that of the question itself.
            let after = connections_received().await;
            assert_eq!(after, before.map(|before| before + 1));
            assert_value_keys(&[]).await;
        },
    )
    .await;
    assert_eq!(bodies("f"), 3);
}

/// How many connections the world's server has seen, if there is one.
async fn connections_received() -> Option<u64> {
    if !on_redis() {
        return None;
    }
    let info: String = ::redis::cmd("INFO")
        .arg("stats")
        .query_async(&mut redis().await)
        .await
        .expect("the server answers");
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("total_connections_received:"));
    Some(line.expect("INFO says so").parse().expect("a number"))
}

#[tokio::test]
async fn case_082_key_prefixes() {
    #[cache_result(cache = "foo", manager = caches())]
    async fn f(_k: &str) -> u64 {
        body("f")
    }

    async fn with(config: CacheConfig) -> Vec<String> {
        with_caches(|builder| builder.cache("foo", config), async {
            let runs = bodies("f");
            assert_eq!((f("keyname").await, f("keyname").await), (runs, runs));
            value_keys().await
        })
        .await
    }

    World::redis()
        .run(async {
            assert_eq!(with(stored()).await, ["cache:foo:keyname"]);
            with(stored().prefix("my-prefix")).await;
            assert_eq!(keys_like("my-prefix*").await, ["my-prefix:keyname"]);
            with(stored().prefix("other-prefix:{cache-name}")).await;
            assert_eq!(
                keys_like("other-prefix*").await,
                ["other-prefix:foo:keyname"]
            );
        })
        .await;
}

#[test]
fn a_handle_of_another_type_is_refused() {
    let caches = CacheManager::builder()
        .cache("declared", CacheConfig::memory().value_type::<u64>())
        .build()
        .expect("the configuration is valid");
    let refused = caches.cache::<String>("declared").map(drop).unwrap_err();
    assert_says(&refused.to_string(), &["`declared`", "`u64`", "String`"]);
    assert!(caches.cache::<u64>("declared").is_ok());
    assert!(caches.cache::<u64>("first").is_ok());
    let refused = caches.cache::<i64>("first").map(drop).unwrap_err();
    assert_says(&refused.to_string(), &["`first`", "`u64`", "`i64`"]);
}

#[tokio::test]
async fn a_function_of_another_type_goes_past_the_cache() {
    #[cache_result(cache = "c", manager = caches())]
    async fn number(_k: u8) -> u64 {
        body("number")
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn text(_k: u8) -> String {
        format!("text {}", body("text"))
    }

    World::memory()
        .run(async {
            number(1).await;
            assert_eq!(text(1).await, "text 0");
            assert_eq!(text(1).await, "text 1");
            assert_eq!(number(1).await, 0);
            assert_eq!(caches().stats()["c"].bypasses, 2);
        })
        .await;
}
