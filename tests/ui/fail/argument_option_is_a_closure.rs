use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c", condition = |id| id > 3)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", key = |id| id)]
async fn g(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = "c", key = |id| id)]
async fn h(id: u64) -> u64 {
    id
}

fn main() {}
