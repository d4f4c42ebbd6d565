//! The framework is a dependency under another name.

use renamed::{CacheManager, cache_invalidate, cache_result};

macro_rules! cached {
    ($name:ident, $krate:path, $value:expr) => {
        #[renamed::cache_result(cache = "stamped", manager = caches, crate = $krate)]
        async fn $name(#[cache_key] id: u64, caches: &CacheManager) -> u64 {
            let _ = caches;
            $value + id
        }
    };
}
cached!(stamped, renamed, 7);

#[cache_result(cache = "named", manager = caches, crate = ::renamed)]
#[cache_invalidate(cache = "other", manager = caches)]
async fn named(#[cache_key] id: u64, name: &str, caches: &CacheManager) -> Option<String> {
    let _ = caches;
    Some(format!("{name}{id}"))
}

#[tokio::test]
async fn b02_every_attribute_works_under_another_name() {
    let caches = CacheManager::builder().build();
    let caches = caches.expect("the defaults are valid");
    assert_eq!(named(1, "a", &caches).await.as_deref(), Some("a1"));
    assert_eq!(named(1, "b", &caches).await.as_deref(), Some("a1"));
    assert_eq!(stamped(1, &caches).await, 8);
    assert_eq!(stamped(1, &caches).await, 8);
    assert_eq!(caches.stats()["stamped"].hits, 1);
}
