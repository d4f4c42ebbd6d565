use cache_core::{cache_put, cache_result};

#[cache_result(cache = "c", store_if = async |v: &u64| *v > 3)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_put(cache = "c", key_with = |v| key(v).await, ttl_with = |v| ttl(v).await)]
async fn g() -> u64 {
    7
}

fn main() {}
