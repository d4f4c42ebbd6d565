//! What one process may expect.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use cache_core::CacheManager;

use crate::stress::{Acknowledged, Database, Told};

/// A database as one process sees it. See the [module](super).
#[derive(Clone, Debug)]
pub struct Side<D> {
    truth: D,
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    caches: CacheManager,
    /// What somebody in this process was told.
    here: Box<[AtomicU64]>,
    /// What nobody was told yet that it holds everywhere.
    waiting: Mutex<HashMap<u64, u64>>,
    /// Whether what was acknowledged to another process is to be expected here.
    hears_others: bool,
}

impl<D: Database> Side<D> {
    /// The side of a process with these caches. Unless it `hears_others`, it only expects what it was told itself: that is so where a
    /// server comes back with data that are older, because then acknowledged invalidations are lost on their way to others.
    #[must_use]
    pub fn new(truth: D, rows: u64, caches: &CacheManager, hears_others: bool) -> Self {
        let inner = Inner {
            caches: caches.clone(),
            here: (0..rows).map(|_| AtomicU64::default()).collect(),
            waiting: Mutex::default(),
            hears_others,
        };
        Self {
            truth,
            inner: Arc::new(inner),
        }
    }

    /// How many invalidations of this process are pending.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.inner.pending()
    }

    fn here(&self, key: u64) -> &AtomicU64 {
        &self.inner.here[usize::try_from(key).expect("a row that exists")]
    }

    /// What waits is acknowledged if nothing is pending *after* it was told.
    async fn acknowledge_waiting(&self) {
        let waiting = std::mem::take(&mut *self.inner.waiting());
        if self.inner.pending() > 0 {
            for (key, version) in waiting {
                self.inner.wait(key, version);
            }
            return;
        }
        for (key, version) in waiting {
            self.truth.told(key, version, Told::Acknowledged).await;
        }
    }
}

impl Inner {
    fn pending(&self) -> u64 {
        let stats = self.caches.stats();
        stats
            .values()
            .map(|stats| stats.pending_invalidations)
            .sum()
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, u64>> {
        self.waiting
            .lock()
            .expect("nothing panics while it is held")
    }

    fn wait(&self, key: u64, version: u64) {
        let mut waiting = self.waiting();
        let waits = waiting.entry(key).or_default();
        *waits = version.max(*waits);
    }
}

impl<D: Database> Database for Side<D> {
    async fn version(&self, key: u64) -> u64 {
        self.truth.version(key).await
    }

    async fn write(&self, key: u64) -> u64 {
        self.truth.write(key).await
    }

    async fn acknowledged(&self, key: u64) -> Acknowledged {
        let here = self.here(key).load(Ordering::SeqCst);
        let everywhere = if self.inner.hears_others {
            self.truth.acknowledged(key).await.everywhere
        } else {
            here
        };
        Acknowledged { everywhere, here }
    }

    async fn told(&self, key: u64, version: u64, told: Told) {
        self.here(key).fetch_max(version, Ordering::SeqCst);
        if told == Told::Acknowledged {
            self.truth.told(key, version, told).await;
        } else {
            self.inner.wait(key, version);
        }
        self.acknowledge_waiting().await;
    }
}
