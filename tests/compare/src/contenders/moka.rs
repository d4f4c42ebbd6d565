//! moka, by hand.

use std::{
    hash::Hash,
    sync::{Arc, LazyLock},
};

use moka::{Equivalent, future, sync};

use super::{Forget, all, many};
use crate::work::{self, CAPACITY, LARGE_CAPACITY, Product, TTL};

type ListKey = (String, u32);

/// Looks a list up without a `String` of its own.
#[derive(Hash)]
struct ListOf<'a>(&'a str, u32);

impl Equivalent<ListKey> for ListOf<'_> {
    fn equivalent(&self, (category, page): &ListKey) -> bool {
        self.0 == category && self.1 == *page
    }
}

fn new_sync<K, V>(capacity: u64) -> sync::Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    sync::Cache::builder()
        .max_capacity(capacity)
        .time_to_live(TTL)
        .build()
}

fn new_future<K, V>(capacity: u64) -> future::Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    future::Cache::builder()
        .max_capacity(capacity)
        .time_to_live(TTL)
        .build()
}

static PRODUCTS: LazyLock<sync::Cache<u64, Arc<Product>>> = LazyLock::new(|| new_sync(CAPACITY));
static PRODUCTS_BY_VALUE: LazyLock<sync::Cache<u64, Product>> =
    LazyLock::new(|| new_sync(CAPACITY));
static LISTS: LazyLock<sync::Cache<ListKey, Arc<Vec<Product>>>> =
    LazyLock::new(|| new_sync(CAPACITY));
static LISTS_BY_VALUE: LazyLock<sync::Cache<ListKey, Vec<Product>>> =
    LazyLock::new(|| new_sync(CAPACITY));

/// One look-up after a hit: `get`, and `get_with` only if it finds nothing.
pub async fn product(id: u64) -> Arc<Product> {
    match PRODUCTS.get(&id) {
        Some(product) => product,
        None => PRODUCTS.get_with(id, || Arc::new(work::product(id))),
    }
}

/// A miss that knows that it is one.
pub async fn miss(id: u64) -> Arc<Product> {
    PRODUCTS.get_with(id, || Arc::new(work::product(id)))
}

pub async fn product_by_value(id: u64) -> Product {
    match PRODUCTS_BY_VALUE.get(&id) {
        Some(product) => product,
        None => PRODUCTS_BY_VALUE.get_with(id, || work::product(id)),
    }
}

pub async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
    match LISTS.get(&ListOf(category, page)) {
        Some(list) => list,
        None => LISTS.get_with((category.to_owned(), page), || {
            Arc::new(work::list(category, page))
        }),
    }
}

pub async fn list_by_value(category: &str, page: u32) -> Vec<Product> {
    match LISTS_BY_VALUE.get(&ListOf(category, page)) {
        Some(list) => list,
        None => LISTS_BY_VALUE.get_with((category.to_owned(), page), || work::list(category, page)),
    }
}

pub fn forget() -> Forget {
    static MANY: LazyLock<sync::Cache<u64, Arc<Product>>> =
        LazyLock::new(|| new_sync(LARGE_CAPACITY));
    Forget {
        fill: many(async |id| MANY.insert(id, Arc::new(work::product(id)))),
        each: many(async |id| MANY.invalidate(&id)),
        all: all(async || MANY.invalidate_all()),
    }
}

/// The asynchronous one.
pub mod asynchronous {
    use super::*;

    static PRODUCTS: LazyLock<future::Cache<u64, Arc<Product>>> =
        LazyLock::new(|| new_future(CAPACITY));
    static PRODUCTS_BY_VALUE: LazyLock<future::Cache<u64, Product>> =
        LazyLock::new(|| new_future(CAPACITY));
    static LISTS: LazyLock<future::Cache<ListKey, Arc<Vec<Product>>>> =
        LazyLock::new(|| new_future(CAPACITY));
    static LISTS_BY_VALUE: LazyLock<future::Cache<ListKey, Vec<Product>>> =
        LazyLock::new(|| new_future(CAPACITY));

    pub async fn product(id: u64) -> Arc<Product> {
        match PRODUCTS.get(&id).await {
            Some(product) => product,
            None => miss(id).await,
        }
    }

    pub async fn miss(id: u64) -> Arc<Product> {
        PRODUCTS
            .get_with(id, async { Arc::new(work::product(id)) })
            .await
    }

    pub async fn product_by_value(id: u64) -> Product {
        match PRODUCTS_BY_VALUE.get(&id).await {
            Some(product) => product,
            None => {
                PRODUCTS_BY_VALUE
                    .get_with(id, async { work::product(id) })
                    .await
            }
        }
    }

    pub async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
        match LISTS.get(&ListOf(category, page)).await {
            Some(list) => list,
            None => {
                let load = async { Arc::new(work::list(category, page)) };
                LISTS.get_with((category.to_owned(), page), load).await
            }
        }
    }

    pub async fn list_by_value(category: &str, page: u32) -> Vec<Product> {
        match LISTS_BY_VALUE.get(&ListOf(category, page)).await {
            Some(list) => list,
            None => {
                let load = async { work::list(category, page) };
                LISTS_BY_VALUE
                    .get_with((category.to_owned(), page), load)
                    .await
            }
        }
    }

    pub async fn slow(id: u64) -> Arc<Product> {
        PRODUCTS.get_with(id, work::slow(id)).await
    }

    pub fn forget() -> Forget {
        static MANY: LazyLock<future::Cache<u64, Arc<Product>>> =
            LazyLock::new(|| new_future(LARGE_CAPACITY));
        Forget {
            fill: many(async |id| MANY.insert(id, Arc::new(work::product(id))).await),
            each: many(async |id| MANY.invalidate(&id).await),
            all: all(async || MANY.invalidate_all()),
        }
    }
}
