//! redis-rs, by hand: `GET` on one shared connection, then the codec that the caches use by default.

use std::{fmt::Display, sync::Arc};

use redis::aio::MultiplexedConnection;
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::OnceCell;

use super::{Forget, all, many, many_at_once};
use crate::{
    server,
    work::{self, Product, TTL},
};

async fn connection() -> MultiplexedConnection {
    static CONNECTION: OnceCell<MultiplexedConnection> = OnceCell::const_new();
    CONNECTION.get_or_init(server::connect).await.clone()
}

async fn get<V: DeserializeOwned>(key: &str) -> Option<V> {
    let mut get = redis::cmd("GET");
    let bytes: Option<Vec<u8>> = get
        .arg(key)
        .query_async(&mut connection().await)
        .await
        .expect("the server answers");
    let config = bincode::config::standard().with_limit::<{ 64 << 20 }>();
    bytes.map(|bytes| {
        bincode::serde::decode_from_slice(&bytes, config)
            .expect("as written")
            .0
    })
}

async fn set<V: Serialize>(key: &str, value: &V) {
    let bytes =
        bincode::serde::encode_to_vec(value, bincode::config::standard()).expect("it can be");
    let mut set = redis::cmd("SET");
    set.arg(key)
        .arg(bytes)
        .arg("PX")
        .arg(TTL.as_millis() as u64);
    set.exec_async(&mut connection().await)
        .await
        .expect("the server answers");
}

fn key(what: &str, id: impl Display) -> String {
    format!("by-hand:{what}:{id}")
}

pub async fn product(id: u64) -> Arc<Product> {
    let key = key("product", id);
    match get(&key).await {
        Some(product) => product,
        None => {
            let product = Arc::new(work::product(id));
            set(&key, &product).await;
            product
        }
    }
}

pub async fn list(category: &str, page: u32) -> Arc<Vec<Product>> {
    let key = key("list", format_args!("{category}:{page}"));
    match get(&key).await {
        Some(list) => list,
        None => {
            let list = Arc::new(work::list(category, page));
            set(&key, &list).await;
            list
        }
    }
}

pub async fn slow(id: u64) -> Arc<Product> {
    let key = key("slow", id);
    match get(&key).await {
        Some(product) => product,
        None => {
            let product = work::slow(id).await;
            set(&key, &product).await;
            product
        }
    }
}

async fn unlink(keys: &[String]) {
    let mut unlink = redis::cmd("UNLINK");
    unlink
        .arg(keys)
        .exec_async(&mut connection().await)
        .await
        .expect("the server answers");
}

/// What one has to write who wants to be rid of all entries: every key of the server is looked at.
async fn unlink_all() {
    let mut cursor = 0_u64;
    loop {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor)
            .arg("MATCH")
            .arg("by-hand:many:*")
            .arg("COUNT")
            .arg(1_000);
        let (next, keys): (u64, Vec<String>) = scan
            .query_async(&mut connection().await)
            .await
            .expect("the server answers");
        if !keys.is_empty() {
            unlink(&keys).await;
        }
        cursor = next;
        if cursor == 0 {
            return;
        }
    }
}

pub fn forget() -> Forget {
    Forget {
        fill: many_at_once(async |id| set(&key("many", id), &work::product(id)).await),
        each: many(async |id| unlink(&[key("many", id)]).await),
        all: all(unlink_all),
    }
}
