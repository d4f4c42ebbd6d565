//! How long entries live.

use std::time::Duration;

use cache_core::{CacheConfig, cache_result};
use tests::{
    World, advance, bodies, body, both, caches, on_redis, redis, stored, value_keys, with_caches,
};

both!(
    case_072_an_entry_lives_as_long_as_its_ttl,
    case_072_part_of_a_second_is_kept,
    case_074_a_hit_does_not_extend_the_life,
    case_076_an_entry_inserted_with_a_ttl_of_its_own,
    case_076_a_ttl_from_the_value,
    case_076_an_entry_never_outlives_the_ttl_of_its_cache,
    case_073_without_a_ttl_entries_stay,
    case_b18_every_ttl_means_the_same_everywhere,
);

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

async fn case_b18_every_ttl_means_the_same_everywhere() {
    #[cache_result(cache = "c", ttl_with = |_: &u64| ttl, manager = caches())]
    async fn f(#[cache_key] _k: u8, ttl: Duration) -> u64 {
        body("f")
    }

    let cases = [
        // Less than a millisecond is not kept, and never for ever.
        (Duration::ZERO, None),
        (Duration::from_nanos(1), None),
        (Duration::from_micros(999), None),
        (ms(250), Some(ms(250))),
        (ms(1500), Some(ms(1500))),
        // Never longer than the cache's own five minutes.
        (s(30 * 24 * 3600), Some(s(300))),
        (Duration::MAX, Some(s(300))),
    ];
    for (k, (ttl, lives)) in (0..).zip(cases) {
        let first = f(k, ttl).await;
        caches().settle().await;
        let Some(lives) = lives else {
            assert_ne!(f(k, ttl).await, first, "{ttl:?}");
            continue;
        };
        if on_redis() {
            let left = pttl(&format!("cache:c:{k}")).await;
            assert!((1..=300_000).contains(&left), "{ttl:?}: {left} ms are left");
        } else {
            advance(lives - ms(1)).await;
            assert_eq!(f(k, ttl).await, first, "{ttl:?}");
        }
        advance(lives).await;
        assert_ne!(f(k, ttl).await, first, "{ttl:?}");
    }
    assert_eq!(caches().stats()["c"].backend_errors, 0);
}

/// What is left of the life of a stored value, in milliseconds: -1 without limit, -2 if it is not there.
async fn pttl(key: &str) -> i64 {
    caches().settle().await;
    ::redis::cmd("PTTL")
        .arg(key)
        .query_async(&mut redis().await)
        .await
        .expect("the server answers")
}

async fn case_072_an_entry_lives_as_long_as_its_ttl() {
    #[cache_result(cache = "c", ttl = "20s", manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    f(1).await;
    if on_redis() {
        let left = pttl("cache:c:1").await;
        assert!((10_000..=20_000).contains(&left), "{left} ms are left");
    }
    advance(s(10)).await;
    assert_eq!(f(1).await, 0);
    advance(s(10)).await;
    assert_eq!(f(1).await, 1);
    assert_eq!(bodies("f"), 2);
}

async fn case_072_part_of_a_second_is_kept() {
    #[cache_result(cache = "c", ttl = "1500ms", manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    #[cache_result(cache = "short", ttl = "300ms", manager = caches())]
    async fn short(_k: u8) -> u64 {
        body("short")
    }

    f(1).await;
    if on_redis() {
        let left = pttl("cache:c:1").await;
        assert!((1001..=1500).contains(&left), "{left} ms are left");
    }
    advance(ms(1500)).await;
    assert_eq!(f(1).await, 1);

    short(1).await;
    if on_redis() {
        // On a machine that is busy it may be gone by now; but it is not there for a second, and not for ever.
        let left = pttl("cache:short:1").await;
        assert!(
            left == -2 || (1..=300).contains(&left),
            "{left} ms are left"
        );
    }
    advance(ms(300)).await;
    assert_eq!(short(1).await, 1);
}

