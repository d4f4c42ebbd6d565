use cache_core::{cache_invalidate, cache_put};

#[cache_put(cache = "c", key_with = |v: &String| v.len())]
async fn f(id: u64) -> u64 {
    id
}

#[cache_invalidate(cache = "c", key_with = |v: &Result<u64, String>| v.is_ok())]
async fn g(id: u64) -> Result<u64, String> {
    Ok(id)
}

#[cache_put(cache = "c", key_with = String::as_str)]
async fn h(id: u64) -> u64 {
    id
}

fn main() {}
