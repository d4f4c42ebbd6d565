use cache_core::{cache_invalidate, cache_put, cache_result};

#[cache_put(cache = "c")]
enum E {}

struct Shop;

#[cache_invalidate(cache = "c")]
impl Shop {
    async fn f(&self, id: u64) {}
}

#[cache_result(cache = "c")]
const C: u64 = 3;

fn main() {}
