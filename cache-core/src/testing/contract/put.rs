//! Values that supersede what is being computed.

use super::{assert_value, cache, cache_fence, clear, fence, invalidates, new, puts, stores};
use crate::backend::{CacheBackend, Fence, FenceScope, NewEntry, Token};

pub(super) async fn a_put_supersedes_what_is_under_way<B: CacheBackend>(backend: &B) {
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
        stamp: Token::random(),
        ..load
    };
    assert!(
        !puts(backend, entry, new(b"ghost", ghost)).await,
        "`put` compares the stamp"
    );
}

pub(super) async fn a_put_of_an_unknown_key_is_fenced_by_the_cache<B: CacheBackend>(backend: &B) {
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
