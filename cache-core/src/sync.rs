//! What the flight table meets other threads with.
//!
//! It stands here so that something else can stand in its place: `tests/models` compiles `flight.rs` a second time, with
//! loom's locks and a time of its own, and tries every order in which threads can take its steps.

pub(crate) use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};
use std::{
    future::{Future, poll_fn},
    hash::{BuildHasher, Hasher, RandomState},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

pub(crate) use tokio::{sync::watch, time::Instant};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What decides where a key is in the table: several times for every load, so it has to be quick, and by a seed that nobody
/// outside knows, so that nobody can make keys that meet.
#[derive(Clone)]
pub(crate) struct KeyHasher {
    seed: u64,
}

impl Default for KeyHasher {
    fn default() -> Self {
        Self {
            seed: RandomState::new().hash_one(()),
        }
    }
}

impl BuildHasher for KeyHasher {
    type Hasher = KeyHash;

    #[inline]
    fn build_hasher(&self) -> KeyHash {
        KeyHash(self.seed)
    }
}

pub(crate) struct KeyHash(u64);

impl Hasher for KeyHash {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    /// The end of a text, after which nothing comes.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Enough that two callers rarely meet on a lock, few enough that clearing all of them is nothing.
pub(crate) const SHARDS: usize = 64;

/// The output of `work`; `None` if it does not come before the deadline. Where a runtime shuts down its timers panic: then there is no
/// deadline any more.
pub(crate) async fn timeout_at<F: Future>(deadline: Instant, work: F) -> Option<F::Output> {
    let (mut work, mut over) = (pin!(work), pin!(tokio::time::sleep_until(deadline)));
    poll_fn(|context| {
        if let Poll::Ready(output) = work.as_mut().poll(context) {
            return Poll::Ready(Some(output));
        }
        let over = catch_unwind(AssertUnwindSafe(|| over.as_mut().poll(context)));
        over.unwrap_or(Poll::Pending).map(|()| None)
    })
    .await
}
