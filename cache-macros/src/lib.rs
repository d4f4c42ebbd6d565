//! The attributes of `cache-core`.
