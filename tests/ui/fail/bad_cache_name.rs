use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "product list")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = "")]
async fn g(id: u64) {
    drop(id);
}

#[cache_result(cache = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")]
async fn h(id: u64) -> u64 {
    id
}

fn main() {}
