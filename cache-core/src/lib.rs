//! Caching for async Rust by annotation.

pub mod backend;
mod background;
mod cache;
mod clock;
mod codec;
mod complaint;
mod config;
mod entry;
mod error;
mod fingerprint;
mod flight;
mod handle;
pub mod key;
mod later;
mod limit;
mod manager;
mod memory;
mod name;
mod random;
mod registry;
mod site;
mod stats;
pub mod testing;
mod value;

#[doc(hidden)]
pub mod __private;

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
