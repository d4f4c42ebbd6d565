use cache_core::{CacheName, cache_invalidate, cache_invalidate_all, cache_put, cache_result};

const D: CacheName<u64> = CacheName::new("d");

#[cache_result(cache = "c")]
#[cache_invalidate(cache = "c", when = "success")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate_all(cache = D, when = "always")]
#[cache_put(cache = D)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
