//! A backend in bad weather.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::backend::{
    BackendError, BackendErrorKind, BackendHealth, BackendInstance, CacheBackend, CacheId, EntryId,
    Fence, Loaded, NewEntry, Revalidated,
};

/// What a backend is asked to do.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let backend = FaultyBackend::new(MapBackend::new());
/// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
/// # let price = caches.cache::<u64>("price")?;
/// backend.fail(Operation::ALL); // a server that is down
/// assert!(price.insert(&42, 2990).await.is_err());
/// assert_eq!(price.get(&42).await, None);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// [`CacheBackend::load`], [`CacheBackend::revalidate`] and [`CacheBackend::load_cache_fence`].
    Load,
    /// [`CacheBackend::store`].
    Store,
    /// [`CacheBackend::put`].
    Put,
    /// [`CacheBackend::invalidate`].
    Invalidate,
    /// [`CacheBackend::invalidate_all`].
    InvalidateAll,
    /// [`CacheBackend::invalidate_if`].
    InvalidateIf,
}

const OPERATIONS: usize = Operation::ALL.len();

impl Operation {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Load,
        Self::Store,
        Self::Put,
        Self::Invalidate,
        Self::InvalidateAll,
        Self::InvalidateIf,
    ];
}

/// A backend that can be told to fail, to hang and to be slow, operation by operation. Clones are one. Its budgets and its
/// [`health`](CacheBackend::health) are those of the backend behind it, in any weather.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let backend = FaultyBackend::new(MapBackend::new());
/// let manager = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
/// let squares = manager.cache::<u64>("squares")?;
/// backend.fail(&[Operation::Load]);
/// assert_eq!(squares.get_or_load(&7, async { 49 }).await, 49); // nothing fails but the backend
/// assert_eq!(squares.stats().backend_errors, 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct FaultyBackend {
    inner: Arc<dyn CacheBackend>,
    faults: Arc<watch::Sender<[Fault; OPERATIONS]>>,
    calls: Arc<[AtomicU64; OPERATIONS]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Fail(BackendErrorKind),
    Hang,
    Delay(Duration),
}

impl FaultyBackend {
    /// That backend, in good weather.
    pub fn new(inner: impl CacheBackend) -> Self {
        Self {
            inner: Arc::new(inner),
            faults: Arc::new(watch::Sender::new([Fault::None; OPERATIONS])),
            calls: Arc::default(),
        }
    }

    /// These operations fail from now on, without having any effect.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = FaultyBackend::new(MapBackend::new());
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// price.insert(&42, 2990).await?;
    /// backend.fail(&[Operation::Invalidate]);
    /// assert!(price.invalidate(&42).await.is_err());
    /// backend.heal();
    /// caches.shutdown(std::time::Duration::from_secs(5)).await; // it is tried again until it is done
    /// assert_eq!(caches.stats()["price"].pending_invalidations, 0);
    /// # Ok(()) }
    /// ```
    pub fn fail(&self, operations: &[Operation]) {
        self.fail_as(operations, BackendErrorKind::Unavailable);
    }

    /// The same with an error of that class.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
    /// use cache_core::backend::{BackendErrorKind, BackendHealth};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = FaultyBackend::new(MapBackend::new());
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// backend.fail_as(Operation::ALL, BackendErrorKind::Refused); // a wrong password
    /// for _ in 0..3 {
    ///     price.get(&42).await;
    /// }
    /// assert_eq!(caches.health().caches["price"], BackendHealth::Refused);
    /// # Ok(()) }
    /// ```
    pub fn fail_as(&self, operations: &[Operation], kind: BackendErrorKind) {
        self.set(operations, Fault::Fail(kind));
    }

    /// These operations do not return until something else is told, and take effect only then. Where the cache has given one up
    /// meanwhile (its future was dropped), it takes no effect at all.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = FaultyBackend::new(MapBackend::new());
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// backend.hang(&[Operation::Load]);
    /// // The look-up is given up after the read budget, 100 ms.
    /// assert_eq!(price.get_or_load(&42, async { 2990 }).await, 2990);
    /// assert_eq!(price.stats().backend_errors, 1);
    /// # Ok(()) }
    /// ```
    pub fn hang(&self, operations: &[Operation]) {
        self.set(operations, Fault::Hang);
    }

