use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c", key = (idd, trace))]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = "c", key = self.id, condition = missing)]
async fn g(id: u64) {}

fn main() {}
