//! What every backend must do, as a test.
//!
//! ```
//! use cache_core::testing::{MapBackend, contract};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let backend = MapBackend::new();
//! contract::check(&backend, async |by| backend.clock().advance(by)).await;
//! # }
//! ```

use std::{collections::HashSet, time::Duration};

use bytes::Bytes;

use crate::backend::{CacheBackend, CacheId, EntryId, Fence, FenceScope, NewEntry};

/// Keys that have been taken apart wrongly by one store or another.
const KEYS: [&str; 9] = [
    "42",
    "default-cache-key",
    "{",
    "a{b}c",
    "}{",
    "[\"a:b\",\"c\"]",
    "größe €",
    "with space",
    "#sF4yHwZ1w0p3rJ2mB7n9cQ5tX8vL6kD-aEgUiOoYhS_",
];

/// Checks a backend, with caches named `contract-…` of its own. `advance` moves the time by which entries expire in it.
///
/// # Panics
/// At the first thing that the backend does otherwise, with a sentence that says what it should have done.
pub async fn check<B: CacheBackend>(backend: &B, advance: impl AsyncFn(Duration)) {
    bytes_come_back(backend).await;
    fences_last_until_they_are_replaced(backend).await;
    an_invalidation_refuses_what_began_before(backend).await;
    clearing_a_cache_touches_no_other(backend).await;
    a_put_supersedes_what_is_under_way(backend).await;
    a_put_of_an_unknown_key_is_fenced_by_the_cache(backend).await;
    entries_are_chosen_by_their_key_text(backend).await;
    entries_expire(backend, advance).await;
}

fn cache(name: &str) -> CacheId {
    CacheId::new(name, &format!("cache:{name}"))
}

async fn fence<B: CacheBackend>(backend: &B, entry: EntryId<'_>) -> Fence {
    let loaded = backend.load(entry).await.expect("`load` answers");
    loaded
        .fence
        .expect("`load` gives the tokens in force, and creates those that do not exist")
}

async fn bytes<B: CacheBackend>(backend: &B, entry: EntryId<'_>) -> Option<Bytes> {
    backend.load(entry).await.expect("`load` answers").bytes
}

fn new(value: &'static [u8], fence: Fence) -> NewEntry {
    NewEntry {
        bytes: Bytes::from_static(value),
        ttl: Some(Duration::from_secs(60)),
        fence,
        scope: FenceScope::Entry,
    }
}

async fn store<B: CacheBackend>(backend: &B, entry: EntryId<'_>, value: &'static [u8]) {
    let fence = fence(backend, entry).await;
    assert!(
        backend
            .store(entry, new(value, fence))
            .await
            .expect("`store` answers"),
        "`store` takes a value while its tokens are in force"
    );
}

async fn bytes_come_back<B: CacheBackend>(backend: &B) {
    let (one, other) = (cache("contract-bytes"), cache("contract-bytes.other"));
    for (i, key) in KEYS.into_iter().enumerate() {
        assert_eq!(
            bytes(backend, one.entry(key)).await,
            None,
            "nothing is stored under a fresh key"
        );
        store(
            backend,
            one.entry(key),
            &[0, 255, b'\r', b'\n', 0, 128][..=i % 6],
        )
        .await;
    }
    for (i, key) in KEYS.into_iter().enumerate() {
        let stored = bytes(backend, one.entry(key)).await;
        assert_eq!(
            stored.as_deref(),
            Some(&[0, 255, b'\r', b'\n', 0, 128][..=i % 6]),
            "`load` gives the bytes as they were stored"
        );
        assert_eq!(
            bytes(backend, other.entry(key)).await,
            None,
            "another cache has entries of its own"
        );
    }
    store(backend, one.entry("empty"), b"").await;
    assert_eq!(
        bytes(backend, one.entry("empty")).await.as_deref(),
        Some(&b""[..]),
        "no bytes are an entry too"
    );
    store(backend, one.entry("empty"), b"full").await;
    assert_eq!(
        bytes(backend, one.entry("empty")).await.as_deref(),
        Some(&b"full"[..]),
        "`store` replaces what is there"
    );
}

async fn fences_last_until_they_are_replaced<B: CacheBackend>(backend: &B) {
    let cache = cache("contract-fences");
    let entry = cache.entry("1");
    let first = fence(backend, entry).await;
    assert_eq!(
        fence(backend, entry).await,
        first,
        "tokens stay until something replaces them"
    );
    store(backend, entry, b"a").await;
    assert_eq!(
        fence(backend, entry).await,
        first,
        "`store` replaces no token"
    );
    assert_eq!(
        fence(backend, cache.entry("2")).await.epoch,
        first.epoch,
        "all entries of a cache have one epoch"
    );
    let mut seen = HashSet::from([first.stamp]);
    for _ in 0..100 {
        backend
            .invalidate(entry)
            .await
            .expect("`invalidate` answers");
        assert!(
            seen.insert(fence(backend, entry).await.stamp),
            "every `invalidate` makes a stamp that never was before"
        );
    }
}

