use cache_core::{cache_put, cache_result};

#[cache_result(cache = "c", ttl_with = |v: &u64| *v)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_put(cache = "c", ttl_with = 30)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
