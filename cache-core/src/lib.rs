//! Caching for async Rust by annotation.

pub mod backend;
mod error;
pub mod key;
mod random;

pub use backend::{BackendError, CacheBackend};
pub use error::CacheError;
pub use key::{Hashed, KeyError};

// For implementors of `CacheBackend`.
pub use async_trait::async_trait;
pub use bytes::Bytes;
