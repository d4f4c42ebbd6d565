//! What it is for that acknowledged invalidations are said again to a server that may not have heard of them, shown by its absence.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use cache_core::{
    BackendError, CacheBackend, async_trait,
    backend::{BackendHealth, CacheId, EntryId, Fence, Loaded, NewEntry},
};
use cache_redis::RedisBackend;

/// A Redis server that is read through a backend that knows of no invalidation, and told about them through one that is forgotten
/// after a moment, with all that it remembers.
pub struct Forgetful {
    url: String,
    reads: RedisBackend,
    writes: Mutex<(Instant, RedisBackend)>,
}

/// Longer than a step takes, and shorter than any fault.
const MEMORY: Duration = Duration::from_millis(20);

impl Forgetful {
    /// The server with that address.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub fn open(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            reads: open(url),
            writes: Mutex::new((Instant::now(), open(url))),
        }
    }

    fn writes(&self) -> RedisBackend {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        if writes.0.elapsed() > MEMORY {
            *writes = (Instant::now(), open(&self.url));
        }
        writes.1.clone()
    }
}

fn open(url: &str) -> RedisBackend {
    RedisBackend::open(url).expect("the address is valid")
}

#[async_trait]
impl CacheBackend for Forgetful {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.reads.load(entry).await
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.reads.store(entry, new).await
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.writes().put(entry, new).await
    }

    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        self.reads.load_cache_fence(cache).await
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        self.writes().invalidate(entry).await
    }

    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        self.writes().invalidate_all(cache).await
    }

    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        self.writes().invalidate_if(cache, predicate).await
    }

    fn read_budget(&self) -> Duration {
        self.reads.read_budget()
    }

    fn store_budget(&self) -> Duration {
        self.reads.store_budget()
    }

    fn max_value_bytes(&self) -> usize {
        self.reads.max_value_bytes()
    }

    fn health(&self) -> BackendHealth {
        self.reads.health()
    }
}

impl fmt::Debug for Forgetful {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Forgetful").finish_non_exhaustive()
    }
}
