//! The caches that the attributes in `service.rs` name.

use std::sync::Arc;

use cache_core::{CacheConfig, CacheError, CacheManager, Json};

use crate::{
    error::Error,
    model::{Product, StoreCategory},
};

type Catalog = Arc<Vec<StoreCategory>>;

/// Describes the caches, all of them kept in one place. How long the catalogs live is said where they are computed.
///
/// # Errors
///
/// If a setting cannot be.
pub(crate) fn configure(place: CacheConfig) -> Result<CacheManager, CacheError> {
    // As JSON, a catalog in Redis is the very answer that the service gives: `redis-cli get` shows it.
    let catalog = place.clone().codec(Json).value_type::<Catalog>();
    CacheManager::builder()
        .defaults(place.clone())
        .cache("store-products-catalog", catalog.clone())
        .cache("store-products-catalog-category", catalog)
        .cache("product", place.value_type::<Option<Product>>())
        // A misspelt name, or an invalidation whose key no reader has, keeps the service from starting.
        .strict()
        .build()
}

/// Empties the cache called `name`.
///
/// # Errors
///
/// [`Error::CacheNotFound`], or that its backend did not answer.
pub(crate) async fn clear(caches: &CacheManager, name: &str) -> Result<(), Error> {
    match name {
        "store-products-catalog" | "store-products-catalog-category" => {
            clear_of::<Catalog>(caches, name).await
        }
        "product" => clear_of::<Option<Product>>(caches, name).await,
        _ => return Err(Error::CacheNotFound),
    }
    .map_err(Error::NotCleared)
}

async fn clear_of<V: Clone + Send + Sync + 'static>(
    caches: &CacheManager,
    name: &str,
) -> Result<(), CacheError> {
    caches.cache::<V>(name)?.invalidate_all().await
}
