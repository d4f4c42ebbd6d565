//! What a server has acknowledged holds also when another one takes its place that has not heard of it.

mod support;

use std::time::Duration;

use cache_core::{CacheBackend, backend::CacheId};
use cache_redis::{RedisBackend, dev::RedisServer};
use redis::aio::MultiplexedConnection;
use support::{
    Fixture, Proxy, ask, eventually, fence, fill, new_entry, outside, patient, product, read,
};

/// A server, another one that has its data of a moment ago, and the way to whichever is the master.
struct Failover {
    old: Fixture,
    new: RedisServer,
    outside_of_new: MultiplexedConnection,
    way: Proxy,
    backend: RedisBackend,
}

impl Failover {
    async fn new() -> Self {
        let mut old = Fixture::new().await;
        let way = Proxy::start(&old.server);
        let new = RedisServer::start().unwrap();
        let mut outside_of_new = outside(&new.url()).await;
        // A master waits for more replicas, if it may.
        let at_once = ["CONFIG", "SET", "repl-diskless-sync-delay", "0"];
        let () = old.ask(&at_once).await;
        let () = ask(&mut outside_of_new, &at_once).await;
        let backend = patient(&way.url());
        Self {
            old,
            new,
            outside_of_new,
            way,
            backend,
        }
    }

    /// What is there now is all that the other server will ever hear.
    async fn copy(&mut self) {
        let port = self.old.server.port().to_string();
        let new = &mut self.outside_of_new;
        let () = ask(new, &["REPLICAOF", "127.0.0.1", &port]).await;
        eventually("the replica is complete", || {
            let mut old = self.old.outside.clone();
            async move { ask::<u64>(&mut old, &["WAIT", "1", "100"]).await == 1 }
        })
        .await;
        let () = ask(&mut self.outside_of_new, &["REPLICAOF", "NO", "ONE"]).await;
    }

    fn fail_over(&self) {
        self.way.lead_to(&self.new);
    }

    /// What is read through the backend, once it is connected.
    async fn read(&self, cache: &CacheId, key: &str) -> Option<String> {
        eventually("it is connected", || {
            let (backend, cache) = (self.backend.clone(), cache.clone());
            async move { backend.probe(&cache).await.is_ok() }
        })
        .await;
        read(&self.backend, cache, key).await
    }
}

fn other() -> CacheId {
    CacheId::new("other", "cache:other")
}

#[tokio::test]
async fn a_promoted_replica_is_told_what_was_invalidated() {
    let mut f = Failover::new().await;
    for key in ["invalidated", "put", "kept"] {
        fill(&f.backend, &product(), key).await;
    }
    fill(&f.backend, &other(), "1").await;
    let loading = fence(&f.backend, &product(), "invalidated").await;
    f.copy().await;
    let product = product();
    f.backend
        .invalidate(product.entry("invalidated"))
        .await
        .unwrap();
    let now = fence(&f.backend, &product, "put").await;
    f.backend
        .put(product.entry("put"), new_entry("new", now))
        .await
        .unwrap();
    f.backend.invalidate_all(&other()).await.unwrap();

    f.fail_over();
    assert_eq!(f.read(&product, "invalidated").await, None);
    assert_eq!(
        f.read(&product, "put").await,
        None,
        "the old one is not true any more"
    );
    assert_eq!(f.read(&other(), "1").await, None);
    assert_eq!(f.read(&product, "kept").await.as_deref(), Some("kept"));
    // A load that began before the invalidation holds a stamp that the new server still has.
    let late = f
        .backend
        .store(product.entry("invalidated"), new_entry("old", loading));
    assert!(!late.await.unwrap());
}

#[tokio::test]
async fn so_it_is_by_predicate() {
    let mut f = Failover::new().await;
    fill(&f.backend, &product(), "1").await;
    let loading = fence(&f.backend, &product(), "2").await;
    f.copy().await;
    let product = product();
    f.backend.invalidate_if(&product, &|_| true).await.unwrap();
    f.fail_over();
    assert_eq!(f.read(&product, "1").await, None);
    let late = f
        .backend
        .store(product.entry("2"), new_entry("old", loading));
    assert!(!late.await.unwrap());
}

