//! Bodies and callers that do not come to their end.

use std::sync::Arc;

use cache_core::{
    CacheConfig, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::{World, bodies, body, both, caches, soon, spawn, until, with_caches};
use tokio::sync::Notify;

both!(
    panicking_body_invalidates,
    dropped_body_invalidates,
    dropped_body_without_a_known_key_invalidates_the_whole_cache,
    dropped_or_panicking_put_invalidates,
);

async fn panicking_body_invalidates() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(k: u32) {
        panic!("half of {k} is written");
    }

    f(1).await;
    f(2).await;
    let panic = spawn(d(1)).await.expect_err("the body panics");
    assert!(panic.is_panic());
    caches().settle().await;
    f(2).await;
    assert_eq!(bodies("f"), 2);
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

async fn dropped_body_invalidates() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_result(cache = "list", manager = caches())]
    async fn list() -> u64 {
        body("list")
    }

    #[cache_invalidate(cache = "c", key = k, manager = caches())]
    #[cache_invalidate_all(cache = "list", manager = caches())]
    async fn d(k: u32, begun: Arc<Notify>) -> Result<(), String> {
        begun.notify_one();
        std::future::pending::<()>().await;
        Err(format!("{k} is never reached"))
    }

    f(1).await;
    f(2).await;
    list().await;
    let begun = Arc::new(Notify::new());
    let interrupted = spawn(d(1, Arc::clone(&begun)));
    soon(begun.notified()).await;
    f(1).await;
    assert_eq!(bodies("f"), 2, "nothing has been invalidated yet");
    interrupted.abort();
    assert!(interrupted.await.expect_err("aborted").is_cancelled());
    caches().settle().await;
    f(2).await;
    assert_eq!(bodies("f"), 2);
    f(1).await;
    list().await;
    assert_eq!((bodies("f"), bodies("list")), (3, 2));
}

async fn dropped_body_without_a_known_key_invalidates_the_whole_cache() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key_with = |k: &u32| *k, manager = caches())]
    async fn d(begun: Arc<Notify>) -> u32 {
        begun.notify_one();
        std::future::pending().await
    }

    f(1).await;
    f(2).await;
    let begun = Arc::new(Notify::new());
    let interrupted = spawn(d(Arc::clone(&begun)));
    soon(begun.notified()).await;
    interrupted.abort();
    interrupted.await.expect_err("aborted");
    caches().settle().await;
    f(1).await;
    f(2).await;
    assert_eq!(bodies("f"), 4);
}

async fn dropped_or_panicking_put_invalidates() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_put(cache = "c", key = k, manager = caches())]
    async fn put(k: u32, begun: Option<Arc<Notify>>) -> u64 {
        match begun {
            None => panic!("half of {k} is written"),
            Some(begun) => begun.notify_one(),
        }
        std::future::pending().await
    }

    f(1).await;
    spawn(put(1, None)).await.expect_err("the body panics");
    caches().settle().await;
    f(1).await;
    assert_eq!(bodies("f"), 2);
    let begun = Arc::new(Notify::new());
    let interrupted = spawn(put(1, Some(Arc::clone(&begun))));
    soon(begun.notified()).await;
    interrupted.abort();
    interrupted.await.expect_err("aborted");
    caches().settle().await;
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

/// Once the body has succeeded, the invalidation goes on to its end, whoever waits for it.
#[tokio::test]
async fn dropped_caller_does_not_stop_an_invalidation() {
    World::memory().run(dropped_caller()).await;
}

async fn dropped_caller() {
    #[cache_result(cache = "one", manager = caches())]
    async fn one() -> u64 {
        body("one")
    }

    #[cache_result(cache = "all", manager = caches())]
    async fn all() -> u64 {
        body("all")
    }

    #[cache_invalidate(cache = "one", manager = caches())]
    #[cache_invalidate_all(cache = "all", manager = caches())]
    async fn d() {
        body("d");
    }

    let store = MapBackend::new();
    let backend = FaultyBackend::new(store.clone());
    let slow = CacheConfig::on(backend.clone());
    with_caches(|builder| builder.defaults(slow), async {
        one().await;
        all().await;
        caches().settle().await;
        assert_eq!(store.keys().len(), 2);
        backend.hang(&[Operation::Invalidate, Operation::InvalidateAll]);
        let caller = spawn(d());
        until("the invalidation is under way", || {
            backend.calls(Operation::Invalidate) > 0
        })
        .await;
        assert_eq!(bodies("d"), 1);
        caller.abort();
        caller.await.expect_err("aborted");
        backend.heal();
        caches().settle().await;
        assert_eq!(store.keys(), [""; 0]);
        one().await;
        all().await;
        assert_eq!((bodies("one"), bodies("all")), (2, 2));
    })
    .await;
}
