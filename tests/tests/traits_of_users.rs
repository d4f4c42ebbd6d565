//! Traits of users that panic, or call the cache that calls them.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Weak, mpsc},
    task::{Context, Waker},
    thread,
    time::Duration,
};

use cache_core::{CacheConfig, CacheManager, cache_put, cache_result};
use serde::{Deserialize, Serialize, Serializer};
use tests::{World, bodies, body, both, caches, on_redis, spawn};

both!(
    a_key_whose_serialize_panics_goes_past_the_cache,
    a_value_whose_serialize_panics_is_returned,
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Panics;

impl Serialize for Panics {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        panic!("as it always does")
    }
}

async fn a_key_whose_serialize_panics_goes_past_the_cache() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: Panics, _other: u8) -> u64 {
        body("f")
    }

    assert_eq!(spawn(f(Panics, 1)).await.expect("no panic"), 0);
    assert_eq!(spawn(f(Panics, 1)).await.expect("no panic"), 1);
    let by_hand = caches().cache::<u64>("c").expect("the function's type");
    assert_eq!(by_hand.get(&Panics).await, None);
    assert!(by_hand.invalidate(&(1, Panics)).await.is_err());
    assert_eq!(by_hand.stats().bypasses, 3);
}

async fn a_value_whose_serialize_panics_is_returned() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u8) -> Panics {
        body("f");
        Panics
    }

    #[cache_put(cache = "c", manager = caches())]
    async fn put(_k: u8) -> Panics {
        Panics
    }

    assert_eq!(spawn(f(1)).await.expect("no panic"), Panics);
    caches().settle().await;
    assert_eq!(spawn(put(1)).await.expect("no panic"), Panics);
    assert_eq!(spawn(f(1)).await.expect("no panic"), Panics);
    caches().settle().await;
    // In memory a value is kept as it is.
    let failures = if on_redis() { (2, 3) } else { (1, 0) };
    let stats = caches().stats()["c"];
    assert_eq!((bodies("f"), stats.store_failures), failures);
}

/// A value that takes its entry away and looks for it when it is dropped.
struct Sticky {
    key: u64,
    caches: Weak<CacheManager>,
}

impl Drop for Sticky {
    fn drop(&mut self) {
        let Some(caches) = self.caches.upgrade() else {
            return;
        };
        let cache = caches.cache::<Arc<Self>>("c").expect("its own type");
        at_once(cache.invalidate(&self.key)).expect("in memory");
        at_once(cache.get(&self.key));
        let _ = cache.stats();
    }
}

/// Polls what does not wait, in memory.
fn at_once<T>(work: impl Future<Output = T>) -> T {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

/// The store gives up values in the middle of other operations, with the locks of those held.
#[test]
fn a_value_may_call_its_cache_when_it_is_dropped() {
    let (done, finished) = mpsc::channel();
    thread::spawn(move || {
        let config = CacheConfig::memory().max_capacity(50);
        let caches = CacheManager::builder().cache("c", config).build();
        let caches = Arc::new(caches.expect("valid settings"));
        let cache = caches.cache::<Arc<Sticky>>("c").expect("a cache");
        let sticky = |key| {
            Arc::new(Sticky {
                key,
                caches: Arc::downgrade(&caches),
            })
        };
        for round in 0..100_u64 {
            for key in 0..100 {
                if round % 2 == 0 {
                    at_once(cache.insert(&key, sticky(key))).expect("in memory");
                } else {
                    at_once(cache.get_or_load(&key, async { sticky(key) }));
                }
            }
            if round % 10 == 9 {
                at_once(cache.invalidate_all()).expect("in memory");
            }
        }
        done.send(()).expect("somebody waits");
    });
    // It takes a moment. It is only a thread that hangs for ever that is waited for that long.
    finished
        .recv_timeout(Duration::from_secs(60))
        .expect("no thread waits for itself");
}

/// A time that no clock can be moved by is a long time.
#[tokio::test]
async fn a_lock_timeout_of_any_length() {
    #[cache_result(cache = "c", lock_timeout = Duration::MAX, manager = caches())]
    async fn f(_k: u8) -> u64 {
        tokio::task::yield_now().await;
        body("f")
    }

    World::memory()
        .run(async { assert_eq!(tokio::join!(f(1), f(1)), (0, 0)) })
        .await;
}
