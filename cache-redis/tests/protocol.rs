//! The steps of the protocol against a real server, and the races they exist for.

mod support;

use std::{collections::HashSet, time::Duration};

use cache_core::{
    Bytes, CacheBackend,
    backend::{
        BackendErrorKind, CacheId, EPOCH_BEFORE_END, Fence, FenceScope, NewEntry, Revalidated,
    },
    testing::contract,
};
use cache_redis::RedisBackend;
use support::{
    Fixture, Monitor, ask, fence, fill, new_entry, opened, outside, patient, product, read,
    stored_form,
};

/// What every backend must do.
#[tokio::test]
async fn the_contract_of_backends_is_kept() {
    let f = Fixture::new().await;
    let outside = f.outside.clone();
    // Time does not move for a server, but what entries have left of it does.
    let advance = async |by: Duration| {
        let mut outside = outside.clone();
        for key in ask::<Vec<String>>(&mut outside, &["KEYS", "cache:contract-ttl:*"]).await {
            let left: i64 = ask(&mut outside, &["PTTL", &key]).await;
            let left_then = left - by.as_millis() as i64;
            if left > 0 {
                let _: u64 = ask(&mut outside, &["PEXPIRE", &key, &left_then.to_string()]).await;
            }
        }
    };
    contract::check(&f.backend, advance).await;
}

/// A stamp of a whole cache, which this backend has not, is never in force.
#[tokio::test]
async fn a_stored_entry_is_read_back_until_it_is_invalidated() {
    let f = Fixture::new().await;
    let product = product();
    assert_eq!(read(&f.backend, &product, "42").await, None);
    fill(&f.backend, &product, "42").await;
    assert_eq!(
        read(&f.backend, &product, "42").await.as_deref(),
        Some("42")
    );
    assert!(f.backend.invalidate(product.entry("42")).await.unwrap());
    assert_eq!(read(&f.backend, &product, "42").await, None);
}

