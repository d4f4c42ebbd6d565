//! What an invalidation ends, and what it leaves alone.

use super::{KEYS, assert_value, bytes, cache, clear, fence, invalidates, new, store, stores};
use crate::backend::{CacheBackend, CacheId, Fence, Token};

/// A cache whose prefix is that one's and more, as far as the colon before the key goes.
fn within(outer: &CacheId) -> CacheId {
    CacheId::new(
        &format!("{}.within", outer.name()),
        &format!("{}:within", outer.prefix()),
    )
}

pub(super) async fn an_invalidation_refuses_what_began_before<B: CacheBackend>(backend: &B) {
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
        epoch: Token::random(),
    };
    assert!(
        !stores(backend, entry, new(b"odd", odd)).await,
        "`store` compares the epoch too"
    );
}

pub(super) async fn clearing_a_cache_touches_no_other<B: CacheBackend>(backend: &B) {
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

pub(super) async fn entries_are_chosen_by_their_key_text<B: CacheBackend>(backend: &B) {
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
