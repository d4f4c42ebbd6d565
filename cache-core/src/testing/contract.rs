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

/// A cache whose prefix is that one's and more, as far as the colon before the key goes.
fn within(outer: &CacheId) -> CacheId {
    CacheId::new(
        &format!("{}.within", outer.name()),
        &format!("{}:within", outer.prefix()),
    )
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

async fn stores<B: CacheBackend>(backend: &B, entry: EntryId<'_>, new: NewEntry) -> bool {
    let stored = backend.store(entry, new).await;
    stored.expect("`store` answers")
}

async fn puts<B: CacheBackend>(backend: &B, entry: EntryId<'_>, new: NewEntry) -> bool {
    let stored = backend.put(entry, new).await;
    stored.expect("`put` answers")
}

async fn invalidates<B: CacheBackend>(backend: &B, entry: EntryId<'_>) -> bool {
    let was_there = backend.invalidate(entry).await;
    was_there.expect("`invalidate` answers")
}

async fn clear<B: CacheBackend>(backend: &B, cache: &CacheId) {
    let cleared = backend.invalidate_all(cache).await;
    cleared.expect("`invalidate_all` answers");
}

async fn cache_fence<B: CacheBackend>(backend: &B, cache: &CacheId) -> Option<Fence> {
    let fence = backend.load_cache_fence(cache).await;
    fence.expect("`load_cache_fence` answers")
}

/// Stores a value computed just now.
async fn store<B: CacheBackend>(backend: &B, entry: EntryId<'_>, value: &'static [u8]) {
    let fence = fence(backend, entry).await;
    assert!(
        stores(backend, entry, new(value, fence)).await,
        "`store` takes a value while its tokens are in force"
    );
}

async fn assert_value<B: CacheBackend>(
    backend: &B,
    entry: EntryId<'_>,
    expected: Option<&[u8]>,
    why: &str,
) {
    assert_eq!(bytes(backend, entry).await.as_deref(), expected, "{why}");
}

async fn bytes_come_back<B: CacheBackend>(backend: &B) {
    let (one, other) = (cache("contract-bytes"), cache("contract-bytes.other"));
    for (i, key) in KEYS.into_iter().enumerate() {
        assert_value(
            backend,
            one.entry(key),
            None,
            "nothing is stored under a fresh key",
        )
        .await;
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
        assert_value(
            backend,
            other.entry(key),
            None,
            "another cache has entries of its own",
        )
        .await;
    }
    store(backend, one.entry("empty"), b"").await;
    assert_value(
        backend,
        one.entry("empty"),
        Some(b""),
        "no bytes are an entry too",
    )
    .await;
    store(backend, one.entry("empty"), b"full").await;
    assert_value(
        backend,
        one.entry("empty"),
        Some(b"full"),
        "`store` replaces what is there",
    )
    .await;
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
        invalidates(backend, entry).await;
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
        !invalidates(backend, entry).await,
        "`invalidate` says that there was nothing"
    );
    store(backend, entry, b"old").await;
    let before = fence(backend, entry).await;
    assert!(
        invalidates(backend, entry).await,
        "`invalidate` says that there was an entry"
    );
    assert_value(backend, entry, None, "`invalidate` removes the entry").await;
    assert!(
        !stores(backend, entry, new(b"old", before)).await,
        "`store` refuses a value that was begun before an invalidation"
    );
    assert_value(backend, entry, None, "what is refused is not stored").await;
    store(backend, entry, b"new").await;
    assert!(
        !stores(backend, entry, new(b"old", before)).await,
        "a replaced stamp never comes back"
    );
    assert_value(
        backend,
        entry,
        Some(b"new"),
        "what is refused changes nothing",
    )
    .await;
    let odd = Fence {
        stamp: fence(backend, entry).await.stamp,
        epoch: crate::backend::Token::random(),
    };
    assert!(
        !stores(backend, entry, new(b"odd", odd)).await,
        "`store` compares the epoch too"
    );
}

async fn clearing_a_cache_touches_no_other<B: CacheBackend>(backend: &B) {
    let (cleared, sibling) = (cache("contract-clear"), cache("contract-clear.sibling"));
    let within = within(&cleared);
    clear(backend, &cleared).await; // an empty one can be cleared
    for key in KEYS {
        store(backend, cleared.entry(key), b"old").await;
        store(backend, sibling.entry(key), b"kept").await;
        store(backend, within.entry(key), b"kept").await;
    }
    let before = fence(backend, cleared.entry("42")).await;
    clear(backend, &cleared).await;
    for key in KEYS {
        assert_ne!(
            fence(backend, cleared.entry(key)).await.epoch,
            before.epoch,
            "`invalidate_all` replaces the epoch"
        );
        for other in [&sibling, &within] {
            assert_value(
                backend,
                other.entry(key),
                Some(b"kept"),
                "`invalidate_all` touches no other cache, not even one whose prefix begins with this one's",
            )
            .await;
        }
    }
    assert!(
        !stores(backend, cleared.entry("42"), new(b"old", before)).await,
        "`store` refuses a value of an epoch that is over"
    );
    store(backend, cleared.entry("42"), b"new").await;
    assert_value(
        backend,
        cleared.entry("42"),
        Some(b"new"),
        "a cleared cache takes new entries",
    )
    .await;
}

