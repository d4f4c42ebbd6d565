//! This framework, through its attributes.

use std::sync::Arc;

use cache_core::{
    CacheConfig, CacheError, CacheManager, cache_invalidate, cache_invalidate_all, cache_result,
};
use cache_redis::RedisBackend;

use super::{Forget, all, many, many_at_once};
use crate::work::{self, CAPACITY, LARGE_CAPACITY, Product, TTL};

/// Installs the caches that the attributes name.
pub fn install(redis: Option<&str>) -> Result<CacheManager, CacheError> {
    let memory = || CacheConfig::memory().ttl(TTL).max_capacity(CAPACITY);
    let mut builder = CacheManager::builder()
        .defaults(memory())
        .cache("many", memory().max_capacity(LARGE_CAPACITY));
    if let Some(url) = redis {
        // Nothing makes it give up: what is measured are hits.
        let redis = RedisBackend::builder(url)
            .read_budget(std::time::Duration::from_secs(10))
            .store_budget(std::time::Duration::from_secs(10))
            .build()?;
        let on = || CacheConfig::on(redis.clone()).ttl(TTL);
        let validated = || CacheConfig::validated(redis.clone()).ttl(TTL);
        builder = builder
            .cache("redis-product", on())
            .cache("redis-list", on())
            .cache("redis-slow", on())
            .cache("redis-many", on())
            .cache("validated-product", validated())
            .cache("validated-list", validated())
            .cache("validated-slow", validated());
    }
    let caches = builder.build()?;
    caches.install()?;
    Ok(caches)
}

#[cache_result(cache = "product")]
pub async fn product(id: u64) -> Arc<Product> {
    Arc::new(work::product(id))
}

#[cache_result(cache = "product-by-value")]
pub async fn product_by_value(id: u64) -> Product {
    work::product(id)
}

#[cache_result(cache = "list")]
pub async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
    Arc::new(work::list(category, page))
}

#[cache_result(cache = "list-by-value")]
pub async fn list_by_value(category: &str, page: u32) -> Vec<Product> {
    work::list(category, page)
}

#[cache_result(cache = "slow")]
pub async fn slow(id: u64) -> Arc<Product> {
    work::slow(id).await
}

#[cache_result(cache = "redis-product")]
pub async fn redis_product(id: u64) -> Arc<Product> {
    Arc::new(work::product(id))
}

#[cache_result(cache = "redis-list")]
pub async fn redis_list(category: &str, page: u32) -> Arc<Vec<Product>> {
    Arc::new(work::list(category, page))
}

#[cache_result(cache = "redis-slow")]
pub async fn redis_slow(id: u64) -> Arc<Product> {
    work::slow(id).await
}

#[cache_result(cache = "validated-product")]
pub async fn validated_product(id: u64) -> Arc<Product> {
    Arc::new(work::product(id))
}

#[cache_result(cache = "validated-list")]
pub async fn validated_list(category: &str, page: u32) -> Arc<Vec<Product>> {
    Arc::new(work::list(category, page))
}

#[cache_result(cache = "validated-slow")]
pub async fn validated_slow(id: u64) -> Arc<Product> {
    work::slow(id).await
}

#[cache_result(cache = "many")]
async fn one_of_many(id: u64) -> Arc<Product> {
    Arc::new(work::product(id))
}

#[cache_invalidate(cache = "many")]
async fn change(id: u64) {
    let _ = id;
}

#[cache_invalidate_all(cache = "many")]
async fn change_all() {}

pub fn forget() -> Forget {
    Forget {
        fill: many(one_of_many),
        each: many(change),
        all: all(change_all),
    }
}

#[cache_invalidate(cache = "redis-many")]
async fn redis_change(id: u64) {
    let _ = id;
}

#[cache_invalidate_all(cache = "redis-many")]
async fn redis_change_all() {}

pub fn redis_forget(caches: &CacheManager) -> Forget {
    let many_products = caches.cache::<Arc<Product>>("redis-many").expect("valid");
    Forget {
        // Not through a function: nobody waits for its stores, and what finds no place among those under way is not stored.
        fill: many_at_once(move |id| {
            let many_products = many_products.clone();
            async move {
                many_products
                    .insert(&id, Arc::new(work::product(id)))
                    .await
                    .expect("stored")
            }
        }),
        each: many(redis_change),
        all: all(redis_change_all),
    }
}
