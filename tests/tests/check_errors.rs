//! `check()` holds all functions of a program without `manager = …` against the configuration. A program of its own,
//! because everything in here contradicts something.

use std::time::Duration;

use cache_core::{
    CacheConfig, CacheError, CacheManager, CacheName, async_trait, cache_invalidate, cache_put,
    cache_result, testing::MapBackend,
};

/// A value without serde's traits.
#[derive(Clone, Debug)]
struct Opaque;

struct Shop;

trait Stock {
    async fn left(&self, id: u64) -> u32;
}

#[async_trait]
trait Prices {
    async fn price(&self, id: u64) -> String;
}

#[cache_result(cache = "functions")]
async fn product_by_id(_id: u64) -> String {
    String::new()
}

#[cache_result(cache = "functions")]
async fn price_by_id(_id: u64) -> Result<u64, String> {
    Ok(0)
}

impl Shop {
    #[cache_result(cache = "methods")]
    async fn count(&self) -> usize {
        0
    }
}

impl Stock for Shop {
    #[cache_result(cache = "methods")]
    async fn left(&self, _id: u64) -> u32 {
        0
    }
}

#[async_trait]
impl Prices for Shop {
    #[cache_put(cache = "methods")]
    async fn price(&self, _id: u64) -> String {
        String::new()
    }
}

#[cache_result(cache = "declared")]
async fn declared(_id: u64) -> Vec<u8> {
    Vec::new()
}

#[cache_result(cache = "opaque")]
async fn opaque(_id: u64) -> Result<Opaque, String> {
    Ok(Opaque)
}

/// In memory anything may be kept.
#[cache_result(cache = "opaque-in-memory")]
async fn opaque_in_memory(_id: u64) -> Opaque {
    Opaque
}

type Lookup<T> = Result<Option<T>, std::io::Error>;

const AGREED: CacheName<Option<u64>> = CacheName::new("agreed");

/// One value type, however it is written.
#[cache_result(cache = "agreed")]
async fn through_an_alias(_id: u64) -> Lookup<u64> {
    Ok(None)
}

#[cache_result(cache = AGREED)]
async fn plain(_id: u64) -> Option<u64> {
    None
}

/// What an invalidation returns is none of the cache's.
#[cache_invalidate(cache = "agreed")]
async fn forget(_id: u64) -> String {
    String::new()
}

/// With a manager of its own a function is checked when it is called.
#[cache_result(cache = "agreed", manager = manager)]
#[allow(dead_code)]
async fn managed(#[cache_key] _id: u64, manager: &CacheManager) -> String {
    String::new()
}

fn configured() -> CacheManager {
    CacheManager::builder()
        .defaults(CacheConfig::memory().ttl(Duration::from_secs(60)))
        .cache("declared", CacheConfig::memory().value_type::<String>())
        .cache("opaque", CacheConfig::on(MapBackend::new()))
        .cache(
            "agreed",
            CacheConfig::on(MapBackend::new()).value_type::<Option<u64>>(),
        )
        .build()
        .expect("no setting contradicts another")
}

/// Whether one of the problems names all of these.
fn named(problems: &[String], parts: &[&str]) -> bool {
    problems
        .iter()
        .any(|problem| parts.iter().all(|part| problem.contains(part)))
}

#[test]
fn case_b13_every_contradiction_is_named_at_once() {
    let Err(CacheError::Check { problems }) = configured().check() else {
        panic!("the functions contradict each other");
    };
    let two = "has two value types";
    assert!(named(
        &problems,
        &[
            "`functions`",
            two,
            "product_by_id",
            "String",
            "price_by_id",
            "u64"
        ]
    ));
    // Three methods in one cache: each of the two others against one.
    assert!(named(&problems, &["`methods`", two, "count", "usize"]));
    assert!(named(&problems, &["`methods`", two, "left", "u32"]));
    assert!(named(&problems, &["`methods`", two, "price", "String"]));
    assert!(named(
        &problems,
        &[
            "`declared`",
            two,
            "`value_type`",
            "String",
            "check_errors::declared` (line",
            "Vec<u8>"
        ]
    ));
    assert!(named(
        &problems,
        &[
            "`opaque`",
            "backend",
            "opaque",
            "Opaque",
            "derive `Serialize`"
        ]
    ));
    assert_eq!(problems.len(), 5, "{problems:#?}");
}

#[test]
fn the_error_says_it_all_in_one_sentence_each() {
    let error = configured()
        .check()
        .expect_err("the functions contradict each other");
    let CacheError::Check { problems } = &error else {
        panic!("{error}");
    };
    let text = error.to_string();
    assert!(problems.iter().all(|problem| text.contains(problem)));
}

#[test]
fn two_runs_say_the_same() {
    let says = || configured().check().unwrap_err().to_string();
    assert_eq!(says(), says());
}

#[test]
fn install_refuses_what_check_refuses() {
    let refused = configured()
        .install()
        .expect_err("the functions contradict each other");
    assert!(matches!(refused, CacheError::Check { .. }));
}

#[tokio::test]
async fn a_function_of_another_type_still_returns_its_own_values() {
    // The process-wide manager has come about by the first call. Whoever was first, the other one goes past the cache.
    for _ in 0..2 {
        assert_eq!(product_by_id(1).await, "");
        assert_eq!(price_by_id(1).await, Ok(0));
        assert_eq!((Shop.count().await, Shop.left(1).await), (0, 0));
        assert_eq!(Shop.price(1).await, "");
        assert_eq!(declared(1).await, b"");
        assert!(opaque(1).await.is_ok());
        let Opaque = opaque_in_memory(1).await;
        assert_eq!(through_an_alias(1).await.ok(), Some(None));
        assert_eq!(plain(1).await, None);
        assert_eq!(forget(1).await, "");
    }
    let stats = CacheManager::global().stats();
    assert_eq!(stats["functions"].bypasses, 2);
    assert_eq!((stats["functions"].misses, stats["functions"].hits), (1, 1));
    assert_eq!(stats["agreed"].bypasses, 0);
}
