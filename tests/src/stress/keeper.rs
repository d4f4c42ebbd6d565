//! What is under test.

use std::{future::Future, sync::Arc};

use cache_core::{
    Cache, CacheConfig, CacheManager, CacheStats, cache_invalidate, cache_invalidate_all,
    cache_put, cache_result,
};
use tokio::sync::RwLock;

use super::{Loaded, Rng, Row};

/// Something that keeps rows.
pub trait Keeper: Clone + Send + Sync + 'static {
    /// Answers with the row that is kept, or with that of `load`, or that of somebody else's `load`; or, if it is only to
    /// look, with nothing.
    fn read(
        &self,
        key: u64,
        look: Look,
        load: impl Future<Output = Loaded> + Send,
    ) -> impl Future<Output = Option<Loaded>> + Send;

    /// Runs `write`, and sees to it that what was computed before it is not answered any more; then gives the version that
    /// was written, and what the writer knows.
    fn write(
        &self,
        key: u64,
        way: Way,
        write: impl Future<Output = Row> + Send,
    ) -> impl Future<Output = (u64, Told)> + Send;

    /// What a careful program does whose write was given up half-way, where nothing else does it. Whether it could be done.
    fn clean_up(&self, key: u64) -> impl Future<Output = bool> + Send;

    /// Returns when nothing goes on in the background.
    fn settle(&self) -> impl Future<Output = ()> + Send;
}

/// What a writer knows when it has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// That nobody anywhere is answered with anything older.
    Acknowledged,
    /// Nothing: an annotated function does not say what has become of its invalidation.
    Nothing,
    /// That it has failed, and will be tried again.
    Failed,
}

impl Told {
    fn of<T, E>(result: &Result<T, E>) -> Self {
        if result.is_ok() {
            Self::Acknowledged
        } else {
            Self::Failed
        }
    }
}

/// How a reader asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Through an annotated function.
    Annotated,
    /// Through an annotated function that first invalidates.
    Refresh,
    /// With `try_get_or_load`.
    ByHand,
    /// With `get`.
    Only,
}

impl Look {
    /// One of them, the usual ones more often.
    pub fn draw(dice: &mut Rng) -> Self {
        match dice.u64(..64) {
            0 => Self::Refresh,
            1..4 => Self::Only,
            4..24 => Self::ByHand,
            _ => Self::Annotated,
        }
    }
}

/// How a writer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A function with `cache_invalidate`.
    Invalidate,
    /// A function with `cache_invalidate` that says `always`, writes and fails.
    InvalidateAlways,
    /// A function with `cache_invalidate_all`.
    InvalidateAll,
    /// A function with `cache_put`.
    Put,
    /// A function with `cache_put` that takes the key from the value.
    PutKeyWith,
    /// A write, then `Cache::invalidate`.
    InvalidateByHand,
    /// A write, then `Cache::invalidate_all`.
    InvalidateAllByHand,
    /// A write, then `Cache::invalidate_if`.
    InvalidateIfByHand,
    /// A write, then `Cache::insert` of what was written, while nobody else writes that row.
    InsertByHand,
}

impl Way {
    /// All of them, the cheap ones more often.
    pub const ALL: &'static [Self] = &[
        Self::Invalidate,
        Self::Invalidate,
        Self::Invalidate,
        Self::Invalidate,
        Self::Invalidate,
        Self::Invalidate,
        Self::InvalidateAlways,
        Self::InvalidateAlways,
        Self::Put,
        Self::Put,
        Self::Put,
        Self::Put,
        Self::PutKeyWith,
        Self::PutKeyWith,
        Self::InvalidateByHand,
        Self::InvalidateByHand,
        Self::InvalidateByHand,
        Self::InvalidateByHand,
        Self::InsertByHand,
        Self::InsertByHand,
        Self::InsertByHand,
        Self::InvalidateAll,
        Self::InvalidateAllByHand,
        Self::InvalidateIfByHand,
    ];

    /// Those that need no lock beside the cache.
    pub const LOCK_FREE: &'static [Self] = &[
        Self::Invalidate,
        Self::Invalidate,
        Self::Invalidate,
        Self::Invalidate,
        Self::InvalidateAlways,
        Self::Put,
        Self::Put,
        Self::Put,
        Self::PutKeyWith,
        Self::InvalidateByHand,
        Self::InvalidateByHand,
        Self::InvalidateByHand,
        Self::InvalidateAll,
        Self::InvalidateAllByHand,
        Self::InvalidateIfByHand,
    ];

    /// Those that end one entry, which every cache can.
    pub const ONE_ENTRY: &'static [Self] = &[Self::Invalidate, Self::InvalidateByHand];

    /// Whether a writer that is dropped half-way has nobody to invalidate for it.
    #[must_use]
    pub const fn is_by_hand(self) -> bool {
        matches!(
            self,
            Self::InvalidateByHand
                | Self::InvalidateAllByHand
                | Self::InvalidateIfByHand
                | Self::InsertByHand
        )
    }
}

