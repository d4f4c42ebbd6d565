//! The list of permissions in the documentation of the crate: it is enough, and nothing in it is too much.

mod support;

use std::{collections::HashMap, time::Duration};

use cache_core::{
    CacheBackend,
    backend::{FenceScope, NewEntry},
};
use cache_redis::RedisBackend;
use support::{
    Fixture, ask, eventually, failing, fence, fill, new_entry, outside, patient, product, read,
};

/// The commands as the documentation lists them.
fn documented() -> Vec<String> {
    let text = include_str!("../src/lib.rs");
    let (_, list) = text
        .split_once("and the commands ")
        .expect("there is a list");
    let (list, _) = list.split_once(". ").expect("it is a sentence");
    list.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_lowercase)
        .collect()
}

/// A server with a user who may do what is documented and nothing else, and where it is as that user.
async fn restricted() -> (Fixture, String) {
    let mut f = Fixture::new().await;
    let commands = documented()
        .into_iter()
        .map(|command| format!("+{command}"));
    let rules = ["on", ">pw", "~cache:*", "~cs:*"].map(str::to_owned);
    let mut setuser = redis::cmd("ACL");
    setuser.arg("SETUSER").arg("bob");
    setuser.arg(&rules).arg(commands.collect::<Vec<_>>());
    let () = setuser.query_async(&mut f.outside).await.unwrap();
    let url = format!("redis://bob:pw@127.0.0.1:{}/1", f.server.port());
    f.outside = outside(&format!("{}/1", f.server.url())).await;
    // From here on it counts what the server does.
    let () = f.ask(&["CONFIG", "RESETSTAT"]).await;
    (f, url)
}

/// Every step of the protocol, on a server that has memory and on one that has none.
async fn do_everything(f: &mut Fixture, backend: &RedisBackend) {
    let product = product();
    for key in ["stored", "invalidated", "chosen"] {
        fill(backend, &product, key).await;
    }
    let now = fence(backend, &product, "put").await;
    let put = backend.put(product.entry("put"), new_entry("put", now));
    assert!(put.await.unwrap());
    let now = backend.load_cache_fence(&product).await.unwrap().unwrap();
    let new = NewEntry {
        // Without limit: the epoch has to live longer for it.
        ttl: None,
        scope: FenceScope::Cache,
        ..new_entry("late", now)
    };
    assert!(backend.put(product.entry("late"), new).await.unwrap());

    let invalidated = backend.invalidate(product.entry("invalidated"));
    assert!(invalidated.await.unwrap());
    let chosen = backend.invalidate_if(&product, &|key| key == "chosen");
    assert_eq!(chosen.await.unwrap(), 1);
    backend.invalidate_all(&product).await.unwrap();
    eventually("the rest is swept", || {
        let mut outside = f.outside.clone();
        async move {
            ask::<Vec<String>>(&mut outside, &["KEYS", "cache:*"])
                .await
                .is_empty()
        }
    })
    .await;

    for key in ["stored", "put"] {
        fill(backend, &product, key).await;
    }
    let now = fence(backend, &product, "put").await;
    let () = f.ask(&["CONFIG", "SET", "maxmemory", "1"]).await;
    assert!(backend.invalidate(product.entry("stored")).await.unwrap());
    let put = backend.put(product.entry("put"), new_entry("new", now));
    assert!(!put.await.unwrap());
    let chosen = backend.invalidate_if(&product, &|_| true);
    assert_eq!(chosen.await.unwrap(), 0);
    backend.invalidate_all(&product).await.unwrap();
    let () = f.ask(&["CONFIG", "SET", "maxmemory", "0"]).await;
    assert_eq!(read(backend, &product, "put").await, None);
}

/// A request without an answer makes the backend ask whether the connection is of any use.
async fn be_slow(f: &mut Fixture, url: &str) {
    let backend = RedisBackend::builder(url)
        .read_budget(Duration::from_millis(50))
        .store_budget(Duration::from_secs(10))
        .build()
        .unwrap();
    eventually("it is connected", || {
        let backend = backend.clone();
        async move { backend.load(product().entry("1")).await.is_ok() }
    })
    .await;
    let () = f.ask(&["CLIENT", "PAUSE", "200", "ALL"]).await;
    failing(backend.load(product().entry("1"))).await;
    // Waits for the end of the pause, and keeps the connection until the question has arrived.
    backend.invalidate(product().entry("1")).await.unwrap();
}

#[tokio::test]
async fn the_documented_permissions_are_enough_and_none_is_too_much() {
    let (mut f, url) = restricted().await;
    do_everything(&mut f, &patient(&url)).await;
    be_slow(&mut f, &url).await;

    let mut refused: Vec<HashMap<String, String>> = f.ask(&["ACL", "LOG"]).await;
    // These are said to be of use and not needed.
    refused.retain(|entry| !entry["object"].starts_with("client") && entry["object"] != "info");
    assert!(refused.is_empty(), "{refused:?}");
    let carried_out: String = f.ask(&["INFO", "commandstats"]).await;
    for command in documented() {
        assert!(
            carried_out.contains(&format!("cmdstat_{command}:")),
            "{command} is documented and was not needed: {carried_out}"
        );
    }
}
