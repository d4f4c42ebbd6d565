//! Hits, misses and what identifies an entry.

use cache_core::cache_result;
use tests::{assert_value_keys, bodies, body, both, caches};

both!(case_001_same_argument_twice, case_003_no_argument);

async fn case_001_same_argument_twice() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: &str) -> String {
        format!("{k} {}", body("f"))
    }

    let first = f("en").await;
    assert_eq!(f("en").await, first);
    assert_eq!(bodies("f"), 1);
    assert_value_keys(&["cache:c:en"]).await;
}

async fn case_003_no_argument() {
    #[cache_result(cache = "store-products-catalog", manager = caches())]
    async fn all() -> Vec<u64> {
        vec![1, body("all")]
    }

    assert_eq!(all().await, all().await);
    assert_eq!(bodies("all"), 1);
    assert_value_keys(&["cache:store-products-catalog:default-cache-key"]).await;
}
