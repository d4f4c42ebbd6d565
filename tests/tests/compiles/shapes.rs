//! Every shape of function that can be annotated.
#![allow(dead_code)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(clippy::missing_const_for_fn)]
#![forbid(unsafe_code)]

use std::{sync::Arc, time::Duration};

use cache_core::{
    CacheManager, CacheName, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
};

#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Product {
    id: u64,
    name: String,
}

#[derive(Debug)]
struct Failed;

/// No parameters, a plain value.
#[cache_result(cache = "store-products-catalog")]
async fn all() -> Vec<u64> {
    vec![1, 2, 3]
}

struct Trace;

struct Shop {
    tenant: String,
}

impl Shop {
    fn log(&self, id: u64) {
        assert!(!self.tenant.is_empty() && id > 0);
    }

    #[cache_result(cache = "product", ttl = "30s")]
    async fn product(
        &self,
        #[cache_key] id: u64,
        trace: &Trace,
    ) -> Result<Option<Product>, Failed> {
        let _ = trace;
        Ok(Some(Product {
            id,
            name: self.tenant.clone(),
        }))
    }

    #[cache_invalidate(cache = "product")]
    #[cache_invalidate_all(cache = "store-products-catalog")]
    async fn set_price(&self, #[cache_key] id: u64, price: u32) -> Result<(), Failed> {
        if price == 0 {
            Err(Failed)
        } else {
            self.log(id);
            Ok(())
        }
    }

    #[cache_result(cache = "tenant", key = (&self.tenant, id), condition = id > 0, ttl = Duration::from_secs(3))]
    async fn by_tenant(&self, id: u64) -> Arc<String> {
        Arc::new(format!("{}{id}", self.tenant))
    }

    #[cache_put(cache = "product", key_with = |product: &Product| product.id, store_if = |p: &Product| !p.name.is_empty())]
    async fn create(&self, name: String) -> Result<Product, Failed> {
        Ok(Product { id: 1, name })
    }

    #[cache_put(cache = "name", key_with = |p: &Product| (&p.name, p.id))]
    async fn named(&self, mut name: String) -> Product {
        name.push_str(&self.tenant);
        Product { id: 1, name }
    }
}

#[cache_result(cache = "generic")]
async fn generic<T, const N: usize>(value: T, _names: [&str; 2]) -> [T; N]
where
    T: Clone + Send + Sync + serde::Serialize + 'static,
{
    std::array::from_fn(|_| value.clone())
}

#[cache_result(cache = "patterns")]
async fn patterns((page, size): (u32, u32), _: u8, _unused: bool, r#type: String) -> String {
    format!("{page}{size}{type}")
}

#[cache_invalidate(cache = "strings")]
async fn borrowed(id: &str) -> &str {
    id
}

#[cache_invalidate(cache = "opaque", invalidate_if = |_| true)]
async fn opaque(id: &str) -> impl Iterator<Item = char> {
    id.chars()
}

/// A part of an argument stays where an option looks at it after the body, which has taken another.
#[cache_result(cache = "parts", key = pair.0.len(), store_if = |v: &usize| *v > pair.0.len())]
async fn parts_of_an_argument(pair: (String, Vec<u8>), other: String) -> usize {
    drop(pair.1);
    drop(other);
    7
}

#[test]
fn parts_are_seen() {
    drop(parts_of_an_argument(Default::default(), String::new()));
}

struct Page {
    number: u64,
    size: u64,
}

/// The fields of a pattern are no variables.
#[cache_result(cache = "pages", key = (page, size))]
async fn fields_of_a_pattern(Page { number: page, size }: Page, other: String) -> String {
    let number = Page { number: page, size };
    format!("{} {} {other}", number.number, number.size)
}

/// Texts beside the parameter that they speak of.
#[cache_result(cache = "texts", key = ("tenant", "id", id, user))]
#[cache_invalidate(cache = "others", key = ["user", user])]
#[cache_invalidate(cache = "others", key = "user-list")]
#[cache_invalidate(cache = "others", key = "#superuser")]
#[cache_invalidate(cache = "others", key = "#1 user, {ids}")]
async fn texts_in_a_key(id: u64, user: &str) -> String {
    format!("{id} {user}")
}

const TEXTS: CacheName<String> = CacheName::new("texts");

/// One name is two caches where there are two managers.
#[cache_result(cache = TEXTS, manager = one)]
#[cache_invalidate(cache = "texts", manager = other)]
async fn two_managers(one: &CacheManager, other: &CacheManager, #[cache_key] id: u64) -> String {
    id.to_string()
}

#[test]
fn keys_and_names_are_taken() {
    let caches = CacheManager::global();
    drop(fields_of_a_pattern(
        Page { number: 1, size: 2 },
        String::new(),
    ));
    drop((texts_in_a_key(1, ""), two_managers(&caches, &caches, 1)));
}
