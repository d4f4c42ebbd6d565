//! A backend that keeps failing is left alone: calls skip it at no cost, and come back to it by themselves.

use std::time::Duration;

use cache_core::{
    Cache, CacheBackend, CacheConfig, CacheError, CacheManager,
    backend::{BackendErrorKind, BackendHealth},
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::Log;
use tokio::time::{Instant, advance, sleep};

/// Callers have hits again that long after the backend is back.
const BACK: Duration = Duration::from_millis(2500);

fn faulty() -> FaultyBackend {
    FaultyBackend::new(MapBackend::new())
}

fn on(backend: &FaultyBackend) -> CacheManager {
    CacheManager::builder()
        .defaults(CacheConfig::on(backend.clone()))
        .build()
        .expect("valid")
}

fn cache(caches: &CacheManager, name: &str) -> Cache<u64> {
    caches.cache(name).expect("a cache")
}

/// Has the backend given up, by look-ups of keys that are there for nobody else.
async fn give_up(cache: &Cache<u64>) {
    for key in ["lost-1", "lost-2", "lost-3"] {
        assert_eq!(cache.get(key).await, None);
    }
}

fn asked(backend: &FaultyBackend) -> u64 {
    let calls = Operation::ALL
        .iter()
        .map(|operation| backend.calls(*operation));
    calls.sum()
}

#[tokio::test(start_paused = true)]
async fn after_three_failures_in_a_row_it_is_not_asked_by_anybody() {
    let backend = faulty();
    let caches = on(&backend);
    let (one, other) = (cache(&caches, "one"), cache(&caches, "other"));
    other.insert(&1, 1).await.expect("stored");
    backend.fail(Operation::ALL);
    one.get(&1).await;
    other.get(&1).await;
    assert!(caches.health().is_up(), "two are no proof");
    one.get(&2).await;
    assert_eq!(caches.health().caches["one"], BackendHealth::Down);
    assert_eq!(caches.health().caches["other"], BackendHealth::Down);

    let before = asked(&backend);
    // Not by looking, loading, storing, putting or invalidating, in either cache; and nothing takes any time.
    let began = Instant::now();
    for cache in [&one, &other] {
        let misses = cache.stats().misses;
        assert_eq!(cache.get(&1).await, None);
        assert_eq!(cache.get_or_load(&1, async { 2 }).await, 2);
        assert_eq!(cache.stats().misses, misses + 2);
        assert!(cache.insert(&1, 3).await.is_err());
        assert!(cache.invalidate(&2).await.is_err());
        assert!(cache.invalidate_if(|_| true).await.is_err());
        assert!(cache.invalidate_all().await.is_err());
        assert!(cache.stats().pending_invalidations > 0);
        assert_eq!(
            cache.stats().stores + cache.stats().stores_refused,
            u64::from(cache.name() == "other")
        );
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(asked(&backend), before);
}

#[tokio::test(start_paused = true)]
async fn half_of_ten_calls_within_a_second_are_enough() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    for call in 0..9 {
        if call % 2 == 0 {
            backend.fail(&[Operation::Load]);
        } else {
            backend.heal();
        }
        cache.get(&call).await;
    }
    backend.fail(&[Operation::Load]);
    assert!(caches.health().is_up());
    cache.get(&9).await;
    assert!(!caches.health().is_up());
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_fails_now_and_then_is_used() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    let log = Log::listen();
    for call in 0..1000 {
        if call % 10 == 0 {
            backend.fail(&[Operation::Load]);
        } else {
            backend.heal();
        }
        cache.get_or_load(&(call % 7), async { 1 }).await;
        caches.settle().await;
        advance(Duration::from_millis(100)).await;
    }
    assert!(caches.health().is_up());
    assert_eq!(cache.stats().backend_errors, 100);
    assert!(cache.stats().hits > 850, "{:?}", cache.stats());
    // That was a hundred seconds.
    assert!((1..=2).contains(&log.warnings().len()), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn another_backend_is_not_given_up_with_it() {
    let (bad, good) = (faulty(), faulty());
    let caches = CacheManager::builder()
        .cache("bad", CacheConfig::on(bad.clone()))
        .cache("good", CacheConfig::on(good.clone()))
        .build()
        .expect("valid");
    bad.fail(Operation::ALL);
    give_up(&cache(&caches, "bad")).await;
    let good = cache(&caches, "good");
    good.insert(&1, 1).await.expect("stored");
    assert_eq!(good.get(&1).await, Some(1));
    assert_eq!(caches.health().caches["good"], BackendHealth::Up);
    assert_eq!(caches.health().caches["bad"], BackendHealth::Down);
}

/// Goes on calling until there is a hit, and says how long that took.
async fn until_hit(cache: &Cache<u64>, key: u64) -> Duration {
    let began = Instant::now();
    while cache.get(&key).await.is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "no hit for ever");
        sleep(Duration::from_millis(5)).await;
    }
    began.elapsed()
}

/// B32: recovery needs no restart.
#[tokio::test(start_paused = true)]
async fn case_b32_hits_are_back_soon_after_the_backend_is() {
    type Weather = fn(&FaultyBackend);
    let weathers: [Weather; 3] = [
        |backend| backend.fail(Operation::ALL),
        |backend| backend.hang(Operation::ALL),
        |backend| backend.delay(Operation::ALL, Duration::from_secs(3)),
    ];
    for weather in weathers {
        for outage in [0, 1, 10, 600] {
            let backend = faulty();
            let caches = on(&backend);
            let cache = cache(&caches, "c");
            cache.insert(&1, 1).await.expect("stored");
            weather(&backend);
            give_up(&cache).await;
            sleep(Duration::from_secs(outage)).await;
            backend.heal();
            let took = until_hit(&cache, 1).await;
            assert!(took < BACK, "{took:?} after {outage} s");
            assert!(caches.health().is_up());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_owed_is_paid_before_anything_is_read() {
    let backend = faulty();
    let caches = on(&backend);
    let (one, other) = (cache(&caches, "one"), cache(&caches, "other"));
    for key in 0..500 {
        one.insert(&key, 1).await.expect("stored");
        other.insert(&key, 1).await.expect("stored");
    }
    let writes = [
        Operation::Invalidate,
        Operation::InvalidateAll,
        Operation::Put,
    ];
    backend.fail(Operation::ALL);
    give_up(&one).await;
    for key in 0..400 {
        assert!(one.invalidate(&key).await.is_err());
        assert!(other.invalidate(&key).await.is_err());
    }
    assert_eq!(one.stats().pending_invalidations, 400);
    // It can be read again, and still refuses to be told: so nobody comes back to it.
    backend.heal();
    backend.fail(&writes);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(other.get(&450).await, None);
    assert!(!caches.health().is_up());

    backend.heal();
    let took = until_hit(&other, 450).await;
    assert!(took < BACK, "{took:?}");
    assert_eq!(one.stats().pending_invalidations, 0);
    assert_eq!(other.stats().pending_invalidations, 0);
    for key in 0..400 {
        assert_eq!((one.get(&key).await, other.get(&key).await), (None, None));
    }
}

#[tokio::test(start_paused = true)]
async fn it_comes_back_while_others_go_on_to_invalidate() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    cache.insert(&1, 1).await.expect("stored");
    backend.fail(Operation::ALL);
    give_up(&cache).await;
    backend.delay(Operation::ALL, Duration::from_millis(2));
    let writer = tokio::spawn({
        let cache = cache.clone();
        async move {
            for key in (2..1000).cycle() {
                let _ = cache.invalidate(&key).await;
                sleep(Duration::from_millis(1)).await;
            }
        }
    });
    let took = until_hit(&cache, 1).await;
    assert!(took < BACK, "{took:?}");
    writer.abort();
}

/// Counted from the outside: two changes of state, one warning.
#[tokio::test(start_paused = true)]
async fn case_085_an_outage_is_one_warning() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    cache.insert(&1, 1).await.expect("stored");
    let log = Log::listen();
    for outage in 1..=3 {
        backend.fail(Operation::ALL);
        for call in 0..1000 {
            cache.get_or_load(&(call % 10), async { 1 }).await;
            let _ = cache.invalidate(&2).await;
            sleep(Duration::from_millis(10)).await;
        }
        backend.heal();
        until_hit(&cache, 1).await;
        assert_eq!(log.warnings().len(), outage, "{log:?}");
        let back = log.all();
        let back = back
            .iter()
            .filter(|line| line.contains("the backend answers again"));
        assert_eq!(back.count(), outage, "{log:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_repeated_once_a_minute() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    let log = Log::listen();
    backend.fail_as(Operation::ALL, BackendErrorKind::Refused);
    give_up(&cache).await;
    assert_eq!(log.warnings().len(), 1, "{log:?}");
    for _ in 0..600 {
        assert_eq!(caches.health().caches["c"], BackendHealth::Refused);
        cache.get(&1).await;
        sleep(Duration::from_secs(1)).await;
    }
    let warnings = log.warnings().len();
    assert!((9..=11).contains(&warnings), "{warnings}: {log:?}");
    backend.heal();
    cache.get(&1).await;
    sleep(BACK).await;
    assert!(caches.health().is_up());
}

#[tokio::test(start_paused = true)]
async fn a_full_backend_is_read_and_not_given_up() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    cache.insert(&1, 1).await.expect("stored");
    let log = Log::listen();
    backend.fail_as(&[Operation::Store], BackendErrorKind::Capacity);
    for key in 100..200 {
        assert_eq!(cache.get_or_load(&key, async { 2 }).await, 2);
        caches.settle().await;
    }
    assert_eq!(cache.stats().store_failures, 100);
    assert_eq!(cache.get(&1).await, Some(1));
    assert!(caches.health().is_up());
    assert_eq!(log.warnings().len(), 1, "{log:?}");
}

/// What was sent before it was given up ends after it has come back.
#[tokio::test(start_paused = true)]
async fn late_failures_do_not_count_against_a_backend_that_is_back() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    backend.hang(&[Operation::Store]);
    for key in 10..20 {
        cache.get_or_load(&key, async { 1 }).await;
    }
    // The stores go on for a second.
    backend.fail(&[Operation::Load]);
    give_up(&cache).await;
    backend.heal();
    backend.hang(&[Operation::Store]);
    while !caches.health().is_up() {
        cache.get(&1).await;
        sleep(Duration::from_millis(1)).await;
    }
    caches.settle().await;
    assert!(caches.health().is_up());
}

#[test]
fn who_tries_it_may_end_with_a_runtime() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    };
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    runtime().block_on(async {
        cache.insert(&1, 1).await.expect("stored");
        backend.fail(Operation::ALL);
        give_up(&cache).await;
    });
    backend.heal();
    runtime().block_on(until_hit(&cache, 1));

    // One that lives on, and that nobody drives.
    let resting = runtime();
    backend.fail(Operation::ALL);
    resting.block_on(give_up(&cache));
    backend.heal();
    runtime().block_on(until_hit(&cache, 1));
    drop(resting);
}

