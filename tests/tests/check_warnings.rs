//! What `check()` warns of, and `strict()` refuses. A program of its own, because everything in here is likely a mistake.

use cache_core::{
    CacheConfig, CacheError, CacheManager, cache_invalidate, cache_invalidate_all, cache_result,
};

#[cache_result(cache = "swapped")]
async fn read(_a: String, _b: i32) -> u64 {
    0
}

#[cache_invalidate(cache = "swapped")]
async fn write(_b: i32, _a: String) {}

/// These fit: a reference or not, a width or another, marks where other parameters are.
#[cache_result(cache = "fitting")]
async fn fits(#[cache_key] _a: &str, _trace: u8, #[cache_key] _b: Option<u32>) -> u64 {
    0
}

#[cache_invalidate(cache = "fitting")]
async fn fits_owned(_a: String, _b: Option<u32>) {}

#[cache_invalidate(cache = "fitting")]
async fn fits_marked(_trace: u8, #[cache_key] _a: &String, #[cache_key] _b: &Option<u64>) {}

#[cache_invalidate(cache = "fitting", key = (name, 1))]
async fn fits_by_expression(name: &str) -> u8 {
    u8::try_from(name.len()).unwrap_or(0)
}

#[cache_invalidate_all(cache = "fitting")]
async fn fits_always(_whatever: f64) {}

#[cache_invalidate(cache = "number")]
async fn forgets_a_text(_id: String) {}

#[cache_result(cache = "number")]
async fn number(_id: u64) -> u64 {
    0
}

/// Configured as `products`.
#[cache_result(cache = "product")]
async fn product(_id: u64) -> u64 {
    0
}

/// Nobody configured it, and nothing like it: it gets the defaults.
#[cache_result(cache = "undistinguished")]
async fn undistinguished(_id: u64) -> u64 {
    0
}

const MEMORY: fn() -> CacheConfig = CacheConfig::memory;

fn configured() -> cache_core::CacheManagerBuilder {
    CacheManager::builder()
        .cache("products", MEMORY())
        .cache("leftover", MEMORY())
        .cache("swapped", MEMORY())
}

fn assert_named(sentences: &[String], parts: &[&str]) {
    let named = |sentence: &String| parts.iter().all(|part| sentence.contains(part));
    assert!(sentences.iter().any(named), "{parts:?} in {sentences:#?}");
}

fn assert_all_are_named(sentences: &[String]) {
    // Case 9: both functions, and the keys they have.
    assert_named(
        sentences,
        &[
            "`swapped`",
            "write",
            "(integer, str)",
            "read",
            "(str, integer)",
        ],
    );
    assert_named(sentences, &["`number`", "forgets_a_text", "number"]);
    // Case 81: a section no function uses, with the nearest name, if there is one near.
    assert_named(
        sentences,
        &[
            "`products`",
            "no function names it",
            "did you mean `product`?",
        ],
    );
    assert_named(sentences, &["`leftover`", "no function names it"]);
    assert!(
        !sentences
            .iter()
            .any(|sentence| sentence.contains("`leftover`") && sentence.contains("did you mean"))
    );
    // The same mistake seen from the function.
    assert_named(
        sentences,
        &[
            "`product` of `check_warnings::product`",
            "not configured",
            "did you mean `products`?",
        ],
    );
    assert_eq!(sentences.len(), 5, "{sentences:#?}");
}

#[test]
fn case_081_case_009_warnings_are_returned() {
    let caches = configured().build().expect("the configuration is valid");
    let warnings = caches.check().expect("warnings are no errors");
    let sentences: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_all_are_named(&sentences);
}

#[test]
fn case_081_strict_makes_them_errors() {
    let caches = configured()
        .strict()
        .build()
        .expect("the configuration is valid");
    let Err(CacheError::Check { problems }) = caches.check() else {
        panic!("a strict manager takes no warning");
    };
    assert_all_are_named(&problems);
    let refused = caches.install().map_err(|error| error.to_string());
    assert_eq!(
        refused.unwrap_err(),
        caches.check().unwrap_err().to_string()
    );
}

#[tokio::test]
async fn case_009_a_swapped_key_invalidates_nothing() {
    for _ in 0..2 {
        read("a".to_owned(), 1).await;
        write(1, "a".to_owned()).await;
        number(1).await;
        forgets_a_text("1".to_owned()).await;
        fits("a", 0, None).await;
        undistinguished(1).await;
        product(1).await;
    }
    let stats = CacheManager::global().stats();
    assert_eq!(
        (stats["swapped"].loads, stats["swapped"].invalidations),
        (1, 2)
    );
    // Whereas these do.
    fits_owned("a".to_owned(), None).await;
    fits("a", 0, None).await;
    fits_marked(0, &"a".to_owned(), &None).await;
    fits("a", 0, Some(1)).await;
    fits_by_expression("a").await;
    fits("a", 0, Some(1)).await;
    fits_always(0.5).await;
    fits("a", 0, Some(1)).await;
    assert_eq!(CacheManager::global().stats()["fitting"].loads, 5);
}