async fn a_put_supersedes_what_is_under_way<B: CacheBackend>(backend: &B) {
    let cache = cache("contract-put");
    let entry = cache.entry("1");
    let load = fence(backend, entry).await;
    assert!(
        puts(backend, entry, new(b"put", load)).await,
        "`put` takes a value while its tokens are in force"
    );
    assert_value(backend, entry, Some(b"put"), "`put` stores").await;
    assert!(
        !stores(backend, entry, new(b"old", load)).await,
        "`put` replaces the stamp: loads that began before it are refused"
    );
    assert!(
        !puts(backend, entry, new(b"late", load)).await,
        "`put` refuses a value when something came in between"
    );
    assert_value(
        backend,
        entry,
        None,
        "a refused `put` removes the entry: nobody knows which value is newer",
    )
    .await;
    let ghost = Fence {
        stamp: crate::backend::Token::random(),
        ..load
    };
    assert!(
        !puts(backend, entry, new(b"ghost", ghost)).await,
        "`put` compares the stamp"
    );
}

async fn a_put_of_an_unknown_key_is_fenced_by_the_cache<B: CacheBackend>(backend: &B) {
    let cache = cache("contract-put-unknown");
    let entry = cache.entry("1");
    let load = fence(backend, entry).await;
    let Some(before) = cache_fence(backend, &cache).await else {
        return;
    };
    let put = |fence| NewEntry {
        scope: FenceScope::Cache,
        ..new(b"created", fence)
    };
    assert!(
        puts(backend, entry, put(before)).await,
        "`put` takes a value while the tokens of its cache are in force"
    );
    assert_value(backend, entry, Some(b"created"), "`put` stores").await;
    assert!(
        !stores(backend, entry, new(b"old", load)).await,
        "such a `put` replaces the stamp of the entry too"
    );
    for change in 0..3 {
        let before = cache_fence(backend, &cache).await.expect("as before");
        let other = cache.entry("2");
        match change {
            0 => assert!(!invalidates(backend, other).await, "it is not there"),
            1 => clear(backend, &cache).await,
            _ => {
                let fence = fence(backend, other).await;
                assert!(
                    puts(backend, other, new(b"b", fence)).await,
                    "`put` takes it"
                );
            }
        }
        assert!(
            !puts(backend, entry, put(before)).await,
            "any change of the cache refuses such a `put`"
        );
        assert_value(backend, entry, None, "a refused `put` removes the entry").await;
    }
}

async fn entries_are_chosen_by_their_key_text<B: CacheBackend>(backend: &B) {
    let (chosen, sibling) = (cache("contract-if"), cache("contract-if.sibling"));
    let within = within(&chosen);
    for key in ["key1", "key2", "key3", "special"] {
        for cache in [&chosen, &sibling, &within] {
            store(backend, cache.entry(key), b"v").await;
        }
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
    assert_value(
        backend,
        chosen.entry("key1"),
        None,
        "`invalidate_if` ends the entries that the predicate accepts",
    )
    .await;
    assert!(
        bytes(backend, chosen.entry("special")).await.is_some(),
        "`invalidate_if` leaves the others"
    );
    for other in [&sibling, &within] {
        assert!(
            bytes(backend, other.entry("key1")).await.is_some(),
            "`invalidate_if` touches no other cache"
        );
    }
    assert!(
        !stores(backend, chosen.entry("key4"), new(b"old", under_way)).await,
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
            stores(backend, entry, ttl(life, fence)).await,
            "`store` takes any time to live from a millisecond on"
        );
    }
    advance(Duration::from_secs(20)).await;
    assert!(
        bytes(backend, short).await.is_some(),
        "an entry is there until its time is over, to the millisecond"
    );
    advance(Duration::from_millis(501)).await;
    assert_value(
        backend,
        short,
        None,
        "an entry is gone when its time is over",
    )
    .await;
    assert!(
        bytes(backend, long).await.is_some(),
        "each entry has a time of its own"
    );
    assert!(
        bytes(backend, unlimited).await.is_some(),
        "an entry without time to live stays"
    );
    let ended = backend.invalidate_if(&cache, &|_| true).await;
    assert_eq!(
        ended.expect("`invalidate_if` answers"),
        2,
        "`invalidate_if` does not count what has expired"
    );
}