/// The cost of a call whose backend was given up beside that of one that never asks. Printed; the limit is generous.
#[tokio::test]
async fn a_call_that_skips_the_backend_costs_next_to_nothing() {
    const ROUNDS: usize = 400;
    const CALLS: u32 = 100;
    let backend = faulty();
    let caches = CacheManager::builder()
        .cache("on", CacheConfig::on(backend.clone()))
        .cache("disabled", CacheConfig::disabled())
        .build()
        .expect("valid");
    let (on, disabled) = (cache(&caches, "on"), cache(&caches, "disabled"));
    backend.fail(Operation::ALL);
    give_up(&on).await;
    let mut medians = Vec::new();
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (cache, times) in [&disabled, &on].into_iter().zip(&mut times) {
            let began = std::time::Instant::now();
            for key in 0..CALLS {
                cache.get_or_load(&key, async { 1 }).await;
            }
            times.push(began.elapsed() / CALLS);
        }
    }
    for times in &mut times {
        times.sort_unstable();
        medians.push(times[times.len() / 2]);
    }
    let added = medians[1].saturating_sub(medians[0]);
    println!(
        "a call past the cache: {:?}; with the breaker open: {:?}; added: {added:?} (medians)",
        medians[0], medians[1]
    );
    assert_eq!(on.stats().hits, 0);
    assert!(added < Duration::from_micros(200), "{added:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_on_its_way_into_the_backend_is_bounded() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    let log = Log::listen();
    backend.hang(&[Operation::Store]);
    let began = Instant::now();
    for key in 0..3000 {
        assert_eq!(cache.get_or_load(&key, async { key }).await, key);
    }
    assert_eq!(began.elapsed(), Duration::ZERO, "nothing was waited for");
    assert_eq!(cache.stats().store_failures, 3000 - 1024);
    assert_eq!(log.warnings().len(), 1, "{log:?}");
    backend.heal();
    caches.settle().await;
    assert_eq!(cache.stats().stores, 1024);
    // The newest were dropped.
    assert_eq!(cache.get(&1023).await, Some(1023));
    assert_eq!(cache.get(&1024).await, None);
    // And there is room again.
    cache.get_or_load(&5000, async { 1 }).await;
    caches.settle().await;
    assert_eq!(cache.get(&5000).await, Some(1));
}