async fn an_invalidation_refuses_what_began_before<B: CacheBackend>(backend: &B) {
    let cache = cache("contract-invalidate");
    let entry = cache.entry("1");
    assert!(
        !backend
            .invalidate(entry)
            .await
            .expect("`invalidate` answers"),
        "`invalidate` says that there was nothing"
    );
    store(backend, entry, b"old").await;
    let before = fence(backend, entry).await;
    assert!(
        backend
            .invalidate(entry)
            .await
            .expect("`invalidate` answers"),
        "`invalidate` says that there was an entry"
    );
    assert_eq!(
        bytes(backend, entry).await,
        None,
        "`invalidate` removes the entry"
    );
    assert!(
        !backend
            .store(entry, new(b"old", before))
            .await
            .expect("`store` answers"),
        "`store` refuses a value that was begun before an invalidation"
    );
    assert_eq!(
        bytes(backend, entry).await,
        None,
        "what is refused is not stored"
    );
    store(backend, entry, b"new").await;
    assert!(
        !backend
            .store(entry, new(b"old", before))
            .await
            .expect("`store` answers"),
        "a replaced stamp never comes back"
    );
    assert_eq!(
        bytes(backend, entry).await.as_deref(),
        Some(&b"new"[..]),
        "what is refused changes nothing"
    );
    let odd = Fence {
        stamp: fence(backend, entry).await.stamp,
        epoch: crate::backend::Token::random(),
    };
    assert!(
        !backend
            .store(entry, new(b"odd", odd))
            .await
            .expect("`store` answers"),
        "`store` compares the epoch too"
    );
}

async fn clearing_a_cache_touches_no_other<B: CacheBackend>(backend: &B) {
    let (cleared, sibling) = (cache("contract-clear"), cache("contract-clear.sibling"));
    backend
        .invalidate_all(&cleared)
        .await
        .expect("an empty cache can be cleared");
    for key in KEYS {
        store(backend, cleared.entry(key), b"old").await;
        store(backend, sibling.entry(key), b"kept").await;
    }
    let before = fence(backend, cleared.entry("42")).await;
    backend
        .invalidate_all(&cleared)
        .await
        .expect("`invalidate_all` answers");
    for key in KEYS {
        let loaded = backend
            .load(cleared.entry(key))
            .await
            .expect("`load` answers");
        assert_ne!(
            loaded.fence.map(|fence| fence.epoch),
            Some(before.epoch),
            "`invalidate_all` replaces the epoch"
        );
        assert_eq!(
            bytes(backend, sibling.entry(key)).await.as_deref(),
            Some(&b"kept"[..]),
            "`invalidate_all` touches no other cache"
        );
    }
    assert!(
        !backend
            .store(cleared.entry("42"), new(b"old", before))
            .await
            .expect("`store` answers"),
        "`store` refuses a value of an epoch that is over"
    );
    store(backend, cleared.entry("42"), b"new").await;
    assert_eq!(
        bytes(backend, cleared.entry("42")).await.as_deref(),
        Some(&b"new"[..]),
        "a cleared cache takes new entries"
    );
}

async fn a_put_supersedes_what_is_under_way<B: CacheBackend>(backend: &B) {
    let cache = cache("contract-put");
    let entry = cache.entry("1");
    let load = fence(backend, entry).await;
    assert!(
        backend
            .put(entry, new(b"put", load))
            .await
            .expect("`put` answers"),
        "`put` takes a value while its tokens are in force"
    );
    assert_eq!(
        bytes(backend, entry).await.as_deref(),
        Some(&b"put"[..]),
        "`put` stores"
    );
    assert!(
        !backend
            .store(entry, new(b"old", load))
            .await
            .expect("`store` answers"),
        "`put` replaces the stamp: loads that began before it are refused"
    );
    assert!(
        !backend
            .put(entry, new(b"late", load))
            .await
            .expect("`put` answers"),
        "`put` refuses a value when something came in between"
    );
    assert_eq!(
        bytes(backend, entry).await,
        None,
        "a refused `put` removes the entry: nobody knows which value is newer"
    );
    let ghost = Fence {
        stamp: crate::backend::Token::random(),
        ..load
    };
    assert!(
        !backend
            .put(entry, new(b"ghost", ghost))
            .await
            .expect("`put` answers"),
        "`put` compares the stamp"
    );
}

