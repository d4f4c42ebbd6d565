//! What a cache counts.

use std::{
    cell::Cell,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The counters of one cache since its manager was built.
///
/// Every call of a function under `#[cache_result]`, and every call that looks something up by hand, has exactly one outcome:
/// `hits + misses + coalesced + bypasses` is the number of calls.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let manager = cache_core::CacheManager::builder().build()?;
/// let squares = manager.cache::<u64>("squares")?;
/// squares.get_or_load(&7, async { 49 }).await;
/// squares.get_or_load(&7, async { 49 }).await;
/// let stats = squares.stats();
/// assert_eq!((stats.misses, stats.hits, stats.loads), (1, 1, 1));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct CacheStats {
    /// Calls answered from the cache.
    pub hits: u64,
    /// Calls that found nothing and ran the function (or, by hand, returned nothing); and calls given up while they asked the
    /// backend.
    pub misses: u64,
    /// Calls that waited for somebody else's load, however they got their value in the end.
    pub coalesced: u64,
    /// Calls that went past the cache: a false `condition`, a disabled cache, a key without canonical form, a value
    /// type that is not the cache's.
    pub bypasses: u64,
    /// Entries found that an invalidation of the whole cache had ended: each was a miss.
    pub stale: u64,
    /// Functions run to fill the cache, failed ones too.
    pub loads: u64,
    /// Functions run to fill the cache that returned `Err`.
    pub load_failures: u64,
    /// Values stored.
    pub stores: u64,
    /// Values not stored because an invalidation or a put came in between.
    pub stores_refused: u64,
    /// Values not stored because the backend or the codec failed, or because too many (1 024, or 16 MiB) were on their way into the
    /// backend already.
    pub store_failures: u64,
    /// Invalidations begun, of single entries and of the whole cache; and the entries that `invalidate_if` has ended.
    pub invalidations: u64,
    /// Entries found that could not be used: damaged, of another type or version. Each was a miss.
    pub decode_failures: u64,
    /// Requests the backend did not answer well.
    pub backend_errors: u64,
    /// Entries that left memory because the cache was full.
    pub evictions: u64,
    /// Invalidations that the backend has not acknowledged yet. Those that failed are tried again in the background.
    pub pending_invalidations: u64,
    /// Entries in memory now, copies of those in a backend too; 0 for a cache that is only in a backend.
    pub entries: u64,
    /// Hits answered in this process.
    pub memory_hits: u64,
    /// Hits answered by the backend.
    pub backend_hits: u64,
}

/// The living counters behind [`CacheStats`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) memory_hits: StripedCounter,
    pub(crate) backend_hits: Counter,
    pub(crate) misses: Counter,
    pub(crate) coalesced: Counter,
    pub(crate) bypasses: Counter,
    pub(crate) stale: Counter,
    pub(crate) loads: Counter,
    pub(crate) load_failures: Counter,
    pub(crate) stores: Counter,
    pub(crate) stores_refused: Counter,
    pub(crate) store_failures: Counter,
    pub(crate) invalidations: Counter,
    pub(crate) decode_failures: Counter,
    pub(crate) backend_errors: Counter,
    pub(crate) evictions: Counter,
}

impl Counters {
    /// The counters as they stand; each is exact, the set is not one snapshot.
    pub(crate) fn snapshot(&self, entries: u64, pending_invalidations: u64) -> CacheStats {
        let (memory_hits, backend_hits) = (self.memory_hits.get(), self.backend_hits.get());
        CacheStats {
            hits: memory_hits + backend_hits,
            misses: self.misses.get(),
            coalesced: self.coalesced.get(),
            bypasses: self.bypasses.get(),
            stale: self.stale.get(),
            loads: self.loads.get(),
            load_failures: self.load_failures.get(),
            stores: self.stores.get(),
            stores_refused: self.stores_refused.get(),
            store_failures: self.store_failures.get(),
            invalidations: self.invalidations.get(),
            decode_failures: self.decode_failures.get(),
            backend_errors: self.backend_errors.get(),
            evictions: self.evictions.get(),
            pending_invalidations,
            entries,
            memory_hits,
            backend_hits,
        }
    }
}

/// A number that many threads count up at every call. The first [`OWNED`] of them have a place of their own, where nobody else
/// writes, so that they need no atomic addition, which costs as much as a look-up. The rest share as many others.
#[derive(Debug, Default)]
pub(crate) struct StripedCounter([Stripe; 2 * OWNED]);

const OWNED: usize = 16;

/// Alone in its cache lines: two, because they are fetched in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Stripe(AtomicU64);

/// The place of a thread that has none yet.
const UNKNOWN: usize = usize::MAX;

thread_local! {
    static PLACE: Cell<usize> = const { Cell::new(UNKNOWN) };
    /// Gives the place back when the thread ends.
    static TENANCY: Tenancy = Tenancy::new();
}

/// The places that threads have of their own.
static PLACES: Mutex<Places> = Mutex::new(Places {
    given: 0,
    back: Vec::new(),
});

struct Places {
    given: usize,
    /// Given back: the lock orders what is counted at a place before and after.
    back: Vec<usize>,
}

/// That a place is a thread's own, until this is dropped.
struct Tenancy(usize);

impl Tenancy {
    fn new() -> Self {
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        Self(places.back.pop().unwrap_or_else(|| {
            places.given += 1;
            // Those that are shared are given again and again, and never back.
            match places.given - 1 {
                own if own < OWNED => own,
                shared => OWNED + shared % OWNED,
            }
        }))
    }
}

impl Drop for Tenancy {
    fn drop(&mut self) {
        if self.0 < OWNED {
            PLACE.set(OWNED);
            let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
            places.back.push(self.0);
        }
    }
}

#[cold]
fn find_place() -> usize {
    // While the thread ends it has none of its own.
    let place = TENANCY.try_with(|tenancy| tenancy.0).unwrap_or(OWNED);
    PLACE.set(place);
    place
}

impl StripedCounter {
    /// Counts one, and says how many there were before at this thread's place.
    #[inline]
    pub(crate) fn one(&self) -> u64 {
        let mut place = PLACE.get();
        if place == UNKNOWN {
            place = find_place();
        }
        let counter = &self.0[place].0;
        if place < OWNED {
            let n = counter.load(Ordering::Relaxed);
            counter.store(n + 1, Ordering::Relaxed);
            n
        } else {
            counter.fetch_add(1, Ordering::Relaxed)
        }
    }

    pub(crate) fn get(&self) -> u64 {
        let stripes = self.0.iter();
        stripes.map(|stripe| stripe.0.load(Ordering::Relaxed)).sum()
    }
}

/// A number that is counted up from many threads.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
