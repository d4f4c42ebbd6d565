use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c", key = "id")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", key = "#r")]
async fn g(r#r: u64) -> u64 {
    r
}

#[cache_invalidate(cache = "c", key = "user-{id}")]
async fn h(id: u64) -> u64 {
    id
}

// One key for all of them is what it says.
#[cache_invalidate(cache = "c", key = "all")]
async fn i(id: u64) -> u64 {
    id
}

fn main() {}
