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

mod invalidation;
mod put;
mod revalidation;

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

/// Checks a backend, with caches named `contract-…` of its own, of which it must hold nothing yet. `advance` moves the time by
/// which entries expire in it, some 20 seconds in all; where that cannot be moved it can be `tokio::time::sleep`.
///
/// ```should_panic
/// use cache_core::backend::{BackendErrorKind::Unavailable, CacheBackend, CacheId, EntryId, Loaded, NewEntry};
/// use cache_core::{BackendError, async_trait, testing::contract};
///
/// /// A backend that keeps nothing, and says that it does.
/// #[derive(Debug)]
/// struct Nothing;
///
/// #[async_trait]
/// impl CacheBackend for Nothing {
///     async fn load(&self, _: EntryId<'_>) -> Result<Loaded, BackendError> {
///         Ok(Loaded::default())
///     }
///     async fn store(&self, _: EntryId<'_>, _: NewEntry) -> Result<bool, BackendError> {
///         Ok(true)
///     }
///     // …
/// #   async fn put(&self, _: EntryId<'_>, _: NewEntry) -> Result<bool, BackendError> { Ok(true) }
/// #   async fn invalidate(&self, _: EntryId<'_>) -> Result<bool, BackendError> { Ok(false) }
/// #   async fn invalidate_all(&self, _: &CacheId) -> Result<(), BackendError> { Ok(()) }
/// #   async fn invalidate_if(
/// #       &self, _: &CacheId, _: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
/// #   ) -> Result<u64, BackendError> { Err(BackendError::new(Unavailable, "there is nothing")) }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// // Panics: "`load` gives the tokens in force, and creates those that do not exist"
/// contract::check(&Nothing, tokio::time::sleep).await;
/// # }
/// ```
///
/// # Panics
/// At the first thing that the backend does otherwise, with a sentence that says what it should have done.
pub async fn check<B: CacheBackend>(backend: &B, advance: impl AsyncFn(Duration)) {
    bytes_come_back(backend).await;
    fences_last_until_they_are_replaced(backend).await;
    invalidation::an_invalidation_refuses_what_began_before(backend).await;
    invalidation::clearing_a_cache_touches_no_other(backend).await;
    put::a_put_supersedes_what_is_under_way(backend).await;
    put::a_put_of_an_unknown_key_is_fenced_by_the_cache(backend).await;
    invalidation::entries_are_chosen_by_their_key_text(backend).await;
    revalidation::a_copy_is_confirmed_while_its_entry_is_there(backend).await;
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
    revalidation::assert_changed(
        backend,
        short,
        b"v",
        None,
        "`revalidate` confirms nothing whose time is over",
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
