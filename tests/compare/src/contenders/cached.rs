//! `cached`, through its macros. Its Redis store writes MessagePack; that cannot be chosen.

use std::{convert::Infallible, sync::Arc};

use cached::{
    AsyncRedisCache, ConcurrentCachedAsync,
    macros::{cached, concurrent_cached},
};

use super::{Forget, all, many, many_at_once};
use crate::{
    server,
    work::{self, Product},
};

/// `#[concurrent_cached]` as it is by default: a map in shards, without limit and without time to live.
pub mod plain {
    use super::*;

    #[concurrent_cached]
    pub async fn product(id: u64) -> Arc<Product> {
        Arc::new(work::product(id))
    }

    #[concurrent_cached]
    pub async fn product_by_value(id: u64) -> Product {
        work::product(id)
    }

    #[concurrent_cached(key = "(String, u32)", convert = r#"{ (category.to_owned(), page) }"#)]
    pub async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
        Arc::new(work::list(category, page))
    }

    #[concurrent_cached(key = "(String, u32)", convert = r#"{ (category.to_owned(), page) }"#)]
    pub async fn list_by_value(category: &str, page: u32) -> Vec<Product> {
        work::list(category, page)
    }

    #[concurrent_cached]
    pub async fn slow(id: u64) -> Arc<Product> {
        work::slow(id).await
    }

    #[concurrent_cached]
    async fn one_of_many(id: u64) -> Arc<Product> {
        Arc::new(work::product(id))
    }

    pub fn forget() -> Forget {
        Forget {
            fill: many(one_of_many),
            each: many(async |id| ONE_OF_MANY.get().map(|cache| cache.remove(&id))),
            all: all(async || {
                if let Some(cache) = ONE_OF_MANY.get() {
                    cache.clear();
                }
            }),
        }
    }
}

/// `#[concurrent_cached]`, with as many entries and the time to live that the others have.
pub mod bounded {
    use super::*;

    #[concurrent_cached(max_size = 10_000, ttl_secs = 3600)]
    pub async fn product(id: u64) -> Arc<Product> {
        Arc::new(work::product(id))
    }

    #[concurrent_cached(max_size = 10_000, ttl_secs = 3600)]
    pub async fn product_by_value(id: u64) -> Product {
        work::product(id)
    }

    #[concurrent_cached(
        max_size = 10_000,
        ttl_secs = 3600,
        key = "(String, u32)",
        convert = r#"{ (category.to_owned(), page) }"#
    )]
    pub async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
        Arc::new(work::list(category, page))
    }

    #[concurrent_cached(
        max_size = 10_000,
        ttl_secs = 3600,
        key = "(String, u32)",
        convert = r#"{ (category.to_owned(), page) }"#
    )]
    pub async fn list_by_value(category: &str, page: u32) -> Vec<Product> {
        work::list(category, page)
    }

    #[concurrent_cached(max_size = 10_000, ttl_secs = 3600)]
    pub async fn slow(id: u64) -> Arc<Product> {
        work::slow(id).await
    }

    #[concurrent_cached(max_size = 400_000, ttl_secs = 3600)]
    async fn one_of_many(id: u64) -> Arc<Product> {
        Arc::new(work::product(id))
    }

    pub fn forget() -> Forget {
        Forget {
            fill: many(one_of_many),
            each: many(async |id| ONE_OF_MANY.get().map(|cache| cache.remove(&id))),
            all: all(async || {
                if let Some(cache) = ONE_OF_MANY.get() {
                    cache.clear();
                }
            }),
        }
    }
}

/// `#[cached]` with the option that runs one body for each key. (`#[concurrent_cached]` has none.)
pub mod by_key {
    use cached::Cached;

    use super::*;

    #[cached(max_size = 10_000, ttl_secs = 3600, sync_writes = "by_key")]
    pub async fn product(id: u64) -> Arc<Product> {
        Arc::new(work::product(id))
    }

    #[cached(max_size = 10_000, ttl_secs = 3600, sync_writes = "by_key")]
    pub async fn product_by_value(id: u64) -> Product {
        work::product(id)
    }