/// The framework: annotated methods and a handle, of one manager.
#[derive(Clone, Debug)]
pub struct Annotated {
    caches: CacheManager,
    rows: Cache<Row>,
    /// A value that was computed before `insert` was called can only be the newest if nobody else writes meanwhile.
    locks: Arc<[RwLock<()>]>,
}

impl Annotated {
    /// The name of the cache.
    pub const CACHE: &'static str = "rows";

    /// Caches of that configuration.
    ///
    /// # Panics
    /// If it is refused.
    #[must_use]
    pub fn new(config: CacheConfig, keys: u64) -> Self {
        Self::with_locks(config, (0..keys).map(|_| RwLock::default()).collect())
    }

    /// As if in another process: other caches, but writers that know of each other.
    ///
    /// # Panics
    /// If the configuration is refused.
    #[must_use]
    pub fn other(&self, config: CacheConfig) -> Self {
        Self::with_locks(config, Arc::clone(&self.locks))
    }

    fn with_locks(config: CacheConfig, locks: Arc<[RwLock<()>]>) -> Self {
        let caches = CacheManager::builder()
            .cache(Self::CACHE, config)
            .build()
            .expect("the configuration is valid");
        Self {
            rows: caches.cache(Self::CACHE).expect("the only type there is"),
            caches,
            locks,
        }
    }

    /// The manager.
    #[must_use]
    pub const fn caches(&self) -> &CacheManager {
        &self.caches
    }

    /// What the cache has counted.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.rows.stats()
    }

    #[cache_result(cache = "rows", manager = self.caches, key = key)]
    async fn row(&self, key: u64, load: impl Future<Output = Loaded> + Send) -> Loaded {
        load.await
    }

    #[cache_result(cache = "rows", manager = self.caches, key = key)]
    #[cache_invalidate(cache = "rows", manager = self.caches, key = key)]
    async fn refreshed(&self, key: u64, load: impl Future<Output = Loaded> + Send) -> Loaded {
        load.await
    }

    #[cache_invalidate(cache = "rows", manager = self.caches, key = key)]
    async fn invalidates(&self, key: u64, write: impl Future<Output = Row> + Send) -> Row {
        write.await
    }

    #[cache_invalidate(cache = "rows", manager = self.caches, key = key, when = "always")]
    async fn fails(&self, key: u64, write: impl Future<Output = Row> + Send) -> Result<(), Row> {
        Err(write.await)
    }

    #[cache_invalidate_all(cache = "rows", manager = self.caches)]
    async fn invalidates_all(&self, write: impl Future<Output = Row> + Send) -> Row {
        write.await
    }

    #[cache_put(cache = "rows", manager = self.caches, key = key)]
    async fn puts(&self, key: u64, write: impl Future<Output = Row> + Send) -> Row {
        write.await
    }

    #[cache_put(cache = "rows", manager = self.caches, key_with = |row: &Row| row.key)]
    async fn puts_by_value(&self, write: impl Future<Output = Row> + Send) -> Row {
        write.await
    }
}

impl Keeper for Annotated {
    async fn read(
        &self,
        key: u64,
        look: Look,
        load: impl Future<Output = Loaded> + Send,
    ) -> Option<Loaded> {
        match look {
            Look::Annotated => Some(self.row(key, load).await),
            Look::Refresh => Some(self.refreshed(key, load).await),
            Look::ByHand => Some(self.rows.try_get_or_load(&key, load).await),
            Look::Only => self.rows.get(&key).await.map(Ok),
        }
    }

    async fn write(
        &self,
        key: u64,
        way: Way,
        write: impl Future<Output = Row> + Send,
    ) -> (u64, Told) {
        let lock = &self.locks[usize::try_from(key).expect("a row that exists")];
        if way == Way::InsertByHand {
            let _alone = lock.write().await;
            let row = write.await;
            return (row.version, Told::of(&self.rows.insert(&key, row).await));
        }
        let _among_others = lock.read().await;
        let (row, told) = match way {
            Way::Invalidate => (self.invalidates(key, write).await, Told::Nothing),
            Way::InvalidateAlways => {
                let failed = self.fails(key, write).await;
                (failed.expect_err("it fails"), Told::Nothing)
            }
            Way::InvalidateAll => (self.invalidates_all(write).await, Told::Nothing),
            Way::Put => (self.puts(key, write).await, Told::Nothing),
            Way::PutKeyWith => (self.puts_by_value(write).await, Told::Nothing),
            Way::InvalidateByHand => {
                let row = write.await;
                (row, Told::of(&self.rows.invalidate(&key).await))
            }
            Way::InvalidateAllByHand => {
                let row = write.await;
                (row, Told::of(&self.rows.invalidate_all().await))
            }
            Way::InvalidateIfByHand => {
                let row = write.await;
                let text = key.to_string();
                let ended = self.rows.invalidate_if(|key| key == text).await;
                (row, Told::of(&ended))
            }
            Way::InsertByHand => unreachable!("returned above"),
        };
        (row.version, told)
    }

    async fn clean_up(&self, key: u64) -> bool {
        self.rows.invalidate(&key).await.is_ok()
    }

    async fn settle(&self) {
        self.caches.settle().await;
    }
}
