//! Invalidations that wait for somebody else's commit.
//!
//! An annotated function invalidates when it has succeeded. If it only writes within a transaction that its caller commits,
//! that is too early: until the commit everybody else reads the old row, and stores it again. So the one who commits can
//! collect what is invalidated on the way, and have it happen when the commit is done.

use std::{
    collections::HashSet,
    fmt,
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::future::join_all;

use crate::{
    cache::{CacheInner, Target},
    key::KeyText,
};

/// The most keys of one cache that are collected one by one; beyond that the whole cache is invalidated.
const MAX_KEYS: usize = 4096;

tokio::task_local! {
    static COLLECTING: Arc<Collected>;
}

/// How many collect, anywhere. While nobody does, a call need not look into its task.
static COLLECTORS: AtomicUsize = AtomicUsize::new(0);

/// Counts one who collects, until it is dropped.
struct Collector(());

impl Collector {
    fn new() -> Self {
        COLLECTORS.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        COLLECTORS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether a transaction is under way whose invalidations are collected.
#[inline]
pub(crate) fn is_collecting() -> bool {
    // What runs within `collect` comes after its beginning, so it sees that it is counted.
    COLLECTORS.load(Ordering::Relaxed) > 0 && COLLECTING.try_with(|_| ()).is_ok()
}

/// Collects an invalidation, if they are collected here.
pub(crate) fn collect(cache: &Arc<CacheInner>, target: &Target) -> bool {
    is_collecting()
        && COLLECTING
            .try_with(|collected| collected.add(cache, target))
            .is_ok()
}

/// The invalidations of a transaction, to happen once it has been committed.
///
/// The attributes invalidate when their function has succeeded. That is right for a function that commits. One that writes
/// within a transaction of its caller has succeeded too early: until the commit all others read the old row, and store it again.
/// The caller, who commits, runs it within [`collect`](Self::collect) and says afterwards how the transaction ended:
///
/// ```
/// use cache_core::{AfterCommit, CacheManager, cache_invalidate, cache_result};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// /// A table with one row, and a transaction on it.
/// static PRICE: AtomicU64 = AtomicU64::new(2990);
/// struct Transaction { price: u64 }
/// impl Transaction {
///     async fn commit(self) -> Result<(), String> {
///         PRICE.store(self.price, Ordering::SeqCst);
///         Ok(())
///     }
/// }
///
/// #[cache_result(cache = "price")]
/// async fn price(product: u64) -> u64 {
///     PRICE.load(Ordering::SeqCst)
/// }
///
/// /// Does not commit.
/// #[cache_invalidate(cache = "price")]
/// async fn set_price(#[cache_key] product: u64, tx: &mut Transaction, cents: u64) -> Result<(), String> {
///     tx.price = cents;
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), String> {
/// let mut tx = Transaction { price: price(7).await };
/// let after = AfterCommit::new();
/// after.collect(set_price(7, &mut tx, 3199)).await?;
/// assert_eq!(price(7).await, 2990); // for everybody else nothing has happened yet
/// tx.commit().await?;
/// after.committed().await;
/// assert_eq!(price(7).await, 3199);
/// # Ok(()) }
/// ```
///
/// # What happens within `collect`
///
/// - Invalidations are collected, whatever their `when`: those of attributes, those by hand ([`Cache::invalidate`](crate::LocalCache::invalidate)
///   returns `Ok(false)`), and those of a function that is interrupted.
///   [`invalidate_if`](crate::LocalCache::invalidate_if) becomes one of the whole cache.
/// - Values that are put are not stored: their keys are invalidated afterwards. The transaction may yet be rolled back.
/// - Functions under `#[cache_result]`, and look-ups by hand, go past the cache, and count as bypasses: what they read in the
///   transaction is nobody else's, and what others have stored does not show what was written in it.
///
/// It covers the future it is given, not tasks that are spawned in it. Within another `collect`, what is committed is added to the
/// outer one, as a savepoint is to its transaction.
///
/// # Dropped without a word
///
/// Then it is not known how the transaction ended, and everything is invalidated: one too many does no harm. So an early
/// return by `?` needs no care.
#[must_use = "what is collected is invalidated when this is dropped"]
pub struct AfterCommit {
    collected: Arc<Collected>,
}

impl AfterCommit {
    /// Nothing is collected yet.
    ///
    /// ```
    /// assert!(cache_core::AfterCommit::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self {
            collected: Arc::default(),
        }
    }

    /// Runs `work` and collects what is invalidated in it. May be called several times for one transaction.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, _clock) = cache_core::testing::manager();
    /// # let price = caches.cache("price")?;
    /// # price.insert(&42, 2990).await?;
    /// let after = cache_core::AfterCommit::new();
    /// after.collect(price.invalidate(&42)).await?;
    /// assert_eq!(price.get(&42).await, Some(2990));
    /// drop(after); // or `committed`
    /// assert_eq!(price.get(&42).await, None);
    /// # Ok(()) }
    /// ```
    ///
    /// Dropped half-way, what was collected until then stays collected; so does what the functions that are interrupted by it
    /// would have invalidated.
    pub async fn collect<T>(&self, work: impl Future<Output = T>) -> T {
        let _collector = Collector::new();
        COLLECTING.scope(Arc::clone(&self.collected), work).await
    }

    /// The transaction was committed: invalidates all that was collected, and waits for the backends to acknowledge it, no longer
    /// than one read budget. What fails is counted, logged and made good in the background, as with the attributes.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, _clock) = cache_core::testing::manager();
    /// # let price = caches.cache("price")?;
    /// # price.insert(&42, 2990).await?;
    /// let after = cache_core::AfterCommit::new();
    /// after.collect(price.insert(&42, 3199)).await?;
    /// after.committed().await;
    /// assert_eq!(price.get(&42).await, None); // a put is an invalidation here
    /// # Ok(()) }
    /// ```
    ///
    /// Dropped half-way, it goes on in the background.
    pub async fn committed(self) {
        let targets = self.collected.take();
        join_all(targets.into_iter().map(|(cache, target)| async move {
            // A failure was counted and said; the transaction is committed, whatever becomes of the cache.
            let _ = cache.invalidate(target).await;
        }))
        .await;
    }

    /// The transaction was rolled back: nothing has changed, and nothing is invalidated.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, _clock) = cache_core::testing::manager();
    /// # let price = caches.cache("price")?;
    /// # price.insert(&42, 2990).await?;
    /// let after = cache_core::AfterCommit::new();
    /// after.collect(price.invalidate(&42)).await?;
    /// after.rolled_back();
    /// assert_eq!(price.get(&42).await, Some(2990));
    /// # Ok(()) }
    /// ```
    pub fn rolled_back(self) {
        self.collected.take();
    }

    /// Whether nothing is collected.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, _clock) = cache_core::testing::manager();
    /// # let price = caches.cache::<u64>("price")?;
    /// let after = cache_core::AfterCommit::new();
    /// after.collect(price.invalidate(&42)).await?;
    /// assert!(!after.is_empty());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.collected.lock().is_empty()
    }
}

