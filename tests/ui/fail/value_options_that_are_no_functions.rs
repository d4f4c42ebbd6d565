use cache_core::{cache_invalidate, cache_put};

#[cache_put(cache = "c", key_with = id, ttl_with = "30s", store_if = id > 3)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = "c", key_with = (id, 3), invalidate_if = !true)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
