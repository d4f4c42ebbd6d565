//! What is counted: one outcome for each call, the same in memory and on Redis.

use std::time::Duration;

use cache_core::{CacheStats, cache_invalidate, cache_result};
use tests::{Gate, advance, both, caches, on_redis, results, spawn, until_busy};

both!(
    case_098_statistics,
    case_b40_one_outcome_for_each_call_step_by_step,
    case_b40_with_contention,
);

/// What the functions of cache `c` have counted, once the background is quiet.
async fn stats() -> CacheStats {
    caches().settle().await;
    caches().stats()["c"]
}

fn calls(stats: &CacheStats) -> u64 {
    stats.hits + stats.misses + stats.coalesced + stats.bypasses
}

async fn case_098_statistics() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u64) -> u64 {
        k
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn write(_k: u64) {}

    f(1).await;
    f(1).await;
    f(1).await;
    write(1).await;
    f(1).await;
    let stats = stats().await;
    assert_eq!((stats.hits, stats.misses), (2, 2));
    assert_eq!((stats.loads, stats.stores, stats.invalidations), (2, 2, 1));
    assert_eq!((stats.coalesced, stats.bypasses, stats.stale), (0, 0, 0));
    assert_eq!((stats.load_failures, stats.stores_refused), (0, 0));
    assert_eq!((stats.store_failures, stats.backend_errors), (0, 0));
    assert_eq!((stats.decode_failures, stats.pending_invalidations), (0, 0));
    assert_eq!(stats.hits, stats.memory_hits + stats.backend_hits);
}

async fn case_b40_one_outcome_for_each_call_step_by_step() {
    #[cache_result(cache = "c", condition = k != 0, manager = caches())]
    async fn f(#[cache_key] k: u64, fail: bool) -> Result<u64, String> {
        if fail { Err("no".to_owned()) } else { Ok(k) }
    }

    #[derive(Debug, Default, PartialEq)]
    struct Outcomes {
        hits: u64,
        misses: u64,
        bypasses: u64,
        loads: u64,
        load_failures: u64,
        stores: u64,
    }

    async fn outcomes() -> Outcomes {
        let stats = stats().await;
        Outcomes {
            hits: stats.hits,
            misses: stats.misses,
            bypasses: stats.bypasses,
            loads: stats.loads,
            load_failures: stats.load_failures,
            stores: stats.stores,
        }
    }

    let mut expected = Outcomes::default();
    f(1, true).await.expect_err("that is what the body says");
    (expected.misses, expected.loads, expected.load_failures) = (1, 1, 1);
    assert_eq!(outcomes().await, expected, "a load that fails");

    f(1, false).await.expect("the body succeeds");
    (expected.misses, expected.loads, expected.stores) = (2, 2, 1);
    assert_eq!(outcomes().await, expected, "a cold call");

    f(1, false).await.expect("a hit");
    expected.hits = 1;
    assert_eq!(outcomes().await, expected, "a hit");

    f(0, false).await.expect("the body succeeds");
    expected.bypasses = 1;
    assert_eq!(outcomes().await, expected, "a false condition");

    advance(Duration::from_secs(301)).await;
    f(1, false).await.expect("the body succeeds");
    (expected.misses, expected.loads, expected.stores) = (3, 3, 2);
    assert_eq!(outcomes().await, expected, "an entry that has expired");

    let cache = caches().cache::<u64>("c").expect("a valid name");
    cache.get(&1).await;
    cache.get(&2).await;
    (expected.hits, expected.misses) = (2, 4);
    assert_eq!(outcomes().await, expected, "look-ups by hand");

    let stats = stats().await;
    assert_eq!(calls(&stats), 7);
    let (in_memory, in_backend) = if on_redis() { (0, 2) } else { (2, 0) };
    assert_eq!(
        (stats.memory_hits, stats.backend_hits),
        (in_memory, in_backend)
    );
}

async fn case_b40_with_contention() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] k: u64, gate: Gate) -> u64 {
        gate.pass().await;
        k
    }

    let gate = Gate::default();
    let cold = (0..40).map(|_| spawn(f(1, gate.clone()))).collect();
    until_busy("c", &gate, 40).await;
    gate.open();
    results(cold).await;
    // Whoever comes from now on has a hit, be the store done or not.
    let warm = (0..40).map(|_| spawn(f(1, gate.clone()))).collect();
    results(warm).await;
    let stats = stats().await;
    assert_eq!((stats.misses, stats.coalesced, stats.hits), (1, 39, 40));
    assert_eq!((stats.loads, stats.stores), (1, 1));
    assert_eq!(calls(&stats), 80);
}
