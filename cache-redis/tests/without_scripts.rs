//! A server that refuses scripts: values are stored all the same, and an invalidation is as final.

mod support;

use std::time::Duration;

use cache_core::{
    Bytes, CacheBackend,
    backend::{BackendHealth, FenceScope, NewEntry},
    testing::contract,
};
use cache_redis::RedisBackend;
use support::{Fixture, ask, fence, fill, new_entry, patient, product, read};

/// A server with a user who may not run scripts, and a backend that is that user.
async fn without_scripts(refused: &[&str]) -> (Fixture, RedisBackend) {
    let mut f = Fixture::new().await;
    let mut setuser = vec!["ACL", "SETUSER", "bob", "on", ">pw", "~cache:*", "~cs:*"];
    setuser.extend(["+@all", "-keys", "-flushall"]);
    setuser.extend(refused);
    let () = f.ask(&setuser).await;
    let backend = patient(&format!("redis://bob:pw@127.0.0.1:{}", f.server.port()));
    (f, backend)
}

const NONE: &[&str] = &["-eval", "-evalsha"];

#[tokio::test]
async fn it_keeps_the_contract() {
    for refused in [NONE, &["-eval"], &["-evalsha"]] {
        let (f, backend) = without_scripts(refused).await;
        let outside = f.outside.clone();
        let pass_time = |by: Duration| {
            let mut outside = outside.clone();
            async move {
                let millis = by.as_millis().to_string();
                let script = "for _, k in ipairs(redis.call('KEYS', '*')) do
                    local left = redis.call('PTTL', k)
                    if left >= 0 then redis.call('PEXPIRE', k, left - ARGV[1]) end
                end";
                let _: () = ask(&mut outside, &["EVAL", script, "0", &millis]).await;
            }
        };
        contract::check(&backend, pass_time).await;
        assert_eq!(backend.health(), BackendHealth::Up);
    }
}

#[tokio::test]
async fn a_store_is_refused_when_a_token_changes_between_its_writes() {
    let (mut f, backend) = without_scripts(NONE).await;
    let product = product();
    // Found out about the scripts, and connected.
    fill(&backend, &product, "0").await;
    for put in [false, true] {
        for all in [false, true] {
            let before = fence(&backend, &product, "1").await;
            // Nothing that writes passes: the invalidation waits, and behind it the store between its look and its write.
            let () = f.ask(&["CLIENT", "PAUSE", "60000", "WRITE"]).await;
            let invalidation = tokio::spawn({
                let (backend, product) = (patient(&f.server.url()), product.clone());
                async move {
                    if all {
                        backend.invalidate_all(&product).await
                    } else {
                        backend.invalidate(product.entry("1")).await.map(drop)
                    }
                }
            });
            f.until_blocked(1).await;
            let store = tokio::spawn({
                let (backend, product) = (backend.clone(), product.clone());
                async move {
                    let new = new_entry("late", before);
                    if put {
                        backend.put(product.entry("1"), new).await
                    } else {
                        backend.store(product.entry("1"), new).await
                    }
                }
            });
            f.until_blocked(2).await;
            let () = f.ask(&["CLIENT", "UNPAUSE"]).await;
            let stored = store.await.unwrap().unwrap();
            invalidation.await.unwrap().unwrap();
            assert!(!stored, "it came later");
            assert_eq!(read(&backend, &product, "1").await, None);
        }
    }
}

#[tokio::test]
async fn many_at_once_do_not_get_in_each_others_way() {
    let (_f, backend) = without_scripts(NONE).await;
    let product = product();
    let mut stores = Vec::new();
    for key in 0..200 {
        let (backend, product) = (backend.clone(), product.clone());
        stores.push(tokio::spawn(async move {
            let key = key.to_string();
            let now = fence(&backend, &product, &key).await;
            assert!(
                backend
                    .store(product.entry(&key), new_entry(&key, now))
                    .await
                    .unwrap()
            );
        }));
    }
    for store in stores {
        store.await.unwrap();
    }
    for key in ["0", "199"] {
        assert_eq!(read(&backend, &product, key).await.as_deref(), Some(key));
    }
}

/// Whoever goes away in the middle leaves watched keys behind.
#[tokio::test]
async fn a_store_that_is_dropped_half_way_does_not_spoil_the_next() {
    let (mut f, backend) = without_scripts(NONE).await;
    let product = product();
    fill(&backend, &product, "0").await;
    for _ in 0..20 {
        let now = fence(&backend, &product, "1").await;
        let entry = product.entry("1");
        let store = backend.store(entry, new_entry("1", now));
        let _ = tokio::time::timeout(Duration::from_micros(300), store).await;
        let () = f
            .ask(&["SET", "cs:product:e", "another", "XX", "KEEPTTL"])
            .await;
        let _ = backend.invalidate_all(&product).await;
        fill(&backend, &product, "2").await;
        assert_eq!(read(&backend, &product, "2").await.as_deref(), Some("2"));
    }
}

#[tokio::test]
async fn a_full_server_removes_what_a_put_was_to_replace() {
    let (mut f, backend) = without_scripts(NONE).await;
    let product = product();
    fill(&backend, &product, "1").await;
    let now = fence(&backend, &product, "1").await;
    let () = f.ask(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert!(
        !backend
            .put(product.entry("1"), new_entry("new", now))
            .await
            .unwrap()
    );
    let () = f.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(read(&backend, &product, "1").await, None);
}

#[tokio::test]
async fn the_epoch_lives_as_long_as_what_is_stored_under_it() {
    let (mut f, backend) = without_scripts(NONE).await;
    let product = product();
    let now = fence(&backend, &product, "1").await;
    let new = NewEntry {
        bytes: Bytes::from_static(b"bytes"),
        ttl: Some(Duration::from_secs(30 * 24 * 3600)),
        fence: now,
        scope: FenceScope::Entry,
    };
    assert!(backend.store(product.entry("1"), new).await.unwrap());
    let left: i64 = f.ask(&["TTL", "cs:product:e"]).await;
    assert!(left >= 30 * 24 * 3600, "{left}");
}

/// Scripts that are allowed again are used again, and nobody is told of it for every store.
#[tokio::test]
async fn scripts_that_are_flushed_are_loaded_again() {
    let mut f = Fixture::new().await;
    let backend = f.backend.clone();
    for key in ["1", "2", "3"] {
        fill(&backend, &product(), key).await;
        let () = f.ask(&["SCRIPT", "FLUSH"]).await;
    }
    assert_eq!(read(&backend, &product(), "3").await.as_deref(), Some("3"));
    assert_eq!(f.clients().await.len(), 1, "none apart");
}
