//! Without any settings, what callers ask for cannot fill the memory.

use std::time::Duration;

use cache_core::{CacheConfig, cache_result};
use tests::{World, both, caches, stored, until, value_keys, with_caches};

both!(
    case_b46_entries_are_bounded_or_expire,
    case_b46_not_found_can_be_limited
);

#[cache_result(cache = "products", manager = caches())]
async fn product(id: u64) -> Option<u64> {
    // Most of what a crawler asks for does not exist.
    id.is_multiple_of(100).then_some(id)
}

async fn case_b46_entries_are_bounded_or_expire() {
    let asked_for = if tests::on_redis() { 3000 } else { 30_000 };
    for id in 0..asked_for {
        product(id).await;
        if id % 500 == 0 {
            caches().settle().await;
        }
    }
    caches().settle().await;
    let stats = caches().stats()["products"];
    if tests::on_redis() {
        assert_eq!(stats.entries, 0, "nothing is kept in this process");
        let mut redis = tests::redis().await;
        let script = "local forever = 0
            for _, key in ipairs(redis.call('KEYS', '*')) do
                if redis.call('PTTL', key) < 0 then forever = forever + 1 end
            end
            return forever";
        let forever: u64 = ::redis::Script::new(script)
            .invoke_async(&mut redis)
            .await
            .expect("the server answers");
        assert_eq!(forever, 0, "everything expires");
    } else {
        assert!(stats.entries <= 10_000, "{}", stats.entries);
        assert!(stats.evictions >= 20_000, "{}", stats.evictions);
    }
}

async fn case_b46_not_found_can_be_limited() {
    #[cache_result(cache = "found", store_if = Option::is_some, manager = caches())]
    async fn found(id: u64) -> Option<u64> {
        (id == 0).then_some(id)
    }
    for id in 0..10 {
        found(id).await;
    }
    caches().settle().await;
    assert_eq!(caches().stats()["found"].stores, 1);
    tests::assert_value_keys(&["cache:found:0"]).await;

    let config = stored().none_ttl(Duration::from_secs(1));
    with_caches(|builder| builder.defaults(config), async {
        product(0).await;
        product(1).await;
        tests::advance(Duration::from_secs(1)).await;
        let before = caches().stats()["products"].loads;
        product(0).await;
        assert_eq!(caches().stats()["products"].loads, before, "a hit");
        product(1).await;
        assert_eq!(caches().stats()["products"].loads, before + 1);
        if tests::on_redis() {
            assert!(!value_keys().await.is_empty());
        }
    })
    .await;
}

/// Entries that have expired give their memory back without being asked for again. By the clock on the wall, which is the one
/// that moka has.
#[tokio::test]
async fn case_b46_expired_entries_leave() {
    World::memory()
        .run(async {
            let config = CacheConfig::memory().ttl(Duration::from_millis(1));
            with_caches(|builder| builder.defaults(config), async {
                for id in 0..5000 {
                    product(id).await;
                }
                until("all of them are gone", || {
                    caches().stats()["products"].entries == 0
                })
                .await;
            })
            .await;
        })
        .await;
}
