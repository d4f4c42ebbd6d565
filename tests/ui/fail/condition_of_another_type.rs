use cache_core::{cache_invalidate_all, cache_result};

#[cache_result(cache = "c", condition = id)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate_all(cache = "c", condition = |id| id > 3)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
