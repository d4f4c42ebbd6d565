//! Which connections to Redis are used, and how many.

use std::{collections::BTreeSet, time::Duration};

use cache_core::{CacheConfig, cache_invalidate_all, cache_result};
use cache_redis::RedisBackend;
use redis::aio::MultiplexedConnection;
use tests::{World, bodies, body, caches, redis, redis_url, with_caches};

async fn value_keys(connection: &mut MultiplexedConnection) -> Vec<String> {
    let mut keys: Vec<String> = redis::cmd("KEYS")
        .arg("cache:*")
        .query_async(connection)
        .await
        .expect("the server answers");
    keys.sort_unstable();
    keys
}

/// A backend that waits as long as it takes, however busy the machine is.
fn patient(url: &str, connections: usize) -> RedisBackend {
    RedisBackend::builder(url)
        .read_budget(Duration::from_secs(10))
        .store_budget(Duration::from_secs(10))
        .connections(connections)
        .build()
        .expect("the address of the server is valid")
}

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
        let client = redis::Client::open(format!("{}/1", redis_url())).expect("a valid address");
        let mut in_one = client
            .get_multiplexed_async_connection()
            .await
            .expect("the server answers");
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
            BTreeSet::from_iter(value_keys(&mut in_zero).await),
            expected
        );
        let mine: BTreeSet<String> = entries("one");
        assert_eq!(BTreeSet::from_iter(value_keys(&mut in_one).await), mine);

        clear_one().await;
        for k in 0..102 {
            zero(k).await;
            one(k).await;
        }
        assert_eq!((bodies("zero"), bodies("one")), (102, 204));
        clear_one().await;
        // The memory is given back in the background.
        let give_back = async {
            while !value_keys(&mut in_one).await.is_empty() {
                tokio::task::yield_now().await;
            }
        };
        let given_back = tokio::time::timeout(Duration::from_secs(30), give_back).await;
        given_back.expect("what was cleared is removed");
        assert_eq!(
            BTreeSet::from_iter(value_keys(&mut in_zero).await),
            expected
        );
    }

    World::redis()
        .run(async {
            let (first, second) = (redis_url(), format!("{}/1", redis_url()));
            let configure = |builder: cache_core::CacheManagerBuilder| {
                builder
                    .defaults(CacheConfig::on(patient(&first, 1)))
                    .cache("one", CacheConfig::on(patient(&second, 1)))
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
            let redis = patient(&redis_url(), 2);
            let configure =
                |builder: cache_core::CacheManagerBuilder| builder.defaults(CacheConfig::on(redis));
            with_caches(configure, behaviour()).await;
        })
        .await;
}
