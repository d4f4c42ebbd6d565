//! The work that is measured: a product, by its number, and a page of products.

#![allow(dead_code)] // each benchmark uses some of it

use std::sync::Arc;

use cache_core::cache_result;
use futures_util::FutureExt;

/// A row as a shop has it.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Product {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
}

impl Product {
    pub(crate) fn new(id: u64) -> Self {
        Self {
            id,
            name: format!("product {id}"),
            description: "Oak, oiled, 180 by 80 centimetres".to_owned(),
            tags: ["table", "oak"].map(str::to_owned).to_vec(),
        }
    }
}

/// Sixty products.
pub(crate) fn page_of_products(page: u32) -> Vec<Product> {
    (0..60)
        .map(|i| Product::new(u64::from(page) * 60 + i))
        .collect()
}

#[cache_result(cache = "product")]
pub(crate) async fn product(id: u64) -> Arc<Product> {
    Arc::new(Product::new(id))
}

#[cache_result(cache = "product-by-value")]
pub(crate) async fn product_by_value(id: u64) -> Product {
    Product::new(id)
}

#[cache_result(cache = "list")]
pub(crate) async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
    let _ = category;
    Arc::new(page_of_products(page))
}

/// What a future gives that has nothing to wait for; so no runtime is measured.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("nothing to wait for")
}

/// moka by hand, as large and with the time to live that caches have by default.
pub(crate) fn moka() -> moka::sync::Cache<u64, Arc<Product>> {
    moka::sync::Cache::builder()
        .max_capacity(10_000)
        .time_to_live(std::time::Duration::from_secs(300))
        .build()
}
