//! Caching for async Rust by annotation.

pub mod backend;
mod error;
mod random;

pub use backend::{BackendError, CacheBackend};
pub use error::CacheError;

// For implementors of `CacheBackend`.
pub use async_trait::async_trait;
pub use bytes::Bytes;
