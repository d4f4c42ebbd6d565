//! Many callers and one cold key.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use cache_core::{CacheStats, cache_result};
use tests::{bodies, body, both, caches, spawn};
use tokio::sync::Semaphore;

both!(
    one_body_for_a_thousand_callers,
    one_body_at_a_time_when_leaders_are_dropped
);

fn stats() -> CacheStats {
    caches().stats().get("cold").copied().unwrap_or_default()
}

/// Returns when it is so, which it must be soon.
async fn until(so: impl Fn() -> bool) {
    let it_is = async {
        while !so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), it_is)
        .await
        .expect("what is waited for happens");
}

async fn one_body_for_a_thousand_callers() {
    const CALLERS: u64 = 1_000;

    #[cache_result(cache = "cold", manager = caches(), lock_timeout = "1m")]
    async fn f(key: u64) -> u64 {
        body("f");
        // Not before everybody else is there.
        until(|| stats().coalesced == CALLERS - 1).await;
        key + 1
    }

    let callers: Vec<_> = (0..CALLERS).map(|_| spawn(f(7))).collect();
    for caller in callers {
        assert_eq!(caller.await.expect("no caller panics"), 8);
    }
    assert_eq!(bodies("f"), 1);
    let stats = stats();
    assert_eq!((stats.misses, stats.loads), (1, 1));
    assert_eq!((stats.coalesced, stats.hits), (CALLERS - 1, 0));
}

async fn one_body_at_a_time_when_leaders_are_dropped() {
    const CALLERS: usize = 100;
    const DROPPED: u64 = 20;

    #[cache_result(cache = "cold", manager = caches(), lock_timeout = "1m")]
    async fn f(
        #[cache_key] key: u64,
        caller: usize,
        leader: Arc<AtomicUsize>,
        gate: Arc<Semaphore>,
    ) -> u64 {
        body("f");
        leader.store(caller, Ordering::SeqCst);
        let _open = gate.acquire().await;
        key + 1
    }

    let leader = Arc::new(AtomicUsize::new(CALLERS));
    let gate = Arc::new(Semaphore::new(0));
    let mut callers: Vec<_> = (0..CALLERS)
        .map(|caller| Some(spawn(f(7, caller, Arc::clone(&leader), Arc::clone(&gate)))))
        .collect();
    until(|| stats().coalesced == CALLERS as u64 - 1).await;
    for dropped in 1..=DROPPED {
        assert_eq!(bodies("f"), dropped);
        let caller = callers[leader.load(Ordering::SeqCst)]
            .take()
            .expect("nobody leads twice");
        caller.abort();
        until(|| bodies("f") == dropped + 1).await;
    }
    gate.add_permits(1);
    for caller in callers.into_iter().flatten() {
        assert_eq!(caller.await.expect("no caller panics"), 8);
    }
    assert_eq!(bodies("f"), DROPPED + 1);
}
