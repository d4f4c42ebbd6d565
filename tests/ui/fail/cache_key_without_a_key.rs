use cache_core::{cache_invalidate, cache_invalidate_all};

#[cache_invalidate_all(cache = "c")]
async fn f(#[cache_key] id: u64) {
    let _ = id;
}

// The other one has a key.
#[cache_invalidate_all(cache = "all")]
#[cache_invalidate(cache = "one")]
async fn g(#[cache_key] id: u64, name: &str) {
    let _ = (id, name);
}

fn main() {}