#[tokio::test]
async fn more_than_is_remembered_one_by_one_ends_the_whole_cache() {
    let mut f = Failover::new().await;
    fill(&f.backend, &product(), "first").await;
    fill(&f.backend, &product(), "kept").await;
    fill(&f.backend, &other(), "kept").await;
    f.copy().await;
    let product = product();
    f.backend.invalidate(product.entry("first")).await.unwrap();
    for key in 0..5000 {
        let key = key.to_string();
        f.backend.invalidate(product.entry(&key)).await.unwrap();
    }
    f.fail_over();
    assert_eq!(f.read(&product, "first").await, None);
    assert_eq!(f.read(&product, "kept").await, None);
    assert_eq!(f.read(&other(), "kept").await.as_deref(), Some("kept"));
}

#[tokio::test]
async fn a_user_who_may_not_ask_which_server_it_is_tells_every_one() {
    let mut f = Failover::new().await;
    let rules = ["ACL", "SETUSER", "bob", "on", ">pw", "~*", "+@all", "-info"];
    let () = f.old.ask(&rules).await;
    let () = ask(&mut f.outside_of_new, &rules).await;
    let way = f.way.url().replace("redis://", "redis://bob:pw@");
    f.backend = patient(&way);
    fill(&f.backend, &product(), "1").await;
    f.copy().await;
    f.backend.invalidate(product().entry("1")).await.unwrap();
    f.fail_over();
    assert_eq!(f.read(&product(), "1").await, None);
}

#[tokio::test]
async fn a_full_server_is_told_too() {
    let mut f = Failover::new().await;
    fill(&f.backend, &product(), "1").await;
    f.copy().await;
    let () = ask(&mut f.outside_of_new, &["CONFIG", "SET", "maxmemory", "1"]).await;
    f.backend.invalidate(product().entry("1")).await.unwrap();
    f.fail_over();
    assert_eq!(f.read(&product(), "1").await, None);
}

#[tokio::test]
async fn a_server_that_is_restarted_with_older_data_is_told() {
    let dir = std::env::temp_dir().join(format!("cache-redis-replay-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let dir_name = dir.to_str().unwrap();
    let mut server = RedisServer::start_with(&["--dir", dir_name]).unwrap();
    let backend = patient(&server.url());
    fill(&backend, &product(), "1").await;
    fill(&backend, &product(), "2").await;
    let () = ask(&mut outside(&server.url()).await, &["SAVE"]).await;
    backend.invalidate(product().entry("1")).await.unwrap();
    server.stop();
    server.restart().unwrap();
    eventually("it is connected", || {
        let backend = backend.clone();
        async move { backend.probe(&product()).await.is_ok() }
    })
    .await;
    assert_eq!(read(&backend, &product(), "1").await, None);
    assert_eq!(read(&backend, &product(), "2").await.as_deref(), Some("2"));
    std::fs::remove_dir_all(&dir).unwrap();
}

/// The same process all the time, and on the same connections until it says that it is a replica.
#[tokio::test]
async fn a_master_that_was_a_replica_for_a_while_is_told() {
    let mut f = Failover::new().await;
    fill(&f.backend, &product(), "1").await;
    f.copy().await;
    f.backend.invalidate(product().entry("1")).await.unwrap();
    let port = f.new.port().to_string();
    let () = f.old.ask(&["REPLICAOF", "127.0.0.1", &port]).await;
    eventually("it has the other's data", || {
        let mut old = f.old.outside.clone();
        async move { ask::<u64>(&mut old, &["EXISTS", "cache:product:1"]).await == 1 }
    })
    .await;
    let product = product();
    let refused = f.backend.invalidate(product.entry("2")).await.unwrap_err();
    assert!(refused.to_string().contains("READONLY"), "{refused}");
    // From here on it is known what it is, and it is not even read.
    let refused = f.backend.load(product.entry("1")).await.unwrap_err();
    assert!(refused.to_string().contains("replica"), "{refused}");
    let () = f.old.ask(&["REPLICAOF", "NO", "ONE"]).await;
    assert_eq!(f.read(&product, "1").await, None);
}

/// One of several connections meets the other server first.
#[tokio::test]
async fn all_connections_move_together() {
    let mut f = Failover::new().await;
    f.backend = RedisBackend::builder(&f.way.url())
        .connections(4)
        .read_budget(Duration::from_secs(5))
        .store_budget(Duration::from_secs(5))
        .build()
        .unwrap();
    for key in ["1", "2", "3", "4"] {
        fill(&f.backend, &product(), key).await;
    }
    f.copy().await;
    f.backend.invalidate(product().entry("1")).await.unwrap();
    f.fail_over();
    for _ in 0..8 {
        assert_eq!(f.read(&product(), "1").await, None);
    }
    assert_eq!(f.read(&product(), "4").await.as_deref(), Some("4"));
}
