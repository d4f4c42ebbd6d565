//! An invalidation that fails is not lost: it is made good, and until then nothing is served that it was to end.

use std::time::Duration;

use cache_core::{
    Cache, CacheConfig, CacheManager,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

const CHANGES: [Operation; 4] = [
    Operation::Put,
    Operation::Invalidate,
    Operation::InvalidateAll,
    Operation::InvalidateIf,
];

fn cache(backend: &FaultyBackend) -> (CacheManager, Cache<u64>) {
    let caches = CacheManager::builder()
        .cache("c", CacheConfig::on(backend.clone()))
        .build()
        .expect("valid");
    let cache = caches.cache("c").expect("valid");
    (caches, cache)
}

async fn filled() -> (FaultyBackend, CacheManager, Cache<u64>) {
    let backend = FaultyBackend::new(MapBackend::new());
    let (caches, cache) = cache(&backend);
    for key in 0..3 {
        cache.insert(&key, 1).await.expect("stored");
    }
    (backend, caches, cache)
}

/// Waits for it, by the runtime's clock, so that a paused one moves on.
async fn acknowledged(cache: &Cache<u64>) {
    let made_good = async {
        while cache.stats().pending_invalidations > 0 {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(60), made_good)
        .await
        .expect("what is owed is made good");
}

#[tokio::test]
async fn b35_a_failed_invalidation_is_made_good() {
    let (backend, _caches, cache) = filled().await;
    let (_others, other) = self::cache(&backend);
    backend.fail(&CHANGES);
    cache.invalidate(&0).await.expect_err("the backend fails");
    assert_eq!(cache.stats().pending_invalidations, 1);
    // This process neither reads nor stores the key; another key is as it was.
    assert_eq!(cache.get(&0).await, None);
    assert_eq!(cache.get_or_load(&0, async { 2 }).await, 2);
    assert_eq!(cache.get_or_load(&0, async { 3 }).await, 3);
    assert_eq!(cache.get(&1).await, Some(1));
    assert_eq!(other.get(&0).await, Some(1), "nobody has told the backend");

    backend.heal();
    acknowledged(&cache).await;
    assert_eq!(other.get(&0).await, None);
    assert_eq!(cache.get_or_load(&0, async { 4 }).await, 4);
    assert_eq!(cache.get_or_load(&0, async { 5 }).await, 4);
}

#[tokio::test]
async fn so_is_one_of_the_whole_cache_and_one_by_predicate() {
    for by_predicate in [false, true] {
        let (backend, _caches, cache) = filled().await;
        backend.fail(&CHANGES);
        if by_predicate {
            cache
                .invalidate_if(|key| key == "0")
                .await
                .expect_err("the backend fails");
        } else {
            cache.invalidate_all().await.expect_err("the backend fails");
        }
        for key in 0..3 {
            assert_eq!(cache.get(&key).await, None);
        }
        backend.heal();
        acknowledged(&cache).await;
        assert_eq!(cache.get(&1).await, None);
        cache.insert(&1, 2).await.expect("stored");
        assert_eq!(cache.get(&1).await, Some(2));
    }
}

#[tokio::test]
async fn so_is_what_a_failed_put_was_to_supersede() {
    let (backend, _caches, cache) = filled().await;
    let (_others, other) = self::cache(&backend);
    backend.fail(&CHANGES);
    cache.insert(&0, 2).await.expect_err("the backend fails");
    assert_eq!(cache.get(&0).await, None);
    backend.heal();
    acknowledged(&cache).await;
    assert_eq!((cache.get(&0).await, other.get(&0).await), (None, None));
}

#[tokio::test(start_paused = true)]
async fn one_that_hangs_is_owed_until_it_is_acknowledged() {
    let (backend, _caches, cache) = filled().await;
    backend.hang(&CHANGES);
    cache.invalidate(&0).await.expect_err("no answer in time");
    assert_eq!(cache.get(&0).await, None);
    assert_eq!(cache.stats().pending_invalidations, 1);
    backend.heal();
    acknowledged(&cache).await;
    assert_eq!(cache.get_or_load(&0, async { 2 }).await, 2);
    assert_eq!(cache.get(&0).await, Some(2));
}

#[tokio::test(start_paused = true)]
async fn while_it_is_owed_other_processes_are_heard() {
    let map = MapBackend::new();
    let backend = FaultyBackend::new(map.clone());
    let (_caches, cache) = cache(&backend);
    let (_others, other) = self::cache(&FaultyBackend::new(map));
    backend.hang(&CHANGES);
    cache.invalidate(&0).await.expect_err("no answer in time");
    let (read, seen) = oneshot::channel();
    let (go_on, gone_on) = oneshot::channel();
    let early = tokio::spawn({
        let cache = cache.clone();
        async move {
            let load = async {
                read.send(()).expect("the test waits");
                gone_on.await.expect("the test goes on");
                1
            };
            cache.get_or_load(&0, load).await
        }
    });
    seen.await.expect("the load has begun");
    other.invalidate(&0).await.expect("acknowledged");
    assert_eq!(
        cache.get_or_load(&0, async { 2 }).await,
        2,
        "it joins no older load"
    );
    assert_eq!(cache.stats().coalesced, 0);
    go_on.send(()).expect("the load waits");
    assert_eq!(early.await.expect("no panic"), 1);
}

#[tokio::test]
async fn one_whose_runtime_ends_is_made_good_by_the_next() {
    let (backend, _caches, cache) = filled().await;
    backend.hang(&CHANGES);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime
                .block_on(cache.invalidate(&0))
                .expect_err("no answer in time");
        });
    });
    backend.heal();
    assert_eq!(
        cache.get(&0).await,
        None,
        "it is owed, and seen to from here on"
    );
    acknowledged(&cache).await;
    assert_eq!(cache.get(&0).await, None);
    assert_eq!(cache.get(&1).await, Some(1));
}

