//! `CacheConfig::validated`: copies here that the backend confirms at every hit. As strict as reading the value, and without
//! reading it.

use std::{sync::Arc, time::Duration};

use cache_core::{
    Cache, CacheBackend, CacheConfig, CacheManager,
    testing::{FaultyBackend, MapBackend, Operation},
};
use redis::aio::MultiplexedConnection;
use serde::{Deserialize, Serialize};
use tests::{Monitor, World, advance_redis, redis_backend};

#[path = "../../examples/own_backend.rs"]
#[allow(dead_code, unreachable_pub)] // a program, of which only the backend is used here
mod own_backend;

type Text = Arc<String>;

/// The cache of one process.
fn process<V: Clone + Send + Sync + 'static>(config: CacheConfig) -> (CacheManager, Cache<V>) {
    let caches = CacheManager::builder()
        .cache("c", config)
        .build()
        .expect("valid");
    let cache = caches.cache("c").expect("valid");
    (caches, cache)
}

fn validated(backend: impl CacheBackend) -> (CacheManager, Cache<Text>) {
    process(CacheConfig::validated(backend))
}

fn text(what: &str) -> Text {
    Arc::new(what.repeat(1000))
}

async fn ask<T: redis::FromRedisValue>(server: &mut MultiplexedConnection, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command
        .query_async(server)
        .await
        .expect("the server answers")
}

/// What the server has sent so far, in bytes.
async fn sent(server: &mut MultiplexedConnection) -> u64 {
    let info: String = ask(server, &["INFO", "stats"]).await;
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("total_net_output_bytes:"));
    line.expect("it is counted").parse().expect("a number")
}

#[tokio::test]
async fn a_hit_is_one_look_at_the_end_of_the_entry() {
    let test = async {
        let (_caches, cache) = validated(redis_backend());
        cache.insert(&1, text("eight kB")).await.expect("stored");
        let first = cache.get(&1).await.expect("there");
        let monitor = Monitor::start();
        let mut server = tests::redis().await;
        let before = sent(&mut server).await;
        for _ in 0..100 {
            let again = cache.get(&1).await.expect("there");
            assert!(Arc::ptr_eq(&first, &again), "it is decoded once");
        }
        // With what the monitor is told.
        let sent = sent(&mut server).await - before;
        assert!(sent < 100 * 800, "{sent} bytes for 100 hits of 8 kB");
        let commands = monitor.commands().await;
        let looks: Vec<_> = commands
            .iter()
            .filter(|command| command.contains("\"cs:c:") || command.contains("\"cache:c:"))
            .collect();
        assert_eq!(looks.len(), 200, "{looks:?}");
        for pair in looks.chunks(2) {
            assert!(pair[0].starts_with("\"MGET\" \"cs:c:"), "{pair:?}");
            assert_eq!(pair[1], "\"GETRANGE\" \"cache:c:1\" \"-48\" \"-1\"");
        }
        let stats = cache.stats();
        assert_eq!((stats.backend_hits, stats.memory_hits), (101, 0));
        assert_eq!(stats.entries, 1);
    };
    World::redis().run(test).await;
}

/// One process has a copy; another one changes what is in the backend.
async fn changes_of_others_are_seen_at_once(backend: impl CacheBackend + Clone) {
    for way in ["invalidate", "invalidate_all", "invalidate_if", "insert"] {
        let (_one, here) = validated(backend.clone());
        let (_other, there) = validated(backend.clone());
        for round in 0..5 {
            let old = format!("{way} {round}");
            here.insert(&1, text(&old)).await.expect("stored");
            for _ in 0..2 {
                assert_eq!(here.get(&1).await, Some(text(&old)));
                assert_eq!(there.get(&1).await, Some(text(&old)));
            }
            let new = text("new");
            match way {
                "invalidate" => drop(there.invalidate(&1).await.expect("told")),
                "invalidate_all" => there.invalidate_all().await.expect("told"),
                "invalidate_if" => drop(there.invalidate_if(|_| true).await.expect("told")),
                _ => there.insert(&1, new.clone()).await.expect("stored"),
            }
            let expected = (way == "insert").then_some(new);
            assert_eq!(here.get(&1).await, expected, "{way}");
            assert_eq!(there.get(&1).await, expected, "{way}");
        }
    }
}

