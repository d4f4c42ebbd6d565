//! Where there is no Tokio runtime, or one that lacks something, no call fails.

use std::{
    future::Future,
    pin::pin,
    sync::mpsc,
    task::{Context, Poll, Waker},
};

use cache_core::{
    CacheConfig, CacheManager,
    testing::{self, MapBackend},
};
use tokio::{runtime::Builder, task::yield_now};

/// Runs what needs nothing from its runtime.
fn run<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(value) = polled {
            return value;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_caller_waits_for_another_on_a_runtime_without_timers() {
    let cache = testing::manager().0.cache::<u64>("c").expect("a cache");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let loader = cache.clone();
        let leader = tokio::spawn(async move {
            let load = async {
                yield_now().await;
                yield_now().await;
                1
            };
            loader.get_or_load("k", load).await
        });
        yield_now().await;
        assert_eq!(cache.get_or_load("k", async { 2 }).await, 1);
        assert_eq!(leader.await.ok(), Some(1));
    });
    assert_eq!((cache.stats().loads, cache.stats().coalesced), (1, 1));
}

/// What a cache on a backend does where the backend cannot be asked.
async fn nothing_fails_but_the_backend() {
    let manager = CacheManager::builder()
        .defaults(CacheConfig::on(MapBackend::new()))
        .build()
        .expect("valid settings");
    let cache = manager.cache::<u64>("c").expect("a cache");
    assert_eq!(cache.get_or_load("k", async { 1 }).await, 1);
    assert_eq!(cache.get_or_load("k", async { 2 }).await, 2);
    assert_eq!(cache.get("k").await, None);
    assert!(cache.invalidate("k").await.is_err());
    assert!(cache.invalidate_all().await.is_err());
    assert!(cache.invalidate_if(|_| true).await.is_err());
    let _ = cache.insert("k", 3).await;
    assert_eq!(
        manager
            .shutdown(std::time::Duration::from_secs(1))
            .await
            .unfinished,
        0
    );
    let stats = cache.stats();
    assert_eq!((stats.loads, stats.misses, stats.hits), (2, 3, 0));
    assert!(stats.backend_errors > 0);
}

#[test]
fn a_backend_is_not_asked_without_a_runtime() {
    run(nothing_fails_but_the_backend());
}

#[test]
fn a_backend_is_not_asked_on_a_runtime_without_timers() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(nothing_fails_but_the_backend());
}

/// Timers of a runtime that shuts down panic.
#[test]
fn a_caller_waits_for_another_on_a_runtime_that_shuts_down() {
    let cache = testing::manager().0.cache::<u64>("c").expect("a cache");
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let (begin, begun) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    runtime.spawn_blocking(move || {
        begun.recv().expect("it is sent");
        let both = async {
            let load = async {
                for _ in 0..3 {
                    yield_now().await;
                }
                1
            };
            tokio::join!(
                cache.get_or_load("k", load),
                cache.get_or_load("k", async { 2 })
            )
        };
        tell.send(run(both)).expect("somebody listens");
    });
    runtime.shutdown_background();
    begin.send(()).expect("it is there");
    assert_eq!(told.recv(), Ok((1, 1)));
}
