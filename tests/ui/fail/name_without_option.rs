use cache_core::{cache_invalidate, cache_put, cache_result};

#[cache_result("c")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_put(products, ttl = "30s")]
async fn g(id: u64) -> u64 {
    id
}

#[cache_put(PRODUCTS)]
async fn h(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache: "c", key(id))]
async fn i(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = ["c", "d"])]
async fn j(id: u64) -> u64 {
    id
}

#[cache_invalidate(cach = "c", key = id, lang)]
async fn k(id: u64, lang: u64) -> u64 {
    id
}

fn main() {}
