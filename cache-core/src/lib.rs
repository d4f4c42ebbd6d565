//! Caching for async Rust by annotation.
//!
//! Write `#[cache_result(cache = "…")]` over an async function and its result is cached; `#[cache_invalidate]` over the functions
//! that change the data keeps it true. Where a cache keeps its entries is decided in one place, by a [`CacheManager`].
//! Without any set-up they are in memory.
//!
//! ```
//! use cache_core::{cache_invalidate, cache_result};
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! static PRICE: AtomicU64 = AtomicU64::new(2990);
//!
//! #[cache_result(cache = "price", ttl = "30s")]
//! async fn price(product: u64) -> Result<u64, std::io::Error> {
//!     Ok(PRICE.load(Ordering::SeqCst)) // a database, in real life
//! }
//!
//! #[cache_invalidate(cache = "price")]
//! async fn set_price(#[cache_key] product: u64, cents: u64) -> Result<(), std::io::Error> {
//!     PRICE.store(cents, Ordering::SeqCst);
//!     Ok(())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), std::io::Error> {
//! assert_eq!(price(7).await?, 2990);
//! set_price(7, 3199).await?;
//! assert_eq!(price(7).await?, 3199);
//! # Ok(()) }
//! ```
//!
//! # Concepts
//!
//! A **cache** has a name and values of one type. Functions that name the same cache share its entries.
//!
//! A **key** is the text of the parameters: all of them, or those marked `#[cache_key]`, or what `key = …` says; never
//! `self`, and never the function's name. So an invalidating function reaches what a reading one has stored if both have the
//! same parts in the same order; [`CacheManager::check`] tells when they have not.
//!
//! A **load** is one run of the function to fill the cache. Callers of one key share it.
//!
//! An **invalidation** is final: once it has returned, no hit gives a value whose function began before it, and no load
//! that was under way can store one. On a [backend](CacheBackend) that holds for all processes that share it. A caller whose
//! process gets no answer from the backend shares only a load that began after it came, and waits for the end of one that
//! began before.
//!
//! **The cache never makes a call fail.** Whatever goes wrong in it is a miss, is counted ([`CacheStats`]) and is logged
//! when the state changes, never per call. Errors ([`CacheError`]) are for set-up and for those who use a [`Cache`] by hand.
//!
//! # What there is
//!
//! | | |
//! |---|---|
//! | [`cache_result`], [`cache_put`], [`cache_invalidate`], [`cache_invalidate_all`] | the attributes, with all their options |
//! | [`CacheManager`], [`CacheConfig`] | which cache is where, for how long |
//! | [`Cache`] | the same entries by hand |
//! | [`AfterCommit`] | invalidations that wait for a transaction of the caller |
//! | [`Codec`] | the form of values in a backend: [`Bincode`], [`Json`], [`Postcard`], [`MessagePack`], or your own |
//! | [`backend`] | what a store of your own has to do; the crate `cache-redis` has one for Redis |
//! | [`testing`] | a manager per test, a clock that can be moved, backends that fail |
//!
//! # Runtime
//!
//! Caches in memory work on any executor; waiting for somebody else's load is limited in time only on Tokio. Backends need a
//! Tokio runtime with time enabled.

mod after_commit;
pub mod backend;
mod background;
mod cache;
mod clock;
mod codec;
mod complaint;
mod config;
mod copies;
mod entry;
mod error;
mod fingerprint;
mod flight;
mod front;
mod handle;
pub mod key;
mod later;
mod limit;
mod line;
mod manager;
mod memory;
mod name;
mod owed;
mod random;
mod registry;
mod site;
mod stats;
mod sync;
pub mod testing;
mod value;

#[doc(hidden)]
pub mod __private;

/// What `cache-redis` uses besides the trait. Not for others: it changes without notice.
#[doc(hidden)]
pub mod __backend {
    pub use crate::limit::within;
}

pub use after_commit::AfterCommit;
pub use backend::{BackendError, CacheBackend};
pub use cache_macros::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};
pub use codec::{
    Bincode, Codec, CodecError, CodecHandle, CodecReader, Json, MessagePack, Postcard,
};
pub use config::{CacheConfig, EffectiveConfig};
pub use error::CacheError;
pub use handle::{Cache, LocalCache};
pub use key::{Hashed, KeyError};
pub use manager::{CacheManager, CacheManagerBuilder, Health, ShutdownReport};
pub use name::CacheName;
pub use registry::Warning;
pub use stats::CacheStats;

// For implementors of `CacheBackend` and `Codec`.
pub use async_trait::async_trait;
pub use bytes::Bytes;
pub use erased_serde;
