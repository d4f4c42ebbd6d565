use cache_core::{cache_invalidate, cache_result};

#[cache_result(ttl = "30s")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate]
async fn g(id: u64) {
    drop(id);
}

fn main() {}
