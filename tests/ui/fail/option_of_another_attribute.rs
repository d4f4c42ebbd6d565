use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};

#[cache_result(cache = "c", when = "before")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_put(cache = "c", lock_timeout = "1s")]
async fn g(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = "c", store_if = |_| true)]
#[cache_invalidate_all(cache = "c", key = id)]
async fn h(id: u64) {
    drop(id);
}

fn main() {}