#[tokio::test]
async fn case_073_nothing_is_stored_without_expiry_by_default() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    World::redis()
        .run(async {
            f(1).await;
            let left = pttl("cache:c:1").await;
            assert!((200_000..=300_000).contains(&left), "{left} ms are left");
        })
        .await;
}

async fn case_073_without_a_ttl_entries_stay() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    let config = stored().no_ttl();
    with_caches(|builder| builder.defaults(config), async {
        f(1).await;
        if on_redis() {
            assert_eq!(pttl("cache:c:1").await, -1);
        }
        for _ in 0..3 {
            advance(s(23 * 60 * 60)).await;
            assert_eq!(f(1).await, 0);
        }
    })
    .await;
}

async fn case_074_a_hit_does_not_extend_the_life() {
    #[cache_result(cache = "c", ttl = "400s", manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    f(1).await;
    for _ in 0..3 {
        advance(s(100)).await;
        assert_eq!(f(1).await, 0);
    }
    advance(s(100)).await;
    assert_eq!(f(1).await, 1);
}

async fn case_076_an_entry_inserted_with_a_ttl_of_its_own() {
    let cache = caches().cache::<String>("c").expect("a valid name");
    let insert = cache.insert_with_ttl(&1, "v1".to_owned(), s(200));
    insert.await.expect("the store answers");
    assert_eq!(cache.get(&1).await.as_deref(), Some("v1"));
    advance(s(190)).await;
    assert_eq!(cache.get(&1).await.as_deref(), Some("v1"));
    advance(s(10)).await;
    assert_eq!(cache.get(&1).await, None);
    // A plain insert after it lives as long as usual.
    cache
        .insert(&1, "v2".to_owned())
        .await
        .expect("the store answers");
    advance(s(290)).await;
    assert_eq!(cache.get(&1).await.as_deref(), Some("v2"));
    // No life at all is not "for ever": what was there is superseded, and nothing takes its place.
    let insert = cache.insert_with_ttl(&1, "v3".to_owned(), Duration::ZERO);
    insert.await.expect("nothing has to be stored");
    assert_eq!(cache.get(&1).await, None);
}

async fn case_076_a_ttl_from_the_value() {
    #[cache_result(cache = "c", ttl_with = |token: &(u64, u64)| s(token.1), manager = caches())]
    async fn token(#[cache_key] _user: u8, expires_in: u64) -> (u64, u64) {
        (body("token"), expires_in)
    }

    token(1, 100).await;
    token(2, 200).await;
    advance(s(99)).await;
    assert_eq!(token(1, 100).await, (0, 100));
    advance(s(1)).await;
    assert_eq!(token(1, 0).await, (2, 0));
    assert_eq!(token(2, 200).await, (1, 200));
    // The last one for the first user was not to be stored.
    if on_redis() {
        assert_eq!(value_keys().await, ["cache:c:2"]);
    }
    assert_eq!(token(1, 100).await, (3, 100));
}

async fn case_076_an_entry_never_outlives_the_ttl_of_its_cache() {
    #[cache_result(cache = "c", ttl_with = |_: &u64| s(10_000), manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    let config = stored().ttl(s(100));
    with_caches(|builder| builder.cache("c", config), async {
        f(1).await;
        let cache = caches().cache::<u64>("c").expect("a valid name");
        let insert = cache.insert_with_ttl(&2, 7, Duration::MAX);
        insert.await.expect("the store answers");
        advance(s(99)).await;
        assert_eq!((f(1).await, cache.get(&2).await), (0, Some(7)));
        advance(s(1)).await;
        assert_eq!((f(1).await, cache.get(&2).await), (1, None));
    })
    .await;
}

#[tokio::test]
async fn case_077_idle_entries_expire() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u8) -> u64 {
        body("f")
    }

    let config = CacheConfig::memory().no_ttl().time_to_idle(s(1000));
    World::memory()
        .run(with_caches(|builder| builder.defaults(config), async {
            f(1).await;
            for _ in 0..3 {
                advance(s(500)).await;
                assert_eq!(f(1).await, 0);
            }
            advance(s(1500)).await;
            assert_eq!(f(1).await, 1);
        }))
        .await;
}