    #[cached(
        max_size = 10_000,
        ttl_secs = 3600,
        sync_writes = "by_key",
        key = "(String, u32)",
        convert = r#"{ (category.to_owned(), page) }"#
    )]
    pub async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
        Arc::new(work::list(category, page))
    }

    #[cached(
        max_size = 10_000,
        ttl_secs = 3600,
        sync_writes = "by_key",
        key = "(String, u32)",
        convert = r#"{ (category.to_owned(), page) }"#
    )]
    pub async fn list_by_value(category: &str, page: u32) -> Vec<Product> {
        work::list(category, page)
    }

    #[cached(max_size = 10_000, ttl_secs = 3600, sync_writes = "by_key")]
    pub async fn slow(id: u64) -> Arc<Product> {
        work::slow(id).await
    }

    #[cached(max_size = 400_000, ttl_secs = 3600, sync_writes = "by_key")]
    async fn one_of_many(id: u64) -> Arc<Product> {
        Arc::new(work::product(id))
    }

    pub fn forget() -> Forget {
        Forget {
            fill: many(one_of_many),
            each: many(async |id: u64| ONE_OF_MANY.write().await.cache_remove(&id)),
            all: all(async || ONE_OF_MANY.write().await.cache_clear()),
        }
    }
}

/// `#[concurrent_cached]` over Redis.
pub mod redis {
    use super::*;

    pub(super) fn store<K, V>(
        prefix: &str,
        client_side: bool,
    ) -> impl Future<Output = AsyncRedisCache<K, V>>
    where
        K: std::fmt::Display + Clone + Send + Sync,
        V: serde::Serialize + serde::de::DeserializeOwned + Clone + Send + Sync,
    {
        let builder = AsyncRedisCache::builder(prefix)
            .ttl(work::TTL)
            .client_side_caching(client_side)
            .connection_string(server::url());
        async { builder.build().await.expect("the server answers") }
    }

    // An error of the store would not be a hit: nothing goes on then.

    #[concurrent_cached(
        ty = "AsyncRedisCache<u64, Arc<Product>>",
        create = r#"{ store("product", false).await }"#,
        map_error = |error| panic!("{error:?}")
    )]
    pub async fn product(id: u64) -> Result<Arc<Product>, Infallible> {
        Ok(Arc::new(work::product(id)))
    }

    #[concurrent_cached(
        ty = "AsyncRedisCache<String, Arc<Vec<Product>>>",
        create = r#"{ store("list", false).await }"#,
        key = "String",
        convert = r#"{ format!("{category}:{page}") }"#,
        map_error = |error| panic!("{error:?}")
    )]
    pub async fn list(category: &str, page: u32) -> Result<Arc<Vec<Product>>, Infallible> {
        Ok(Arc::new(work::list(category, page)))
    }

    #[concurrent_cached(
        ty = "AsyncRedisCache<u64, Arc<Product>>",
        create = r#"{ store("slow", false).await }"#,
        map_error = |error| panic!("{error:?}")
    )]
    pub async fn slow(id: u64) -> Result<Arc<Product>, Infallible> {
        Ok(work::slow(id).await)
    }

    #[concurrent_cached(
        ty = "AsyncRedisCache<u64, Arc<Product>>",
        create = r#"{ store("many", false).await }"#,
        map_error = |error| panic!("{error:?}")
    )]
    async fn one_of_many(id: u64) -> Result<Arc<Product>, Infallible> {
        Ok(Arc::new(work::product(id)))
    }

    pub fn forget() -> Forget {
        Forget {
            fill: many_at_once(one_of_many),
            each: many(async |id: u64| {
                let cache = ONE_OF_MANY.get().expect("it was filled");
                cache
                    .async_cache_delete(&id)
                    .await
                    .expect("the server answers")
            }),
            all: all(async || {
                let cache = ONE_OF_MANY.get().expect("it was filled");
                cache.async_cache_clear().await.expect("the server answers")
            }),
        }
    }
}

/// The same with the client-side caching of redis-rs: what was read once is kept here until the server says that it has
/// changed, and Redis is not asked for it.
pub mod client_side {
    use super::{redis::store, *};

    #[concurrent_cached(
        ty = "AsyncRedisCache<u64, Arc<Product>>",
        create = r#"{ store("client-side-product", true).await }"#,
        map_error = |error| panic!("{error:?}")
    )]
    pub async fn product(id: u64) -> Result<Arc<Product>, Infallible> {
        Ok(Arc::new(work::product(id)))
    }

    #[concurrent_cached(
        ty = "AsyncRedisCache<String, Arc<Vec<Product>>>",
        create = r#"{ store("client-side-list", true).await }"#,
        key = "String",
        convert = r#"{ format!("{category}:{page}") }"#,
        map_error = |error| panic!("{error:?}")
    )]
    pub async fn list(category: &str, page: u32) -> Result<Arc<Vec<Product>>, Infallible> {
        Ok(Arc::new(work::list(category, page)))
    }
}
