use std::time::Duration;

use cache_core::cache_result;

#[cache_result(cache = "c", ttl_with = |v: &String| Duration::from_secs(v.len() as u64))]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", ttl_with = |v: &Result<u64, String>| Duration::from_secs(*v.as_ref().unwrap()))]
async fn g(id: u64) -> Result<u64, String> {
    Ok(id)
}

fn main() {}
