//! A backend that keeps all of the contract, the optional part too, in a map.

use std::{
    collections::HashMap,
    fmt,
    mem::replace,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use bytes::Bytes;

use super::TestClock;
use crate::backend::{
    BackendError, BackendInstance, CacheBackend, CacheId, EntryId, Fence, FenceScope, Loaded,
    NewEntry, Revalidated, Token,
};
use crate::clock::{NEVER, Nanos, nanos};

/// A backend in this process, for tests. Clones are one store, as two processes share one.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let backend = MapBackend::new();
/// let one = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
/// let other = CacheManager::builder().defaults(CacheConfig::on(backend)).build()?;
/// one.cache("squares")?.insert(&7, 49_u64).await?;
/// assert_eq!(other.cache::<u64>("squares")?.get(&7).await, Some(49));
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct MapBackend {
    state: Arc<Mutex<State>>,
    clock: TestClock,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<String, Stored>,
    stamps: HashMap<String, Token>,
    caches: HashMap<String, CacheTokens>,
}

#[derive(Debug)]
struct Stored {
    bytes: Bytes,
    expiry: Nanos,
    /// The one it was stored under, by which it belongs to a cache: prefixes do not tell, `shop` may be one and `shop:x` another.
    /// What was planted has none.
    epoch: Option<Token>,
}

/// The tokens of one cache: its epoch, and a stamp that every change replaces.
#[derive(Debug)]
struct CacheTokens {
    epoch: Token,
    stamp: Token,
}

/// Without keys and values, as of every backend: it is logged.
impl fmt::Debug for MapBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapBackend")
            .field("entries", &self.state().entries.len())
            .finish_non_exhaustive()
    }
}

impl MapBackend {
    /// An empty backend with a clock of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The clock by which entries expire.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new();
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// price.insert(&42, 2990).await?;
    /// backend.clock().advance(Duration::from_secs(301));
    /// assert_eq!(price.get(&42).await, None);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn clock(&self) -> &TestClock {
        &self.clock
    }

    /// The names under which something is stored, in order, expired or not.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new();
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// price.insert(&42, 2990).await?;
    /// assert_eq!(backend.keys(), ["cache:price:42"]);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        let mut keys: Vec<_> = self.state().entries.keys().cloned().collect();
        keys.sort_unstable();
        keys
    }

    /// Puts bytes under a name, as a foreign program might.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new();
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// backend.plant("cache:price:42", "not an entry");
    /// assert_eq!(price.get(&42).await, None);
    /// assert_eq!(price.stats().decode_failures, 1);
    /// # Ok(()) }
    /// ```
    pub fn plant(&self, storage_key: &str, bytes: impl Into<Bytes>) {
        let planted = Stored {
            bytes: bytes.into(),
            expiry: NEVER,
            epoch: None,
        };
        self.state().entries.insert(storage_key.to_owned(), planted);
    }

    /// Forgets everything, tokens too, as a server does that restarts without its data.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new();
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// price.insert(&42, 2990).await?;
    /// backend.lose();
    /// assert_eq!(price.get(&42).await, None);
    /// # Ok(()) }
    /// ```
    pub fn lose(&self) {
        *self.state() = State::default();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Nanos {
        self.clock.clock().now()
    }

    fn stored(&self, new: NewEntry) -> Stored {
        let after = |ttl| self.now().saturating_add(nanos(ttl));
        Stored {
            bytes: new.bytes,
            expiry: new.ttl.map_or(NEVER, after),
            epoch: Some(new.fence.epoch),
        }
    }
}

impl State {
    fn tokens(&mut self, cache: &CacheId) -> &mut CacheTokens {
        self.caches
            .entry(cache.prefix().to_owned())
            .or_insert_with(|| CacheTokens {
                epoch: Token::random(),
                stamp: Token::random(),
            })
    }

    fn fence(&mut self, entry: EntryId<'_>) -> Fence {
        let stamp = *self
            .stamps
            .entry(entry.storage_key())
            .or_insert_with(Token::random);
        Fence {
            stamp,
            epoch: self.tokens(entry.cache()).epoch,
        }
    }

    fn holds(&mut self, entry: EntryId<'_>, new: &NewEntry) -> bool {
        let mut fence = self.fence(entry);
        if new.scope == FenceScope::Cache {
            fence.stamp = self.tokens(entry.cache()).stamp;
        }
        fence == new.fence
    }

    fn invalidate(&mut self, entry: EntryId<'_>) -> Option<Stored> {
        self.stamps.insert(entry.storage_key(), Token::random());
        self.tokens(entry.cache()).stamp = Token::random();
        self.entries.remove(&entry.storage_key())
    }
}

#[async_trait]
impl CacheBackend for MapBackend {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        let now = self.now();
        let mut state = self.state();
        let fence = state.fence(entry);
        let found = state
            .entries
            .get(&entry.storage_key())
            .filter(|stored| now < stored.expiry);
        Ok(Loaded {
            bytes: found.map(|stored| stored.bytes.clone()),
            fence: Some(fence),
        })
    }

    async fn revalidate(
        &self,
        entry: EntryId<'_>,
        end: &[u8],
    ) -> Result<Revalidated, BackendError> {
        let loaded = self.load(entry).await?;
        Ok(match (&loaded.bytes, loaded.fence) {
            (Some(bytes), Some(fence)) if bytes.ends_with(end) => Revalidated::Same(fence),
            _ => Revalidated::Changed(loaded),
        })
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let mut state = self.state();
        let holds = state.holds(entry, &new);
        if holds {
            state.entries.insert(entry.storage_key(), self.stored(new));
        }
        Ok(holds)
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let mut state = self.state();
        let holds = state.holds(entry, &new);
        state.invalidate(entry);
        if holds {
            state.entries.insert(entry.storage_key(), self.stored(new));
        }
        Ok(holds)
    }

    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        let mut state = self.state();
        let tokens = state.tokens(cache);
        Ok(Some(Fence {
            stamp: tokens.stamp,
            epoch: tokens.epoch,
        }))
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        let now = self.now();
        Ok(self
            .state()
            .invalidate(entry)
            .is_some_and(|stored| now < stored.expiry))
    }

    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        let mut state = self.state();
        let ended = replace(&mut state.tokens(cache).epoch, Token::random());
        state
            .entries
            .retain(|_, stored| stored.epoch != Some(ended));
        Ok(())
    }

    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        let prefix = format!("{}:", cache.prefix());
        let now = self.now();
        let mut state = self.state();
        state.tokens(cache).stamp = Token::random();
        let epoch = state.tokens(cache).epoch;
        state.stamps.retain(|key, _| !key.starts_with(&prefix));
        let mut ended = 0;
        state.entries.retain(|key, stored| {
            let ends = stored.epoch.is_none_or(|stored| stored == epoch)
                && key.strip_prefix(&prefix).is_some_and(predicate);
            ended += u64::from(ends && now < stored.expiry);
            !ends
        });
        Ok(ended)
    }

    fn instance(&self) -> Option<BackendInstance> {
        Some(BackendInstance::of(&self.state))
    }
}
