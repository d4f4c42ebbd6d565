//! What the fence is for, shown by its absence.

use std::time::Duration;

use cache_core::{
    BackendError, CacheBackend, async_trait,
    backend::{CacheId, EntryId, Loaded, NewEntry, Token},
};

/// A backend without stamps: what was computed before an invalidation is stored after it.
#[derive(Debug)]
pub struct Unfenced<B>(pub B);

/// Every stamp there is.
const STAMP: Token = Token::from_bytes([7; Token::LEN]);

impl<B: CacheBackend> Unfenced<B> {
    /// The entry as it has to be to be accepted now, whatever has happened.
    async fn accepted(
        &self,
        entry: EntryId<'_>,
        mut new: NewEntry,
    ) -> Result<NewEntry, BackendError> {
        if let Some(fence) = self.0.load(entry).await?.fence {
            new.fence.stamp = fence.stamp;
        }
        Ok(new)
    }
}

#[async_trait]
impl<B: CacheBackend> CacheBackend for Unfenced<B> {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        let mut loaded = self.0.load(entry).await?;
        if let Some(fence) = &mut loaded.fence {
            fence.stamp = STAMP;
        }
        Ok(loaded)
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let new = self.accepted(entry, new).await?;
        self.0.store(entry, new).await
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let new = self.accepted(entry, new).await?;
        self.0.put(entry, new).await
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
}
