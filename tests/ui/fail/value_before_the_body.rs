use cache_core::{cache_invalidate, cache_invalidate_all, cache_result};

#[cache_invalidate(cache = "c", when = "before", key_with = |v: &u64| *v)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c")]
#[cache_invalidate_all(cache = "c", invalidate_if = |v| *v > 0)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
