//! What it is for that a failed invalidation is owed, shown by its absence.

use std::{future::Future, time::Duration};

use cache_core::{
    BackendError, CacheBackend, async_trait,
    backend::{BackendHealth, CacheId, EntryId, Fence, Loaded, NewEntry},
};

/// A backend that takes note of no failed invalidation: it says that all is well.
#[derive(Clone, Debug)]
pub struct Careless<B>(pub B);

async fn done<T: Default>(
    step: impl Future<Output = Result<T, BackendError>> + Send,
) -> Result<T, BackendError> {
    Ok(step.await.unwrap_or_default())
}

#[async_trait]
impl<B: CacheBackend> CacheBackend for Careless<B> {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.0.load(entry).await
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.0.store(entry, new).await
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        done(self.0.put(entry, new)).await
    }

    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        self.0.load_cache_fence(cache).await
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        done(self.0.invalidate(entry)).await
    }

    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        done(self.0.invalidate_all(cache)).await
    }

    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        done(self.0.invalidate_if(cache, predicate)).await
    }

    fn read_budget(&self) -> Duration {
        self.0.read_budget()
    }

    /// Longer than the backend's own, so that it is the backend who gives up, and nobody hears of it.
    fn store_budget(&self) -> Duration {
        2 * self.0.store_budget()
    }

    fn max_value_bytes(&self) -> usize {
        self.0.max_value_bytes()
    }

    fn health(&self) -> BackendHealth {
        self.0.health()
    }
}
