//! Random numbers for tokens and identities: they must never meet, and need not be secret. Not from a generator that a
//! program can seed: two processes with one seed would make the same tokens.

use std::hash::{BuildHasher, RandomState};

/// A random number, different in every process and at every call.
pub(crate) fn u64() -> u64 {
    // A fresh `RandomState` is seeded by the operating system once per thread and counted up after that; hashing a
    // counter of our own with it keeps two calls apart even where two states met.
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(0);
    RandomState::new().hash_one(CALLS.fetch_add(1, Ordering::Relaxed))
}

/// A random number from 0.0 to 1.0.
pub(crate) fn fraction() -> f64 {
    // 53 bits are what an `f64` holds exactly.
    #[allow(clippy::cast_precision_loss)]
    let (bits, all) = ((u64() >> 11) as f64, (1_u64 << 53) as f64);
    bits / all
}