#[tokio::test]
async fn or_by_the_one_who_shuts_down() {
    let (backend, caches, cache) = filled().await;
    backend.hang(&CHANGES);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            runtime
                .block_on(cache.invalidate(&0))
                .expect_err("no answer in time");
        });
    });
    backend.heal();
    let report = caches.shutdown(Duration::from_secs(60)).await;
    assert_eq!(report.pending_invalidations, 0);
}

#[tokio::test]
async fn many_that_fail_become_one_of_the_whole_cache() {
    let (backend, _caches, cache) = filled().await;
    backend.fail(&CHANGES);
    for key in 0..10_000 {
        cache.invalidate(&key).await.expect_err("the backend fails");
    }
    assert!(cache.stats().pending_invalidations <= 4097);
    assert_eq!(cache.get(&1_000_000).await, None);
    backend.heal();
    acknowledged(&cache).await;
    cache.insert(&0, 2).await.expect("stored");
    assert_eq!((cache.get(&0).await, cache.get(&1).await), (Some(2), None));
}

#[tokio::test(start_paused = true)]
async fn shutting_down_drains_what_is_owed_or_says_what_it_gave_up() {
    let (backend, caches, cache) = filled().await;
    backend.fail(&CHANGES);
    cache.invalidate(&0).await.expect_err("the backend fails");
    let report = caches.shutdown(Duration::from_secs(5)).await;
    assert_eq!((report.unfinished, report.pending_invalidations), (0, 1));
    backend.heal();
    let report = caches.shutdown(Duration::from_secs(5)).await;
    assert_eq!((report.unfinished, report.pending_invalidations), (0, 0));
}

/// As long as the process lives: a manager that nobody has any more is kept by what it owes.
#[tokio::test(start_paused = true)]
async fn it_outlives_its_manager() {
    let (backend, caches, cache) = filled().await;
    let other = CacheManager::builder()
        .cache("c", CacheConfig::on(backend.clone()))
        .build()
        .expect("valid");
    let other = other.cache::<u64>("c").expect("valid");
    backend.fail(&CHANGES);
    assert!(cache.invalidate(&1).await.is_err());
    drop((cache, caches));
    backend.heal();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(other.get(&1).await, None);
}