#[tokio::test]
async fn changes_of_other_processes_are_seen_at_once_on_redis() {
    let test = async { changes_of_others_are_seen_at_once(redis_backend()).await };
    World::redis().run(test).await;
}

#[tokio::test]
async fn changes_of_other_processes_are_seen_at_once_on_any_backend() {
    changes_of_others_are_seen_at_once(MapBackend::new()).await;
    // One that knows nothing of copies.
    changes_of_others_are_seen_at_once(own_backend::OwnBackend::default()).await;
}

/// Whatever becomes of the entry, the copy is worth as much.
#[tokio::test]
async fn a_copy_ends_with_its_entry() {
    let test = async {
        let mut server = tests::redis().await;
        let losses: [(&[&str], bool, u64); 8] = [
            (&["DEL", "cache:c:1"], false, 0),
            (&["FLUSHALL"], false, 0),
            (&["DEL", "cs:c:e"], false, 0),
            (&["SET", "cs:c:e", "12345678"], false, 0),
            (
                &["SET", "cache:c:1", "what another program writes"],
                false,
                1,
            ),
            (&["APPEND", "cache:c:1", "x"], false, 1),
            (&["PEXPIRE", "cache:c:1", "-1"], false, 0),
            // The value is there.
            (&["DEL", "STAMP"], true, 0),
        ];
        for (loss, stays, failures) in losses {
            let (_caches, cache) = validated(redis_backend());
            cache.insert(&1, text("v")).await.expect("stored");
            for _ in 0..3 {
                assert_eq!(cache.get(&1).await, Some(text("v")));
            }
            let stamp = tests::keys_at(&mut server, "cs:c:{*").await.remove(0);
            let words: Vec<&str> = loss
                .iter()
                .map(|word| if *word == "STAMP" { &stamp } else { *word })
                .collect();
            let _: redis::Value = ask(&mut server, &words).await;
            assert_eq!(cache.get(&1).await.is_some(), stays, "{loss:?}");
            assert_eq!(cache.stats().decode_failures, failures, "{loss:?}");
            // And is made anew.
            let load = async { text("w") };
            let expected = text(if stays { "v" } else { "w" });
            assert_eq!(cache.get_or_load(&1, load).await, expected, "{loss:?}");
            let _: redis::Value = ask(&mut server, &["FLUSHALL"]).await;
        }
    };
    World::redis().run(test).await;
}

#[tokio::test]
async fn another_type_in_place_of_the_entry_is_a_miss() {
    let test = async {
        let mut server = tests::redis().await;
        let (caches, cache) = validated(redis_backend());
        cache.insert(&1, text("v")).await.expect("stored");
        assert_eq!(cache.get(&1).await, Some(text("v")));
        let _: u64 = ask(&mut server, &["DEL", "cache:c:1"]).await;
        let _: u64 = ask(&mut server, &["RPUSH", "cache:c:1", "a list"]).await;
        assert_eq!(cache.get_or_load(&1, async { text("w") }).await, text("w"));
        caches.settle().await;
        assert_eq!(cache.get(&1).await, Some(text("w")));
        assert_eq!(cache.stats().backend_errors, 0);
    };
    World::redis().run(test).await;
}

/// The time that counts is that of the server.
#[tokio::test]
async fn a_copy_expires_with_its_entry() {
    let test = async {
        let mut server = tests::redis().await;
        let (_caches, cache) = validated(redis_backend());
        let minute = Duration::from_secs(60);
        cache
            .insert_with_ttl(&1, text("v"), minute)
            .await
            .expect("stored");
        assert_eq!(cache.get(&1).await, Some(text("v")));
        advance_redis(&mut server, minute / 2).await;
        assert_eq!(cache.get(&1).await, Some(text("v")));
        advance_redis(&mut server, minute).await;
        assert_eq!(cache.get(&1).await, None);
    };
    World::redis().run(test).await;
}

