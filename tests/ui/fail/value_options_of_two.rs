use std::time::Duration;

use cache_core::{cache_invalidate, cache_put};

#[cache_put(
    cache = "c",
    key_with = |id: u64, v: &u64| (id, *v),
    ttl_with = || Duration::from_secs(3),
    store_if = |id, v| id > v,
)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = "c", invalidate_if = || true)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
