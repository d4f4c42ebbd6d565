//! Functions that share a cache, and functions that use several.

mod one_cache;
mod order;
mod several_caches;
mod value_types;
