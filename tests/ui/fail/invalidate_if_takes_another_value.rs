use cache_core::{cache_invalidate, cache_invalidate_all};

#[cache_invalidate(cache = "c", invalidate_if = |v: &String| v.is_empty())]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate_all(cache = "c", invalidate_if = |v: &Result<u64, String>| v.is_ok())]
async fn g(id: u64) -> Result<u64, String> {
    Ok(id)
}

fn main() {}