impl Default for AfterCommit {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for AfterCommit {
    fn drop(&mut self) {
        for (cache, target) in self.collected.take() {
            cache.invalidate_detached(target);
        }
    }
}

impl fmt::Debug for AfterCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AfterCommit")
            .field("caches", &self.collected.lock().len())
            .finish_non_exhaustive()
    }
}

/// What is to be invalidated, cache by cache: there are few.
#[derive(Default)]
struct Collected(Mutex<Vec<OfCache>>);

struct OfCache {
    cache: Arc<CacheInner>,
    all: bool,
    keys: HashSet<KeyText>,
}

impl Collected {
    fn add(&self, cache: &Arc<CacheInner>, target: &Target) {
        let mut caches = self.lock();
        let known = caches
            .iter()
            .position(|other| Arc::ptr_eq(&other.cache, cache));
        let index = known.unwrap_or_else(|| {
            caches.push(OfCache {
                cache: Arc::clone(cache),
                all: false,
                keys: HashSet::new(),
            });
            caches.len() - 1
        });
        let of_cache = &mut caches[index];
        match target {
            Target::Key(key) if !of_cache.all => {
                of_cache.keys.insert(key.clone());
            }
            Target::Key(_) => {}
            Target::All => of_cache.all = true,
        }
        if of_cache.keys.len() > MAX_KEYS {
            of_cache.all = true;
        }
        if of_cache.all {
            of_cache.keys.clear();
        }
    }

    fn take(&self) -> Vec<(Arc<CacheInner>, Target)> {
        let caches = std::mem::take(&mut *self.lock());
        caches
            .into_iter()
            .flat_map(|OfCache { cache, all, keys }| {
                let all = all.then_some(Target::All);
                let targets = all.into_iter().chain(keys.into_iter().map(Target::Key));
                targets.map(move |target| (Arc::clone(&cache), target))
            })
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<OfCache>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
