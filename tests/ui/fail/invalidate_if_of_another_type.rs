use cache_core::{cache_invalidate, cache_invalidate_all};

#[cache_invalidate(cache = "c", invalidate_if = |v: &u64| *v)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate_all(cache = "c", when = "always", invalidate_if = |v: &u64| *v)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
