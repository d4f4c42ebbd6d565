//! A backend of your own: where a cache keeps its bytes is one trait.
//!
//! Everything else, single flight, codecs, time limits, statistics, is done in front of it. A backend is right when it
//! passes `cache_core::testing::contract::check`; this one does, in `tests/tests/contract.rs`.
//!
//! ```sh
//! cargo run -p examples --example own_backend
//! ```

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
};

use cache_core::{
    BackendError, Bytes, CacheBackend, CacheConfig, CacheManager, async_trait,
    backend::{CacheId, EntryId, Fence, Loaded, NewEntry, Token},
    cache_invalidate, cache_result,
};
use tokio::time::Instant;

/// All entries of all caches in one map. Clones are one store.
#[derive(Clone, Default)]
pub struct OwnBackend(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    entries: HashMap<String, Entry>,
    /// One for each entry that was ever asked for: a real store gives them a time to live.
    stamps: HashMap<String, Token>,
    /// One for each cache.
    epochs: HashMap<String, Token>,
}

struct Entry {
    bytes: Bytes,
    expires: Option<Instant>,
}

impl State {
    /// The tokens in force; those that do not exist yet are created.
    fn fence(&mut self, entry: EntryId<'_>) -> Fence {
        let (key, cache) = (entry.storage_key(), entry.cache().prefix().to_owned());
        Fence {
            stamp: *self.stamps.entry(key).or_insert_with(Token::random),
            epoch: *self.epochs.entry(cache).or_insert_with(Token::random),
        }
    }

    fn write(&mut self, key: String, new: NewEntry) {
        let (bytes, expires) = (new.bytes, new.ttl.map(|ttl| Instant::now() + ttl));
        self.entries.insert(key, Entry { bytes, expires });
    }

    fn live(&self, key: &str) -> Option<&Entry> {
        self.entries.get(key).filter(|entry| entry.is_live())
    }
}

impl Entry {
    fn is_live(&self) -> bool {
        self.expires.is_none_or(|at| Instant::now() < at)
    }
}

impl OwnBackend {
    /// The lock makes every step below atomic.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it is held")
    }
}

#[async_trait]
impl CacheBackend for OwnBackend {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        let mut state = self.state();
        let fence = Some(state.fence(entry));
        let found = state.live(&entry.storage_key());
        let bytes = found.map(|entry| entry.bytes.clone());
        Ok(Loaded { bytes, fence })
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let mut state = self.state();
        let holds = state.fence(entry) == new.fence;
        if holds {
            state.write(entry.storage_key(), new);
        }
        Ok(holds)
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let mut state = self.state();
        let key = entry.storage_key();
        let holds = state.fence(entry) == new.fence;
        state.stamps.insert(key.clone(), Token::random());
        if holds {
            state.write(key, new);
        } else {
            state.entries.remove(&key);
        }
        Ok(holds)
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        let mut state = self.state();
        let key = entry.storage_key();
        let there = state.live(&key).is_some();
        state.entries.remove(&key);
        state.stamps.insert(key, Token::random());
        Ok(there)
    }

    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        // What is left in `entries` carries the old epoch and is never served again.
        let epochs = &mut self.state().epochs;
        epochs.insert(cache.prefix().to_owned(), Token::random());
        Ok(())
    }

    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        let mut state = self.state();
        let prefix = format!("{}:", cache.prefix());
        state.stamps.retain(|key, _| !key.starts_with(&prefix));
        let mut ended = 0;
        state.entries.retain(|key, entry| {
            let ends = key.strip_prefix(&prefix).is_some_and(predicate);
            ended += u64::from(ends && entry.is_live());
            !ends
        });
        Ok(ended)
    }
}

/// Keys and values are nobody's to read in a log.
impl fmt::Debug for OwnBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnBackend")
    }
}

#[cache_result(cache = "users")]
async fn user(id: u64) -> String {
    println!("looking up user {id}");
    format!("user {id}")
}

#[cache_invalidate(cache = "users")]
async fn rename(#[cache_key] id: u64, name: &str) {
    println!("user {id} is now called {name}");
}

#[tokio::main]
async fn main() -> Result<(), cache_core::CacheError> {
    let config = CacheConfig::on(OwnBackend::default());
    CacheManager::builder()
        .defaults(config)
        .build()?
        .install()?;
    println!("{}", user(42).await);
    println!("{}", user(42).await); // from the backend
    rename(42, "Ada").await;
    println!("{}", user(42).await); // looked up again
    Ok(())
}
