//! Random numbers for tokens and identities: unpredictable enough never to meet, not meant for secrets.

use std::hash::{BuildHasher, RandomState};

/// A random number, different in every process and at every call.
pub(crate) fn u64() -> u64 {
    // A fresh `RandomState` is seeded by the operating system once per thread and counted up after that; hashing a
    // counter of our own with it keeps two calls apart even where two states met.
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(0);
    RandomState::new().hash_one(CALLS.fetch_add(1, Ordering::Relaxed))
}
