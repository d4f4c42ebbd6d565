//! What a house gives its programs: the framework is among it, under a name of its own.

pub use cache_core as caching;
pub use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};
