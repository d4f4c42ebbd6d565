//! Redis as a store of `cache-core`.
