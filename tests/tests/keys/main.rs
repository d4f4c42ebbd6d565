//! What identifies an entry.

mod apart;
mod arguments;
mod expressions;
mod tenants;
mod texts;

use std::{collections::BTreeSet, sync::Mutex};

use cache_core::Cache;
use tests::caches;

/// The key texts of the entries of a cache, seen from outside, on any store.
async fn key_texts<V: Clone + Send + Sync + 'static>(cache: &str) -> BTreeSet<String> {
    caches().settle().await;
    let cache: Cache<V> = caches().cache(cache).expect("the type of its values");
    let texts = Mutex::new(BTreeSet::new());
    let ended = cache
        .invalidate_if(|text| {
            let mut texts = texts.lock().expect("nothing panics here");
            texts.insert(text.to_owned());
            false
        })
        .await;
    assert_eq!(ended.expect("the backend answers"), 0);
    texts.into_inner().expect("nothing panics here")
}
