use cache_core::{cache_invalidate, cache_invalidate_all};

#[cache_invalidate(cache = "c", when = "after")]
#[cache_invalidate_all(cache = "d", when = Before)]
async fn f(id: u64) {
    drop(id);
}

fn main() {}
