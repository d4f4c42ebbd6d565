//! Which callers could read the tokens.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cache_core::{
    BackendError, CacheBackend, async_trait,
    backend::{BackendHealth, CacheId, EntryId, Fence, Loaded, NewEntry},
};

tokio::task_local! {
    static SAW: Arc<AtomicBool>;
}

/// Runs a call, and says whether a [`Sighted`] backend gave it tokens.
pub(crate) async fn watch<T>(call: impl Future<Output = T>) -> (T, bool) {
    let saw = Arc::<AtomicBool>::default();
    let answer = SAW.scope(Arc::clone(&saw), call).await;
    (answer, saw.load(Ordering::Relaxed))
}

/// A backend that takes note of whom it gave tokens.
#[derive(Clone, Debug)]
pub struct Sighted<B>(pub B);

#[async_trait]
impl<B: CacheBackend> CacheBackend for Sighted<B> {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        let loaded = self.0.load(entry).await?;
        if loaded.fence.is_some() {
            let _ = SAW.try_with(|saw| saw.store(true, Ordering::Relaxed));
        }
        Ok(loaded)
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.0.store(entry, new).await
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.0.put(entry, new).await
    }

    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        self.0.load_cache_fence(cache).await
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        self.0.invalidate(entry).await
    }

    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        self.0.invalidate_all(cache).await
    }

    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        self.0.invalidate_if(cache, predicate).await
    }

    fn read_budget(&self) -> Duration {
        self.0.read_budget()
    }

    fn store_budget(&self) -> Duration {
        self.0.store_budget()
    }

    fn max_value_bytes(&self) -> usize {
        self.0.max_value_bytes()
    }

    fn health(&self) -> BackendHealth {
        self.0.health()
    }
}
