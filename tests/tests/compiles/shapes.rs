//! Every shape of function that can be annotated.
#![allow(dead_code)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(clippy::missing_const_for_fn)]
#![forbid(unsafe_code)]

use std::{sync::Arc, time::Duration};

use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};

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
