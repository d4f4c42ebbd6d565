//! No lint fires from generated code, forbidden ones included.
#![deny(warnings)]
#![forbid(unused, unsafe_code, clippy::all, clippy::pedantic, clippy::nursery)]
#![forbid(
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    single_use_lifetimes,
    unused_lifetimes
)]
#![forbid(
    non_local_definitions,
    let_underscore_drop,
    unused_results,
    variant_size_differences
)]

use cache_core::{CacheName, cache_invalidate, cache_invalidate_all, cache_put, cache_result};

const NUMBERS: CacheName<Vec<u64>> = CacheName::new("numbers");

#[cache_result(cache = NUMBERS, ttl = "1h30m", lock_timeout = "2s", store_if = |v: &Vec<u64>| !v.is_empty())]
#[cache_invalidate(cache = "a", when = "always", condition = id > 3)]
#[cache_invalidate_all(cache = "b", invalidate_if = |v| v.len() > 2)]
async fn numbers(id: u64, _trace: &str, (a, b): (u64, u64)) -> Result<Vec<u64>, String> {
    if id == 0 {
        return Err("zero".to_owned());
    }
    Ok(vec![id, a, b])
}

#[cache_put(cache = "numbers", key_with = |v: &Vec<u64>| v.len())]
async fn put() -> Vec<u64> {
    numbers(7, "", (1, 2)).await.unwrap_or_default()
}

#[cache_invalidate(cache = "numbers")]
async fn nothing(mut count: u64) {
    count += 1;
    assert!(count > 0);
}

// Nobody asked for more lines than one.
#[rustfmt::skip]
#[cache_result(cache = "numbers")]
async fn in_one_line(id: u64) -> Vec<u64> { numbers(id, "", (1, 2)).await.unwrap_or_default() }

#[cache_invalidate_all(cache = "numbers")]
async fn never_ends() -> ! {
    std::future::pending().await
}

#[test]
fn all_is_used() {
    drop((put(), nothing(1), in_one_line(2), never_ends()));
}
