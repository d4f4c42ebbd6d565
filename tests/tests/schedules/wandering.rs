//! A backend with detours.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use cache_core::{
    BackendError, CacheBackend, async_trait,
    backend::{CacheId, EntryId, Fence, Loaded, NewEntry},
    testing::MapBackend,
};
use tests::stress::Rng;
use tokio::task::yield_now;

/// Lets others go first, that many times.
pub(crate) async fn pause(turns: u64) {
    for _ in 0..turns {
        yield_now().await;
    }
}

/// A backend on whose way somebody else may always come first, before and after.
#[derive(Clone, Debug)]
pub(crate) struct Wandering(MapBackend, Arc<Mutex<Rng>>);

impl Wandering {
    pub(crate) fn new(seed: u64) -> Self {
        Self(
            MapBackend::new(),
            Arc::new(Mutex::new(Rng::with_seed(seed))),
        )
    }

    async fn on<T>(&self, operation: impl Future<Output = T>) -> T {
        self.wander().await;
        let done = operation.await;
        self.wander().await;
        done
    }

    async fn wander(&self) {
        let turns = self.1.lock().expect("no panic while locked").u64(..3);
        pause(turns).await;
    }
}

#[async_trait]
impl CacheBackend for Wandering {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.on(self.0.load(entry)).await
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.on(self.0.store(entry, new)).await
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.on(self.0.put(entry, new)).await
    }

    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        self.on(self.0.load_cache_fence(cache)).await
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        self.on(self.0.invalidate(entry)).await
    }

    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        self.on(self.0.invalidate_all(cache)).await
    }

    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        self.on(self.0.invalidate_if(cache, predicate)).await
    }
}
