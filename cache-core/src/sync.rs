//! What the flight table meets other threads with.
//!
//! It stands here so that something else can stand in its place: `tests/models` compiles `flight.rs` a second time, with
//! loom's locks and a time of its own, and tries every order in which threads can take its steps.

use std::hash::RandomState;
pub(crate) use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

pub(crate) use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

/// What decides in which shard a key is.
pub(crate) type KeyHasher = RandomState;

/// Enough that two callers rarely meet on a lock, few enough that clearing all of them is nothing.
pub(crate) const SHARDS: usize = 64;