/// Cases 32 and 33.
#[tokio::test]
async fn an_invalidation_removes_one_entry_and_says_whether_there_was_one() {
    let mut f = Fixture::new().await;
    let product = product();
    fill(&f.backend, &product, "1").await;
    fill(&f.backend, &product, "2").await;
    let _: () = f.ask(&["SET", "other", "foreign"]).await;

    assert!(f.backend.invalidate(product.entry("1")).await.unwrap());
    assert!(!f.backend.invalidate(product.entry("1")).await.unwrap());
    assert!(!f.backend.invalidate(product.entry("zzz")).await.unwrap());

    assert_eq!(f.value_keys().await, ["cache:product:2"]);
    assert_eq!(f.ask::<String>(&["GET", "other"]).await, "foreign");
    assert_eq!(read(&f.backend, &product, "2").await.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_store_is_refused_after_an_invalidation_of_its_entry() {
    let f = Fixture::new().await;
    let product = product();
    let before = fence(&f.backend, &product, "1").await;
    f.backend.invalidate(product.entry("1")).await.unwrap();
    assert!(
        !f.backend
            .store(product.entry("1"), new_entry("old", before))
            .await
            .unwrap()
    );
    assert_eq!(read(&f.backend, &product, "1").await, None);
    fill(&f.backend, &product, "1").await;
}

#[tokio::test]
async fn a_store_is_refused_after_its_cache_was_cleared_even_twice() {
    let f = Fixture::new().await;
    let product = product();
    let before = fence(&f.backend, &product, "1").await;
    f.backend.invalidate_all(&product).await.unwrap();
    assert!(
        !f.backend
            .store(product.entry("1"), new_entry("old", before))
            .await
            .unwrap()
    );
    f.backend.invalidate_all(&product).await.unwrap();
    assert!(
        !f.backend
            .store(product.entry("1"), new_entry("old", before))
            .await
            .unwrap()
    );
    assert_eq!(read(&f.backend, &product, "1").await, None);
}

#[tokio::test]
async fn a_put_supersedes_what_is_being_computed_elsewhere() {
    let f = Fixture::new().await;
    let product = product();
    let reader = fence(&f.backend, &product, "1").await;
    assert!(
        f.backend
            .put(product.entry("1"), new_entry("new", reader))
            .await
            .unwrap()
    );
    assert!(
        !f.backend
            .store(product.entry("1"), new_entry("old", reader))
            .await
            .unwrap()
    );
    assert_eq!(
        read(&f.backend, &product, "1").await.as_deref(),
        Some("new")
    );
}

/// Which of the two is the later one nobody can say, so neither may stay.
#[tokio::test]
async fn of_two_puts_at_the_same_time_nothing_stays() {
    let f = Fixture::new().await;
    let product = product();
    let both = fence(&f.backend, &product, "1").await;
    assert!(
        f.backend
            .put(product.entry("1"), new_entry("a", both))
            .await
            .unwrap()
    );
    assert!(
        !f.backend
            .put(product.entry("1"), new_entry("b", both))
            .await
            .unwrap()
    );
    assert_eq!(read(&f.backend, &product, "1").await, None);
    fill(&f.backend, &product, "1").await;
}

#[tokio::test]
async fn a_put_that_is_refused_leaves_nothing_behind() {
    let mut f = Fixture::new().await;
    let product = product();
    fill(&f.backend, &product, "1").await;
    let before = fence(&f.backend, &product, "1").await;
    f.backend.invalidate_all(&product).await.unwrap();
    assert!(
        !f.backend
            .put(product.entry("1"), new_entry("new", before))
            .await
            .unwrap()
    );
    assert!(f.value_keys().await.is_empty());
}

#[tokio::test]
async fn a_store_is_refused_when_its_tokens_are_gone() {
    for loss in [
        &["FLUSHALL"][..],
        &["DEL", "cs:product:e"],
        &["DEL", "STAMP"],
    ] {
        let mut f = Fixture::new().await;
        let product = product();
        let before = fence(&f.backend, &product, "1").await;
        let stamp = f.keys("cs:product:{*}").await.remove(0);
        let loss: Vec<&str> = loss
            .iter()
            .map(|word| if *word == "STAMP" { &stamp } else { *word })
            .collect();
        let _: redis::Value = f.ask(&loss).await;
        assert!(
            !f.backend
                .store(product.entry("1"), new_entry("old", before))
                .await
                .unwrap()
        );
        // Nor after somebody else has created new ones.
        let _ = fence(&f.backend, &product, "1").await;
        assert!(
            !f.backend
                .store(product.entry("1"), new_entry("old", before))
                .await
                .unwrap()
        );
        fill(&f.backend, &product, "1").await;
    }
}

#[tokio::test]
async fn entries_do_not_outlive_their_epoch() {
    let mut f = Fixture::new().await;
    let product = product();
    fill(&f.backend, &product, "1").await;
    let _: () = f.ask(&["DEL", "cs:product:e"]).await;
    assert_eq!(read(&f.backend, &product, "1").await, None);
}

#[tokio::test]
async fn an_absent_epoch_needs_no_clearing() {
    let mut f = Fixture::new().await;
    f.backend.invalidate_all(&product()).await.unwrap();
    assert!(f.keys("*").await.is_empty());
}

#[tokio::test]
async fn all_who_create_the_tokens_at_once_get_the_same() {
    let f = Fixture::new().await;
    let others = [patient(&f.server.url()), patient(&f.server.url())];
    let tasks = (0..60).map(|number| {
        let backend = others[number % 2].clone();
        tokio::spawn(async move { fence(&backend, &product(), "1").await })
    });
    let mut seen = HashSet::new();
    for task in tasks.collect::<Vec<_>>() {
        seen.insert(task.await.unwrap());
    }
    assert_eq!(seen.len(), 1);
}

#[tokio::test]
async fn scripts_are_loaded_again_when_the_server_has_lost_them() {
    let mut f = Fixture::new().await;
    let product = product();
    fill(&f.backend, &product, "1").await;
    let _: () = f.ask(&["SCRIPT", "FLUSH"]).await;
    fill(&f.backend, &product, "2").await;
    let _: () = f.ask(&["SCRIPT", "FLUSH"]).await;
    let now = fence(&f.backend, &product, "3").await;
    assert!(
        f.backend
            .put(product.entry("3"), new_entry("3", now))
            .await
            .unwrap()
    );
}

/// B28.
#[tokio::test]
async fn a_wrong_type_under_the_key_is_a_miss_and_is_overwritten() {
    let mut f = Fixture::new().await;
    let product = product();
    for key in ["1", "2", "3"] {
        let _: () = f
            .ask(&["RPUSH", &format!("cache:product:{key}"), "element"])
            .await;
    }
    fill(&f.backend, &product, "1").await;
    assert_eq!(read(&f.backend, &product, "1").await.as_deref(), Some("1"));
    let now = fence(&f.backend, &product, "2").await;
    assert!(
        f.backend
            .put(product.entry("2"), new_entry("2", now))
            .await
            .unwrap()
    );
    assert!(f.backend.invalidate(product.entry("3")).await.unwrap());
    assert_eq!(f.value_keys().await, ["cache:product:1", "cache:product:2"]);
}

#[tokio::test]
async fn bytes_come_back_as_they_were_stored() {
    let f = Fixture::new().await;
    let product = product();
    for bytes in [
        vec![],
        (0..=255).collect(),
        vec![b'\r', b'\n', 0, b'$'],
        vec![7; 1 << 20],
    ] {
        let fence = fence(&f.backend, &product, "1").await;
        let new = NewEntry {
            bytes: Bytes::from(bytes.clone()),
            ttl: None,
            fence,
            scope: FenceScope::Entry,
        };
        assert!(f.backend.store(product.entry("1"), new).await.unwrap());
        assert_eq!(
            f.backend
                .load(product.entry("1"))
                .await
                .unwrap()
                .bytes
                .unwrap(),
            bytes
        );
    }
}

/// B18.
#[tokio::test]
async fn every_time_to_live_is_kept_in_milliseconds() {
    let mut f = Fixture::new().await;
    let product = product();
    let century = 100 * 365 * 24 * 60 * 60 * 1000_i64;
    for (ttl, least, most) in [
        (Some(Duration::from_millis(250)), -2, 250),
        (Some(Duration::from_millis(90_500)), 80_000, 90_500),
        (Some(Duration::from_nanos(1)), -2, 1),
        (Some(Duration::ZERO), -2, 1),
        (
            Some(Duration::from_secs(30 * 24 * 60 * 60)),
            2_591_900_000,
            2_592_000_000,
        ),
        (Some(Duration::MAX), century - 60_000, century),
        (None, -1, -1),
    ] {
        let fence = fence(&f.backend, &product, "1").await;
        let new = NewEntry {
            bytes: stored_form("1", fence.epoch),
            ttl,
            fence,
            scope: FenceScope::Entry,
        };
        for put in [false, true] {
            let entry = product.entry("1");
            let written = if put {
                f.backend.put(entry, new.clone()).await
            } else {
                f.backend.store(entry, new.clone()).await
            };
            assert!(written.unwrap());
            let left: i64 = f.ask(&["PTTL", "cache:product:1"]).await;
            assert!((least..=most).contains(&left), "{ttl:?}: {left}");
        }
    }
}

#[tokio::test]
async fn all_bookkeeping_expires() {
    let mut f = Fixture::new().await;
    let product = product();
    fill(&f.backend, &product, "1").await;
    f.backend.invalidate(product.entry("1")).await.unwrap();
    f.backend.invalidate_all(&product).await.unwrap();
    f.backend.invalidate_if(&product, &|_| true).await.unwrap();
    let now = fence(&f.backend, &product, "2").await;
    f.backend
        .put(product.entry("2"), new_entry("2", now))
        .await
        .unwrap();
    let keys = f.keys("cs:*").await;
    assert_eq!(
        keys.len(),
        3,
        "an epoch and the stamps of two entries: {keys:?}"
    );
    for key in keys {
        let left: i64 = f.ask(&["PTTL", &key]).await;
        assert!((86_000_000..=86_400_000).contains(&left), "{key}: {left}");
    }
}

#[tokio::test]
async fn an_epoch_lives_longer_than_what_is_stored_under_it_and_is_otherwise_left_alone() {
    let mut f = Fixture::new().await;
    let product = product();
    let day = 86_400_000_i64;
    let cases = [
        (Some(Duration::from_secs(60)), 100_000, 100_000),
        (Some(Duration::from_secs(60)), 10_000, day),
        (Some(Duration::from_secs(48 * 60 * 60)), day, 4 * day),
        (None, day, 200 * 365 * day),
    ];
    for (ttl, before, after) in cases {
        let now = fence(&f.backend, &product, "1").await;
        let _: () = f
            .ask(&["PEXPIRE", "cs:product:e", &before.to_string()])
            .await;
        let new = NewEntry {
            bytes: stored_form("1", now.epoch),
            ttl,
            fence: now,
            scope: FenceScope::Entry,
        };
        assert!(f.backend.store(product.entry("1"), new).await.unwrap());
        let left: i64 = f.ask(&["PTTL", "cs:product:e"]).await;
        assert!((after - 9_000..=after).contains(&left), "{ttl:?}: {left}");
    }
}

#[tokio::test]
async fn a_step_is_one_write_whatever_the_cache_holds() {
    let mut f = Fixture::new().await;
    let product = product();
    fill(&f.backend, &product, "1").await;
    fill(&f.backend, &product, "2").await;
    let now = fence(&f.backend, &product, "1").await;
    f.backend
        .put(product.entry("1"), new_entry("1", now))
        .await
        .unwrap();
    let mut monitor = Monitor::start(&f.server);

    f.backend.load(product.entry("2")).await.unwrap();
    assert_eq!(monitor.names(&mut f).await, ["MGET"]);
    let now = fence(&f.backend, &product, "2").await;
    assert_eq!(monitor.names(&mut f).await, ["MGET"]);
    f.backend
        .store(product.entry("2"), new_entry("2", now))
        .await
        .unwrap();
    assert_eq!(monitor.names(&mut f).await, ["EVALSHA"]);
    f.backend
        .put(product.entry("2"), new_entry("2", now))
        .await
        .unwrap();
    assert_eq!(monitor.names(&mut f).await, ["EVALSHA"]);
    f.backend.invalidate(product.entry("2")).await.unwrap();
    assert_eq!(
        monitor.names(&mut f).await,
        ["MULTI", "SET", "UNLINK", "SET", "EXEC"]
    );

    // The first use of a stripe takes a second write.
    f.backend.load(product.entry("new")).await.unwrap();
    assert_eq!(monitor.names(&mut f).await, ["MGET", "SET", "MGET"]);
    f.backend
        .load(CacheId::new("new", "cache:new").entry("1"))
        .await
        .unwrap();
    assert_eq!(monitor.names(&mut f).await, ["MGET", "SET", "SET", "MGET"]);
}

/// As the server counts it: how often it has read from a connection, and how many commands it found.
async fn reads_and_commands(f: &mut Fixture) -> [u64; 2] {
    let info: String = f.ask(&["INFO", "stats"]).await;
    ["total_reads_processed:", "total_commands_processed:"].map(|name| {
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        line.expect("it counts").parse().expect("a number")
    })
}

#[tokio::test]
async fn a_hit_is_one_write_and_one_round_trip() {
    const HITS: u64 = 100;

    let mut f = Fixture::new().await;
    let product = product();
    let entry = product.entry("1");
    fill(&f.backend, &product, "1").await;
    let there = f.backend.load(entry).await.unwrap().bytes.unwrap();
    let (_, end) = there.split_last_chunk::<EPOCH_BEFORE_END>().unwrap();
    for (commands_of_a_hit, confirmed) in [(1, false), (2, true)] {
        let before = reads_and_commands(&mut f).await;
        for _ in 0..HITS {
            if confirmed {
                let answer = f.backend.revalidate(entry, end).await.unwrap();
                assert!(matches!(answer, Revalidated::Same(_)));
            } else {
                assert_eq!(
                    f.backend.load(entry).await.unwrap().bytes,
                    Some(there.clone())
                );
            }
        }
        let after = reads_and_commands(&mut f).await;
        // One more for the question itself.
        assert_eq!(after[0] - before[0], HITS + 1);
        assert_eq!(after[1] - before[1], commands_of_a_hit * HITS + 1);
    }
}

#[tokio::test]
async fn hits_at_one_time_share_writes() {
    const CALLERS: u64 = 200;

    let mut f = Fixture::new().await;
    fill(&f.backend, &product(), "1").await;
    let before = reads_and_commands(&mut f).await;
    let calls = (0..CALLERS).map(|_| {
        let backend = f.backend.clone();
        tokio::spawn(async move { read(&backend, &product(), "1").await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().as_deref(), Some("1"));
    }
    let after = reads_and_commands(&mut f).await;
    assert_eq!(after[1] - before[1], CALLERS + 1);
    // They all ask before the connection has its turn.
    let reads = after[0] - before[0];
    assert!(reads < CALLERS / 4, "{reads}");
}

#[tokio::test]
async fn caches_of_one_name_with_different_prefixes_share_nothing() {
    let f = Fixture::new().await;
    let (ours, theirs) = (
        CacheId::new("product", "shop"),
        CacheId::new("product", "depot"),
    );
    fill(&f.backend, &ours, "1").await;
    fill(&f.backend, &theirs, "1").await;
    let before = fence(&f.backend, &theirs, "2").await;
    f.backend.invalidate_all(&ours).await.unwrap();
    assert_eq!(read(&f.backend, &ours, "1").await, None);
    assert_eq!(read(&f.backend, &theirs, "1").await.as_deref(), Some("1"));
    assert!(
        f.backend
            .store(theirs.entry("2"), new_entry("2", before))
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn caches_of_one_prefix_guard_their_common_entries_together_whatever_their_names() {
    let f = Fixture::new().await;
    let (here, there) = (
        CacheId::new("product", "shop"),
        CacheId::new("items", "shop"),
    );
    let before = fence(&f.backend, &here, "1").await;
    f.backend.invalidate(there.entry("1")).await.unwrap();
    assert!(
        !f.backend
            .store(here.entry("1"), new_entry("old", before))
            .await
            .unwrap()
    );
}

/// Case 83.
#[tokio::test]
async fn the_database_of_the_url_is_used_and_no_other() {
    let mut f = Fixture::new().await;
    let backend = patient(&format!("{}/1", f.server.url()));
    fill(&backend, &product(), "1").await;
    assert!(f.keys("*").await.is_empty());
    let mut other = outside(&format!("{}/1", f.server.url())).await;
    assert_eq!(
        ask::<u64>(&mut other, &["EXISTS", "cache:product:1"]).await,
        1
    );
}

#[tokio::test]
async fn a_unix_socket_will_do() {
    let mut f = Fixture::new().await;
    let backend = patient(&format!("unix://{}", f.server.socket().display()));
    fill(&backend, &product(), "1").await;
    assert_eq!(f.value_keys().await, ["cache:product:1"]);
}

#[tokio::test]
async fn a_full_server_still_serves_and_invalidates() {
    let mut f = Fixture::new().await;
    let product = product();
    for key in ["1", "2", "3"] {
        fill(&f.backend, &product, key).await;
    }
    let before = fence(&f.backend, &product, "1").await;
    let _: () = f.ask(&["CONFIG", "SET", "maxmemory", "1"]).await;

    assert_eq!(read(&f.backend, &product, "1").await.as_deref(), Some("1"));
    let refused = f
        .backend
        .store(product.entry("1"), new_entry("new", before))
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), BackendErrorKind::Capacity);
    assert_eq!(read(&f.backend, &product, "1").await.as_deref(), Some("1"));

    assert!(f.backend.invalidate(product.entry("1")).await.unwrap());
    assert!(!f.backend.invalidate(product.entry("1")).await.unwrap());
    assert_eq!(
        f.backend.load(product.entry("1")).await.unwrap().fence,
        None,
        "no token can be created"
    );
    let now = fence(&f.backend, &product, "2").await;
    assert!(
        !f.backend
            .put(product.entry("2"), new_entry("new", now))
            .await
            .unwrap()
    );
    assert_eq!(f.value_keys().await, ["cache:product:3"]);
    assert_eq!(
        f.backend.invalidate_if(&product, &|_| true).await.unwrap(),
        1
    );
    f.backend.invalidate_all(&product).await.unwrap();
    assert!(f.keys("*").await.is_empty());

    let _: () = f.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert!(
        !f.backend
            .store(product.entry("1"), new_entry("old", before))
            .await
            .unwrap()
    );
    fill(&f.backend, &product, "1").await;
}

/// Several processes read, write and invalidate two entries while their tokens are being evicted: no hit is older than
/// the last invalidation that was acknowledged before it was asked for.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_hit_is_older_than_the_last_acknowledged_invalidation() {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    };
    const ROUNDS: u64 = 400;

    /// The truth and how much of it every cache must know.
    #[derive(Default)]
    struct Row {
        written: AtomicU64,
        acknowledged: AtomicU64,
    }

    async fn reader(backend: RedisBackend, rows: Arc<[Row; 2]>, seed: u64) -> (u64, u64) {
        let (mut hits, mut stale) = (0, 0);
        for round in 0..ROUNDS {
            let number = ((round + seed) % 2) as usize;
            let key = number.to_string();
            let cache = product();
            let must_know = rows[number].acknowledged.load(SeqCst);
            let loaded = backend.load(cache.entry(&key)).await.unwrap();
            let fence: Fence = loaded.fence.unwrap();
            let in_force = |bytes: &Bytes| opened(bytes).1 == fence.epoch;
            if let Some(bytes) = loaded.bytes.filter(in_force) {
                let value = opened(&bytes).0.parse::<u64>().unwrap();
                hits += 1;
                stale += u64::from(value < must_know);
            } else {
                let value = rows[number].written.load(SeqCst);
                tokio::time::sleep(Duration::from_micros(round * 37 % 1500)).await;
                let _ = backend
                    .store(cache.entry(&key), new_entry(&value.to_string(), fence))
                    .await
                    .unwrap();
            }
        }
        (hits, stale)
    }

    let f = Fixture::new().await;
    let rows = Arc::new(<[Row; 2]>::default());
    let readers: Vec<_> = (0..6)
        .map(|seed| tokio::spawn(reader(patient(&f.server.url()), Arc::clone(&rows), seed)))
        .collect();
    let mut evictor = f.outside.clone();
    while !readers.iter().all(tokio::task::JoinHandle::is_finished) {
        for (number, row) in rows.iter().enumerate() {
            let version = row.written.fetch_add(1, SeqCst) + 1;
            match version % 10 {
                3 => f.backend.invalidate_all(&product()).await.unwrap(),
                6 => drop(
                    f.backend
                        .invalidate_if(&product(), &|key| key == number.to_string())
                        .await
                        .unwrap(),
                ),
                _ => drop(
                    f.backend
                        .invalidate(product().entry(&number.to_string()))
                        .await
                        .unwrap(),
                ),
            }
            row.acknowledged.fetch_max(version, SeqCst);
            if version % 7 == 0 {
                let key =
                    ["cs:product:e", "cs:product:{dY}", "cache:product:0"][(version % 3) as usize];
                let _: u64 = ask(&mut evictor, &["DEL", key]).await;
            }
            tokio::time::sleep(Duration::from_micros(version * 53 % 3000)).await;
        }
    }
    let (mut hits, mut stale) = (0, 0);
    for reader in readers {
        let (its_hits, its_stale) = reader.await.unwrap();
        (hits, stale) = (hits + its_hits, stale + its_stale);
    }
    assert!(hits > 100, "the test proves nothing: {hits} hits");
    assert_eq!(stale, 0, "of {hits} hits");
}
