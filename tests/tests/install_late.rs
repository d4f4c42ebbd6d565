//! A manager that is installed after the defaults are in use. A program of its own, because it has one such manager.

use cache_core::{CacheError, CacheManager, cache_result};

#[cache_result(cache = "c")]
async fn early_bird(k: u64) -> u64 {
    k
}

#[tokio::test]
async fn the_function_that_used_the_defaults_is_named() {
    // Nothing has been set up, and it is cached in memory all the same.
    assert_eq!((early_bird(1).await, early_bird(1).await), (1, 1));
    let late = CacheManager::builder()
        .build()
        .expect("the defaults are valid");
    let refused = late.install();
    let Err(CacheError::AlreadyInstalled { by }) = &refused else {
        panic!("{refused:?}");
    };
    assert!(by.contains("early_bird"), "{by}");
    let sentence = refused.unwrap_err().to_string();
    assert!(sentence.contains("install yours before"), "{sentence}");
    let stats = CacheManager::global().stats()["c"];
    assert_eq!((stats.hits, stats.misses), (1, 1));
}