#[tokio::test(start_paused = true)]
async fn so_are_its_bytes() {
    const SIZE: usize = 1_000_000;
    let backend = faulty();
    let caches = on(&backend);
    let cache: Cache<String> = caches.cache("c").expect("a cache");
    backend.hang(&[Operation::Store]);
    for key in 0..40 {
        cache.get_or_load(&key, async { "x".repeat(SIZE) }).await;
    }
    backend.heal();
    caches.settle().await;
    assert_eq!(cache.stats().stores, 16, "of a megabyte each");
    assert_eq!(cache.stats().store_failures, 24);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_asks_has_an_outcome() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    backend.hang(&[Operation::Load]);
    for key in 0..10 {
        let limit = Duration::from_millis(10);
        let call = cache.get_or_load(&key, async { 1 });
        assert!(tokio::time::timeout(limit, call).await.is_err());
        let call = cache.get(&key);
        assert!(tokio::time::timeout(limit, call).await.is_err());
    }
    assert_eq!((cache.stats().misses, cache.stats().loads), (20, 0));
}

/// By hand, who invalidates is told that it is not done yet.
#[tokio::test(start_paused = true)]
async fn who_invalidates_by_hand_is_told() {
    let backend = faulty();
    let caches = on(&backend);
    let cache = cache(&caches, "c");
    backend.fail(Operation::ALL);
    give_up(&cache).await;
    let told = cache.invalidate(&1).await;
    let Err(CacheError::Backend { error, .. }) = told else {
        panic!("{told:?}");
    };
    assert_eq!(error.kind(), BackendErrorKind::Unavailable);
    assert!(backend.instance().is_some());
}

/// What a backend refuses this program for one cache, it may do for another.
#[tokio::test(start_paused = true)]
async fn refused_invalidations_of_one_cache_do_not_keep_the_others_from_it() {
    let backend = faulty();
    let caches = on(&backend);
    let (bad, good) = (cache(&caches, "bad"), cache(&caches, "good"));
    good.insert(&1, 1).await.expect("stored");
    bad.insert(&1, 1).await.expect("stored");
    backend.fail_as(&[Operation::Invalidate], BackendErrorKind::Refused);
    for key in 1..=3 {
        assert!(bad.invalidate(&key).await.is_err());
    }
    assert_eq!(good.get(&1).await, None, "it was given up");
    assert!(until_hit(&good, 1).await <= BACK);
    // What is owed is left alone all the same.
    assert_eq!(bad.get(&1).await, None);
    assert_eq!(bad.stats().pending_invalidations, 3);
}