    /// These operations take effect that much later, by Tokio's time.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = FaultyBackend::new(MapBackend::new());
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// backend.delay(&[Operation::Store], Duration::from_millis(20));
    /// price.get_or_load(&42, async { 2990 }).await; // does not wait for the store
    /// assert_eq!(price.stats().stores, 0);
    /// caches.settle().await;
    /// assert_eq!(price.stats().stores, 1);
    /// # Ok(()) }
    /// ```
    pub fn delay(&self, operations: &[Operation], by: Duration) {
        self.set(operations, Fault::Delay(by));
    }

    /// Everything works again; what hangs goes on.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = FaultyBackend::new(MapBackend::new());
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// backend.fail(&[Operation::Load]);
    /// price.get(&42).await;
    /// backend.heal();
    /// price.get(&42).await;
    /// assert_eq!(price.stats().backend_errors, 1);
    /// # Ok(()) }
    /// ```
    pub fn heal(&self) {
        self.set(Operation::ALL, Fault::None);
    }

    /// How often that was asked for, whatever came of it.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::{FaultyBackend, MapBackend, Operation}};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = FaultyBackend::new(MapBackend::new());
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// # let price = caches.cache::<u64>("price")?;
    /// price.insert(&42, 2990).await?;
    /// assert_eq!(backend.calls(Operation::Put), 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn calls(&self, operation: Operation) -> u64 {
        self.calls[operation as usize].load(Ordering::SeqCst)
    }

    fn set(&self, operations: &[Operation], fault: Fault) {
        self.faults.send_modify(|faults| {
            for operation in operations {
                faults[*operation as usize] = fault;
            }
        });
    }

    /// Goes through the weather on the way to the backend.
    async fn weather(&self, operation: Operation) -> Result<(), BackendError> {
        self.calls[operation as usize].fetch_add(1, Ordering::SeqCst);
        let mut faults = self.faults.subscribe();
        let fault = faults
            .wait_for(|faults| faults[operation as usize] != Fault::Hang)
            .await;
        let fault = fault.map_or(Fault::None, |faults| faults[operation as usize]);
        match fault {
            Fault::None | Fault::Hang => Ok(()),
            Fault::Fail(kind) => Err(BackendError::new(kind, "told to fail")),
            Fault::Delay(by) => {
                tokio::time::sleep(by).await;
                Ok(())
            }
        }
    }
}

impl fmt::Debug for FaultyBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyBackend")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl CacheBackend for FaultyBackend {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.weather(Operation::Load).await?;
        self.inner.load(entry).await
    }

    async fn revalidate(
        &self,
        entry: EntryId<'_>,
        end: &[u8],
    ) -> Result<Revalidated, BackendError> {
        self.weather(Operation::Load).await?;
        self.inner.revalidate(entry, end).await
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.weather(Operation::Store).await?;
        self.inner.store(entry, new).await
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.weather(Operation::Put).await?;
        self.inner.put(entry, new).await
    }

    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        self.weather(Operation::Load).await?;
        self.inner.load_cache_fence(cache).await
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        self.weather(Operation::Invalidate).await?;
        self.inner.invalidate(entry).await
    }

    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        self.weather(Operation::InvalidateAll).await?;
        self.inner.invalidate_all(cache).await
    }

    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        self.weather(Operation::InvalidateIf).await?;
        self.inner.invalidate_if(cache, predicate).await
    }

    fn read_budget(&self) -> Duration {
        self.inner.read_budget()
    }

    fn store_budget(&self) -> Duration {
        self.inner.store_budget()
    }

    fn max_value_bytes(&self) -> usize {
        self.inner.max_value_bytes()
    }

    fn health(&self) -> BackendHealth {
        self.inner.health()
    }

    fn foreign_entries(&self, cache: &CacheId) -> u64 {
        self.inner.foreign_entries(cache)
    }

    fn instance(&self) -> Option<BackendInstance> {
        Some(BackendInstance::of(&self.faults))
    }
}
