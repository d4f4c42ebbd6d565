//! `hitbox`, through its macro. It keeps encoded values, in memory too; the codec is bincode in both stores.

use std::sync::{Arc, LazyLock};

use hitbox::{
    CacheKey, KeyPart,
    backend::{Backend, DeleteStatus},
    concurrency::BroadcastConcurrencyManager,
    policy::PolicyConfig,
};
use hitbox_backend::format::BincodeFormat;
use hitbox_fn::{Cache, CacheableResponse, cached};
use hitbox_moka::MokaBackend;
use hitbox_redis::{ConnectionMode, RedisBackend};
use serde::{Deserialize, Serialize};

use super::{Forget, many, many_at_once};
use crate::{
    server,
    work::{self, CAPACITY, LARGE_CAPACITY, Product, TTL},
};

/// What it caches has to implement a trait of its own, which `Arc` does not.
#[derive(Clone, Debug, Serialize, Deserialize, CacheableResponse)]
pub struct SharedProduct {
    shared: Arc<Product>,
}

#[derive(Clone, Debug, Serialize, Deserialize, CacheableResponse)]
pub struct SharedList {
    shared: Arc<Vec<Product>>,
}

type InMemory = Cache<MokaBackend<BincodeFormat>>;
type InRedis = Cache<RedisBackend<BincodeFormat>>;

fn policy() -> PolicyConfig {
    PolicyConfig::builder().ttl(TTL).build()
}

fn memory(capacity: u64) -> MokaBackend<BincodeFormat> {
    MokaBackend::builder()
        .max_entries(capacity)
        .value_format(BincodeFormat)
        .build()
}

fn in_memory(capacity: u64) -> InMemory {
    Cache::builder()
        .backend(memory(capacity))
        .policy(policy())
        .build()
}

fn redis() -> RedisBackend<BincodeFormat> {
    RedisBackend::builder()
        .connection(ConnectionMode::single(server::url()))
        .value_format(BincodeFormat)
        .build()
        .expect("the address is valid")
}

static MEMORY: LazyLock<InMemory> = LazyLock::new(|| in_memory(CAPACITY));
static REDIS: LazyLock<InRedis> =
    LazyLock::new(|| Cache::builder().backend(redis()).policy(policy()).build());

mod functions {
    use super::*;

    #[cached(prefix = "product")]
    pub async fn product(id: u64) -> SharedProduct {
        SharedProduct {
            shared: Arc::new(work::product(id)),
        }
    }

    #[cached(prefix = "product-by-value")]
    pub async fn product_by_value(id: u64) -> Product {
        work::product(id)
    }

    // What it takes has to be owned.
    #[cached(prefix = "list")]
    pub async fn list(category: String, page: u32) -> SharedList {
        SharedList {
            shared: Arc::new(work::list(&category, page)),
        }
    }

    #[cached(prefix = "list-by-value")]
    pub async fn list_by_value(category: String, page: u32) -> Vec<Product> {
        work::list(&category, page)
    }

    #[cached(prefix = "slow")]
    pub async fn slow(id: u64) -> SharedProduct {
        SharedProduct {
            shared: work::slow(id).await,
        }
    }
}

pub async fn product(id: u64) -> SharedProduct {
    functions::product(id).cache(&*MEMORY).await
}

pub async fn product_by_value(id: u64) -> Product {
    functions::product_by_value(id).cache(&*MEMORY).await
}

pub async fn list(category: &str, page: u32) -> SharedList {
    functions::list(category.to_owned(), page)
        .cache(&*MEMORY)
        .await
}

pub async fn list_by_value(category: &str, page: u32) -> Vec<Product> {
    functions::list_by_value(category.to_owned(), page)
        .cache(&*MEMORY)
        .await
}

pub async fn slow(id: u64) -> SharedProduct {
    functions::slow(id).cache(&*MEMORY).await
}

pub async fn redis_product(id: u64) -> SharedProduct {
    functions::product(id).cache(&*REDIS).await
}

pub async fn redis_list(category: &str, page: u32) -> SharedList {
    functions::list(category.to_owned(), page)
        .cache(&*REDIS)
        .await
}

pub async fn redis_slow(id: u64) -> SharedProduct {
    functions::slow(id).cache(&*REDIS).await
}

/// With what it has against many loads of one key.
pub mod one_load {
    use super::*;

    fn policy() -> PolicyConfig {
        PolicyConfig::builder()
            .ttl(TTL)
            .concurrency(1.try_into().expect("one is allowed"))
            .build()
    }

    type Managed<B> = Cache<B, BroadcastConcurrencyManager<SharedProduct>>;

    static MEMORY: LazyLock<Managed<MokaBackend<BincodeFormat>>> = LazyLock::new(|| {
        Cache::builder()
            .backend(memory(CAPACITY))
            .policy(policy())
            .concurrency_manager(BroadcastConcurrencyManager::new())
            .build()
    });

    static REDIS: LazyLock<Managed<RedisBackend<BincodeFormat>>> = LazyLock::new(|| {
        Cache::builder()
            .backend(redis())
            .policy(policy())
            .concurrency_manager(BroadcastConcurrencyManager::new())
            .build()
    });

    pub async fn product(id: u64) -> SharedProduct {
        functions::product(id).cache(&*MEMORY).await
    }

    pub async fn slow(id: u64) -> SharedProduct {
        functions::slow(id).cache(&*MEMORY).await
    }

    pub async fn redis_slow(id: u64) -> SharedProduct {
        functions::slow(id).cache(&*REDIS).await
    }
}

/// The key of a product. Its crates have no function that forgets: it has to be written by hand.
fn key(id: u64) -> CacheKey {
    CacheKey::new(
        "",
        0,
        vec![
            KeyPart::new("fn", Some("product")),
            KeyPart::new("id", Some(id.to_string())),
        ],
    )
}

async fn remove(backend: &impl Backend, id: u64) {
    let status = backend.remove(&key(id)).await.expect("the store answers");
    assert!(
        matches!(status, DeleteStatus::Deleted(_)),
        "the key is the one of the function"
    );
}

pub fn forget() -> Forget {
    static MANY: LazyLock<InMemory> = LazyLock::new(|| in_memory(LARGE_CAPACITY));
    Forget {
        fill: many(async |id| functions::product(id).cache(&*MANY).await),
        each: many(async |id| remove(&**MANY.backend(), id).await),
        all: None,
    }
}

pub fn redis_forget() -> Forget {
    Forget {
        fill: many_at_once(redis_product),
        each: many(async |id| remove(&**REDIS.backend(), id).await),
        all: None,
    }
}
