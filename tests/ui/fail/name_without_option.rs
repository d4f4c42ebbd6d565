use cache_core::{cache_invalidate, cache_put, cache_result};

#[cache_result("c")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_put(products)]
async fn g(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache: "c", key(id))]
async fn h(id: u64) -> u64 {
    id
}

fn main() {}
