use cache_core::{cache_invalidate_all, cache_result};

#[cache_result(cache = "c", tll = "30s", serialize)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate_all(cache = "c", expires = "never")]
async fn g() {}

fn main() {}
