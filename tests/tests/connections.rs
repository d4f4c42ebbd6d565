//! Which connections to Redis are used, and how many.

use std::{collections::BTreeSet, time::Duration};

use cache_core::{CacheConfig, cache_invalidate_all, cache_result};
use redis::aio::MultiplexedConnection;
use tests::{
    World, backend, bodies, body, caches, connect, keys_at, patient, redis, redis_url, with_caches,
};

#[tokio::test]
async fn case_083_a_cache_on_another_database() {
    #[cache_result(cache = "zero", manager = caches())]
    async fn zero(_k: u32) -> u64 {
        body("zero")
    }

    #[cache_result(cache = "one", manager = caches())]
    async fn one(_k: u32) -> u64 {
        body("one")
    }

    #[cache_invalidate_all(cache = "one", manager = caches())]
    async fn clear_one() {}

    async fn behaviour() {
        let mut in_zero = redis().await;
        let mut in_one = connect(&format!("{}/1", redis_url())).await;
        // Of the same name as an entry, in the database that is none of the cache's.
        let foreign = redis::cmd("SET")
            .arg("cache:one:7")
            .arg("foreign")
            .to_owned();
        foreign
            .exec_async(&mut in_zero)
            .await
            .expect("the server answers");

        for k in 0..102 {
            zero(k).await;
            one(k).await;
        }
        caches().settle().await;
        let entries = |cache| (0..102).map(|k| format!("cache:{cache}:{k}")).collect();
        let mut expected: BTreeSet<String> = entries("zero");
        expected.insert("cache:one:7".to_owned());
        assert_eq!(
            BTreeSet::from_iter(keys_at(&mut in_zero, "cache:*").await),
            expected
        );
        let mine: BTreeSet<String> = entries("one");
        assert_eq!(
            BTreeSet::from_iter(keys_at(&mut in_one, "cache:*").await),
            mine
        );

        clear_one().await;
        for k in 0..102 {
            zero(k).await;
            one(k).await;
        }
        assert_eq!((bodies("zero"), bodies("one")), (102, 204));
        clear_one().await;
        // The memory is given back in the background.
        let give_back = async {
            while !keys_at(&mut in_one, "cache:*").await.is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let given_back = tokio::time::timeout(Duration::from_secs(60), give_back).await;
        given_back.expect("what was cleared is removed");
        assert_eq!(
            BTreeSet::from_iter(keys_at(&mut in_zero, "cache:*").await),
            expected
        );
    }

    World::redis()
        .run(async {
            let (first, second) = (redis_url(), format!("{}/1", redis_url()));
            let configure = |builder: cache_core::CacheManagerBuilder| {
                builder
                    .defaults(CacheConfig::on(backend(&first)))
                    .cache("one", CacheConfig::on(backend(&second)))
            };
            with_caches(configure, behaviour()).await;
        })
        .await;
}

#[tokio::test]
async fn case_093_connections_are_kept_and_few() {
    #[cache_result(cache = "c", ttl = "100s", manager = caches())]
    async fn f(_k: u64) -> u64 {
        body("f")
    }

    /// The ids of the connections that are not the test's own.
    async fn clients(own: &mut MultiplexedConnection) -> BTreeSet<String> {
        let id: u64 = redis::cmd("CLIENT")
            .arg("ID")
            .query_async(own)
            .await
            .expect("the server answers");
        let list: String = redis::cmd("CLIENT")
            .arg("LIST")
            .query_async(own)
            .await
            .expect("the server answers");
        list.lines()
            .filter_map(|line| line.split(' ').next())
            .filter(|client| *client != format!("id={id}"))
            .map(str::to_owned)
            .collect()
    }

    async fn behaviour() {
        let mut own = redis().await;
        for call in 0..1000 {
            assert_eq!(f(call % 100).await, call % 100);
        }
        let before = clients(&mut own).await;
        assert_eq!(before.len(), 2);
        caches().settle().await;
        tests::advance_redis(&mut own, Duration::from_secs(100)).await;
        for call in 0..1000 {
            assert_eq!(f(call % 100).await, 100 + call % 100);
        }
        assert_eq!(
            clients(&mut own).await,
            before,
            "the same two, all the time"
        );
        assert_eq!(caches().stats()["c"].backend_errors, 0);
    }

    World::redis()
        .run(async {
            let redis = patient(&redis_url())
                .connections(2)
                .build()
                .expect("a valid address");
            let configure =
                |builder: cache_core::CacheManagerBuilder| builder.defaults(CacheConfig::on(redis));
            with_caches(configure, behaviour()).await;
        })
        .await;
}
