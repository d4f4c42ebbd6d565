//! Methods of traits: native ones, and those that `#[async_trait]` has rewritten.
#![deny(warnings)]
#![allow(dead_code, async_fn_in_trait)]

use ::async_trait::async_trait;
use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};

#[derive(Clone)]
struct Product {
    id: u64,
}

trait Native {
    async fn product(&self, id: u64) -> Result<Product, String>;

    #[cache_result(cache = "native-default", key = (id, self.tenant()))]
    async fn by_default(&self, id: u64) -> Option<u64> {
        self.product(id).await.ok().map(|product| product.id)
    }

    fn tenant(&self) -> u64 {
        1
    }
}

#[async_trait]
trait Boxed {
    async fn product(&self, id: u64, trace: &str) -> Result<Product, String>;
    async fn rename(&mut self, id: u64, name: &str) -> Result<(), String>;
    async fn removed(self: Box<Self>, id: u64);

    #[cache_result(cache = "boxed-default")]
    async fn by_default(&self, (page, size): (u64, u64), mut limit: u64) -> u64 {
        limit += page * size;
        limit
    }

    #[cache_put(cache = "associated")]
    async fn associated(id: u64) -> u64
    where
        Self: Sized,
    {
        id
    }
}

struct Shop<T> {
    tenant: String,
    repository: T,
}

impl<T> Native for Shop<T> {
    #[cache_result(cache = "native")]
    async fn product(&self, id: u64) -> Result<Product, String> {
        Ok(Product { id })
    }
}

#[async_trait]
impl<T: Send + Sync> Boxed for Shop<T> {
    #[cache_result(cache = "boxed", key = (&self.tenant, id))]
    async fn product(&self, id: u64, trace: &str) -> Result<Product, String> {
        if trace.is_empty() {
            Err(self.tenant.clone())
        } else {
            Ok(Product { id })
        }
    }

    #[cache_invalidate(cache = "boxed")]
    #[cache_invalidate_all(cache = "others", when = "before")]
    async fn rename(&mut self, #[cache_key] id: u64, name: &str) -> Result<(), String> {
        self.tenant = format!("{name}{id}");
        Ok(())
    }

    #[cache_invalidate(cache = "boxed")]
    async fn removed(self: Box<Self>, id: u64) {
        assert!(id > 0 && self.tenant.len() < 100);
    }
}

fn require_send<T: Send>(_: T) {}

#[test]
fn all_is_used() {
    let shop = Shop {
        tenant: String::new(),
        repository: (),
    };
    require_send(Boxed::product(&shop, 1, ""));
    drop(Native::product(&shop, 1));
}
