//! What it is for that a copy is confirmed, shown by its absence.

use cache_core::{
    BackendError, CacheBackend, async_trait,
    backend::{CacheId, EntryId, Loaded, NewEntry, Revalidated},
};

/// A backend that confirms every copy of the present epoch, whatever has become of its entry.
#[derive(Clone, Debug)]
pub struct Credulous<B>(pub B);

#[async_trait]
impl<B: CacheBackend> CacheBackend for Credulous<B> {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.0.load(entry).await
    }

    async fn revalidate(&self, entry: EntryId<'_>, _: &[u8]) -> Result<Revalidated, BackendError> {
        let loaded = self.0.load(entry).await?;
        Ok(match loaded.fence {
            Some(fence) => Revalidated::Same(fence),
            None => Revalidated::Changed(loaded),
        })
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.0.store(entry, new).await
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
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
}
