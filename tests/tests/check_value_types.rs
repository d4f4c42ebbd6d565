//! What `check()` says about functions that disagree on the values of a cache.
//!
//! It speaks of every function of the program that names no manager, so this program has these and no others.

use cache_core::{
    CacheConfig, CacheError, CacheManager, cache_invalidate, cache_put, cache_result,
    testing::MapBackend,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Product {
    id: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Price {
    cents: u64,
}

#[cache_result(cache = "catalog")]
async fn product_by_id(id: u64) -> Product {
    Product { id }
}

#[cache_result(cache = "catalog")]
async fn price_by_id(id: u64) -> Result<Price, String> {
    Ok(Price { cents: id * 100 })
}

#[cache_invalidate(cache = "catalog")]
async fn changed(id: u64) -> Option<u64> {
    Some(id)
}

/// The same values, whatever the functions return around them.
mod agree {
    use super::*;

    type Lookup<T> = Result<T, std::num::ParseIntError>;

    #[cache_result(cache = "agree")]
    pub(super) async fn plain(id: u64) -> Product {
        Product { id }
    }

    #[cache_result(cache = "agree")]
    pub(super) async fn fallible(text: &str) -> Lookup<Product> {
        Ok(Product { id: text.parse()? })
    }

    #[cache_put(cache = "agree", key = product.id)]
    pub(super) async fn put(product: Product) -> Result<Product, String> {
        Ok(product)
    }
}

#[derive(Clone)]
struct Connection;

#[cache_result(cache = "connections")]
async fn connection(id: u64) -> Result<Connection, String> {
    let _ = id;
    Ok(Connection)
}

fn problems(manager: &CacheManager) -> Vec<String> {
    match manager.check() {
        Err(CacheError::Check { problems }) => problems,
        other => panic!("the functions of `catalog` disagree, which is an error, not {other:?}"),
    }
}

#[test]
fn case_b13_two_value_types_in_one_cache() {
    let manager = CacheManager::builder()
        .build()
        .expect("the defaults are valid");
    let problems = problems(&manager);
    let [problem] = &problems[..] else {
        panic!("one problem, not {problems:#?}");
    };
    for words in [
        "`catalog`",
        "::product_by_id`",
        "::price_by_id`",
        "::Product`",
        "::Price`",
    ] {
        assert!(problem.contains(words), "{words}: {problem}");
    }
    let installed = manager.install();
    assert!(
        matches!(installed, Err(CacheError::Check { .. })),
        "{installed:?}"
    );
}

#[test]
fn case_b13_a_function_against_the_configuration() {
    let manager = CacheManager::builder()
        .cache("catalog", CacheConfig::memory().value_type::<Product>())
        .cache("agree", CacheConfig::memory().value_type::<Vec<Product>>())
        .build()
        .expect("the configuration is valid");
    let problems = problems(&manager);
    let about = |cache: &str, function: &str| {
        problems
            .iter()
            .filter(|problem| {
                problem.contains(&format!("`{cache}`"))
                    && problem.contains(&format!("::{function}`"))
                    && problem.contains("value_type")
            })
            .count()
    };
    assert_eq!(about("catalog", "price_by_id"), 1, "{problems:#?}");
    assert_eq!(about("catalog", "product_by_id"), 0, "{problems:#?}");
    for function in ["plain", "fallible", "put"] {
        assert_eq!(about("agree", function), 1, "{problems:#?}");
    }
}

#[test]
fn values_that_cannot_be_stored_on_a_backend() {
    let backend = MapBackend::new();
    let manager = CacheManager::builder()
        .defaults(CacheConfig::on(backend))
        .build()
        .expect("the configuration is valid");
    let problems = problems(&manager);
    let about: Vec<_> = problems
        .iter()
        .filter(|problem| problem.contains("`connections`"))
        .collect();
    let [problem] = about[..] else {
        panic!("one problem, not {problems:#?}");
    };
    for words in ["::connection`", "::Connection`", "Serialize"] {
        assert!(problem.contains(words), "{words}: {problem}");
    }
}

/// Nobody installed a manager; the functions are called all the same.
#[tokio::test]
async fn case_b13_called_all_the_same_nobody_gets_anothers_value() {
    for _ in 0..2 {
        assert_eq!(product_by_id(1).await, Product { id: 1 });
        assert_eq!(price_by_id(1).await, Ok(Price { cents: 100 }));
    }
    let caches = CacheManager::global();
    let stats = caches.stats()["catalog"];
    assert_eq!((stats.hits, stats.misses, stats.bypasses), (1, 1, 2));
    assert_eq!(changed(1).await, Some(1));
    product_by_id(1).await;
    assert_eq!(caches.stats()["catalog"].loads, 2);

    assert_eq!(agree::plain(7).await, Product { id: 7 });
    assert_eq!(agree::put(Product { id: 7 }).await, Ok(Product { id: 7 }));
    assert_eq!(agree::fallible("7").await, Ok(Product { id: 7 }));
    connection(1).await.map(drop).expect("it never fails");
}
