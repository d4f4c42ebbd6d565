use cache_core::{cache_put, cache_result};

#[cache_put(cache = "a")]
#[cache_result(cache = "b")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