async fn a_put_of_an_unknown_key_is_fenced_by_the_cache<B: CacheBackend>(backend: &B) {
    let cache = cache("contract-put-unknown");
    let entry = cache.entry("1");
    let load = fence(backend, entry).await;
    let Some(before) = backend
        .load_cache_fence(&cache)
        .await
        .expect("`load_cache_fence` answers")
    else {
        return;
    };
    let put = |fence| NewEntry {
        scope: FenceScope::Cache,
        ..new(b"created", fence)
    };
    assert!(
        backend
            .put(entry, put(before))
            .await
            .expect("`put` answers"),
        "`put` takes a value while the tokens of its cache are in force"
    );
    assert_eq!(
        bytes(backend, entry).await.as_deref(),
        Some(&b"created"[..]),
        "`put` stores"
    );
    assert!(
        !backend
            .store(entry, new(b"old", load))
            .await
            .expect("`store` answers"),
        "such a `put` replaces the stamp of the entry too"
    );
    for change in 0..3 {
        let before = backend
            .load_cache_fence(&cache)
            .await
            .expect("`load_cache_fence` answers")
            .expect("as before");
        match change {
            0 => drop(backend.invalidate(cache.entry("2")).await),
            1 => drop(backend.invalidate_all(&cache).await),
            _ => drop(
                backend
                    .put(
                        cache.entry("2"),
                        new(b"b", fence(backend, cache.entry("2")).await),
                    )
                    .await,
            ),
        }
        assert!(
            !backend
                .put(entry, put(before))
                .await
                .expect("`put` answers"),
            "any change of the cache refuses such a `put`"
        );
        assert_eq!(
            bytes(backend, entry).await,
            None,
            "a refused `put` removes the entry"
        );
    }
}

async fn entries_are_chosen_by_their_key_text<B: CacheBackend>(backend: &B) {
    let (chosen, sibling) = (cache("contract-if"), cache("contract-if.sibling"));
    for key in ["key1", "key2", "key3", "special"] {
        store(backend, chosen.entry(key), b"v").await;
        store(backend, sibling.entry(key), b"v").await;
    }
    let under_way = fence(backend, chosen.entry("key4")).await;
    let ended = backend
        .invalidate_if(&chosen, &|key| key.starts_with("key"))
        .await
        .expect("`invalidate_if` answers");
    assert_eq!(
        ended, 3,
        "`invalidate_if` says how many entries it has ended"
    );
    assert_eq!(
        bytes(backend, chosen.entry("key1")).await,
        None,
        "`invalidate_if` ends the entries that the predicate accepts"
    );
    assert!(
        bytes(backend, chosen.entry("special")).await.is_some(),
        "`invalidate_if` leaves the others"
    );
    assert!(
        bytes(backend, sibling.entry("key1")).await.is_some(),
        "`invalidate_if` touches no other cache"
    );
    assert!(
        !backend
            .store(chosen.entry("key4"), new(b"old", under_way))
            .await
            .expect("`store` answers"),
        "`invalidate_if` also refuses the values that were under way"
    );
}

async fn entries_expire<B: CacheBackend>(backend: &B, advance: impl AsyncFn(Duration)) {
    let cache = cache("contract-ttl");
    let (short, long, unlimited) = (
        cache.entry("short"),
        cache.entry("long"),
        cache.entry("unlimited"),
    );
    let ttl = |ttl, fence| NewEntry {
        ttl,
        ..new(b"v", fence)
    };
    for (entry, life) in [
        (short, Some(Duration::from_millis(20_500))),
        (long, Some(Duration::from_secs(86_400))),
        (unlimited, None),
    ] {
        let fence = fence(backend, entry).await;
        assert!(
            backend
                .store(entry, ttl(life, fence))
                .await
                .expect("`store` answers"),
            "`store` takes any time to live from a millisecond on"
        );
    }
    advance(Duration::from_secs(20)).await;
    assert!(
        bytes(backend, short).await.is_some(),
        "an entry is there until its time is over, to the millisecond"
    );
    advance(Duration::from_millis(501)).await;
    assert_eq!(
        bytes(backend, short).await,
        None,
        "an entry is gone when its time is over"
    );
    assert!(
        bytes(backend, long).await.is_some(),
        "each entry has a time of its own"
    );
    assert!(
        bytes(backend, unlimited).await.is_some(),
        "an entry without time to live stays"
    );
}
