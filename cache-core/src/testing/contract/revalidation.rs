//! What the answer to those who have a copy must be.

use super::{cache, clear, fence, invalidates, new, puts, store};
use crate::backend::{CacheBackend, EntryId, Fence, Loaded, Revalidated};

async fn revalidate<B: CacheBackend>(backend: &B, entry: EntryId<'_>, end: &[u8]) -> Revalidated {
    let answer = backend.revalidate(entry, end).await;
    answer.expect("`revalidate` answers")
}

/// The entry does not end like that: what there is instead.
pub(super) async fn assert_changed<B: CacheBackend>(
    backend: &B,
    entry: EntryId<'_>,
    end: &[u8],
    expected: Option<&[u8]>,
    why: &str,
) {
    let now = fence(backend, entry).await;
    match revalidate(backend, entry, end).await {
        Revalidated::Changed(Loaded { bytes, fence }) => {
            assert_eq!(bytes.as_deref(), expected, "{why}");
            assert_eq!(
                fence,
                Some(now),
                "`revalidate` gives the tokens in force with the bytes"
            );
        }
        Revalidated::Same(_) => panic!("{why}"),
    }
}

/// The entry ends like that: it is confirmed, or sent.
async fn assert_there<B: CacheBackend>(backend: &B, entry: EntryId<'_>, end: &[u8]) -> Fence {
    match revalidate(backend, entry, end).await {
        Revalidated::Same(fence) => fence,
        Revalidated::Changed(Loaded { bytes, fence }) => {
            assert!(
                bytes.is_some_and(|bytes| bytes.ends_with(end)),
                "`revalidate` confirms an entry that ends like that, or gives its bytes"
            );
            fence.expect("`revalidate` gives the tokens in force")
        }
    }
}

pub(super) async fn a_copy_is_confirmed_while_its_entry_is_there<B: CacheBackend>(backend: &B) {
    let cache = cache("contract-copies");
    let entry = cache.entry("1");
    let fresh = cache.entry("fresh");
    match revalidate(backend, fresh, b"#1").await {
        Revalidated::Changed(Loaded { bytes, fence: now }) => {
            assert_eq!(bytes, None, "there is nothing to confirm under a fresh key");
            assert_eq!(
                now,
                Some(fence(backend, fresh).await),
                "`revalidate` creates tokens that do not exist"
            );
        }
        Revalidated::Same(_) => panic!("there is nothing to confirm under a fresh key"),
    }

    store(backend, entry, b"one #1").await;
    let now = fence(backend, entry).await;
    assert_eq!(
        assert_there(backend, entry, b"#1").await,
        now,
        "`revalidate` gives the tokens in force"
    );
    for other in [&b"#2"[..], b"one #1 and more before it"] {
        let why = "`revalidate` gives the bytes of an entry that ends otherwise";
        assert_changed(backend, entry, other, Some(b"one #1"), why).await;
    }

    store(backend, entry, b"two #2").await;
    let why = "`revalidate` confirms nothing that was replaced";
    assert_changed(backend, entry, b"#1", Some(b"two #2"), why).await;
    let now = fence(backend, entry).await;
    puts(backend, entry, new(b"three #3", now)).await;
    let why = "`revalidate` confirms nothing that a put has replaced";
    assert_changed(backend, entry, b"#2", Some(b"three #3"), why).await;

    let before = assert_there(backend, entry, b"#3").await;
    invalidates(backend, entry).await;
    let why = "`revalidate` confirms nothing that was invalidated";
    assert_changed(backend, entry, b"#3", None, why).await;
    assert_ne!(fence(backend, entry).await.stamp, before.stamp);

    store(backend, entry, b"four #4").await;
    let before = assert_there(backend, entry, b"#4").await;
    clear(backend, &cache).await;
    // Bytes that are left over may be confirmed: the cache sees that they belong to another epoch.
    let (Revalidated::Same(after)
    | Revalidated::Changed(Loaded {
        fence: Some(after), ..
    })) = revalidate(backend, entry, b"#4").await
    else {
        panic!("`revalidate` gives the tokens in force");
    };
    assert_ne!(
        after.epoch, before.epoch,
        "`revalidate` gives the epoch that was begun by `invalidate_all`"
    );
}