#[tokio::test]
async fn what_this_process_stores_takes_the_place_of_a_copy() {
    let test = async {
        let (caches, cache) = validated(redis_backend());
        for version in 0..5 {
            let version = text(&version.to_string());
            cache.insert(&1, version.clone()).await.expect("stored");
            assert_eq!(cache.get(&1).await, Some(version.clone()));
            assert_eq!(cache.get(&1).await, Some(version));
            cache.invalidate(&1).await.expect("told");
            assert_eq!(cache.stats().entries, 0);
            let load = async { text("loaded") };
            assert_eq!(cache.get_or_load(&1, load).await, text("loaded"));
            caches.settle().await;
            assert_eq!(cache.get(&1).await, Some(text("loaded")));
        }
    };
    World::redis().run(test).await;
}

#[tokio::test]
async fn of_a_key_that_is_owed_no_copy_is_used() {
    let backend = FaultyBackend::new(MapBackend::new());
    let (_caches, cache) = validated(backend.clone());
    for key in 0..2 {
        cache.insert(&key, text("v")).await.expect("stored");
        assert_eq!(cache.get(&key).await, Some(text("v")));
    }
    backend.fail(&[Operation::Invalidate]);
    cache.invalidate(&0).await.expect_err("told to fail");
    assert_eq!(cache.get(&0).await, None);
    assert_eq!(cache.get_or_load(&0, async { text("w") }).await, text("w"));
    assert_eq!(cache.get(&1).await, Some(text("v")));
}

#[tokio::test]
async fn without_the_backend_a_copy_is_no_answer() {
    let backend = FaultyBackend::new(MapBackend::new());
    let (_caches, cache) = validated(backend.clone());
    cache.insert(&1, text("v")).await.expect("stored");
    assert_eq!(cache.get(&1).await, Some(text("v")));
    backend.fail(&[Operation::Load]);
    for _ in 0..10 {
        assert_eq!(cache.get(&1).await, None);
    }
}

#[tokio::test]
async fn there_are_as_many_copies_as_the_capacity_says() {
    let config = CacheConfig::validated(MapBackend::new()).max_capacity(10);
    let (caches, cache) = process::<u64>(config);
    for key in 0..100 {
        cache.insert(&key, key).await.expect("stored");
    }
    for _ in 0..3 {
        for key in 0..100 {
            assert_eq!(cache.get(&key).await, Some(key));
        }
    }
    let stats = cache.stats();
    assert!((1..=10).contains(&stats.entries), "{stats:?}");
    assert_eq!((stats.hits, stats.misses), (300, 0), "{stats:?}");
    let effective = caches.effective();
    assert!(effective.contains("max_capacity 10"), "{effective}");
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Counted {
    kept: u64,
    #[serde(skip)]
    here: u64,
}

/// A hit gives what the backend has, also to the process that stored it.
#[tokio::test]
async fn a_copy_is_what_was_decoded() {
    let backend = MapBackend::new();
    let (_caches, cache) = process::<Counted>(CacheConfig::validated(backend));
    let value = Counted { kept: 1, here: 2 };
    cache.insert(&1, value.clone()).await.expect("stored");
    for _ in 0..3 {
        assert_eq!(cache.get(&1).await, Some(Counted { here: 0, ..value }));
    }
}

/// The copy is confirmed for everybody who asks, and each gets a value of its own.
#[tokio::test]
async fn many_callers_get_the_same() {
    let test = async {
        let (_caches, cache) = process::<String>(CacheConfig::validated(redis_backend()));
        cache.insert(&1, "v".repeat(5000)).await.expect("stored");
        let callers = (0..200).map(|_| {
            let cache = cache.clone();
            tokio::spawn(async move { cache.get_or_load(&1, async { String::new() }).await })
        });
        for caller in callers.collect::<Vec<_>>() {
            assert_eq!(caller.await.expect("no panic"), "v".repeat(5000));
        }
        assert_eq!(cache.stats().hits, 200);
    };
    World::redis().run(test).await;
}
