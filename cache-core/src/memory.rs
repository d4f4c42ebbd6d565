//! The store in this process: moka, with deadlines of our own on top.
//!
//! moka bounds the number of entries and gives memory back. Whether an entry *counts* is decided here, by the epoch and
//! the deadline it carries: the epoch makes clearing a single increment, and the deadline follows a clock that tests can
//! move.

mod name;

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use moka::{Expiry, notification::RemovalCause};

use self::name::{AsItIs, Name, Names};
use crate::{
    clock::{Clock, NEVER, Nanos, nanos},
    front::{Found, Front},
    key::Sought,
    later::{Hold, Kept},
    stats::Counters,
};

/// What decides whether a value still counts.
#[derive(Clone, Copy)]
pub(crate) struct Stamp {
    epoch: u64,
    ttl: Option<Duration>,
    made_at: Nanos,
    expires_at: Nanos,
}

impl Stamp {
    /// For a value that was computed in `epoch` and counts for `ttl` from now on.
    pub(crate) fn new(epoch: u64, ttl: Option<Duration>, clock: &Clock) -> Self {
        let made_at = clock.now();
        Self {
            epoch,
            ttl,
            made_at,
            expires_at: ttl.map_or(NEVER, |ttl| made_at.saturating_add(nanos(ttl))),
        }
    }

    /// Whether its value counts in `epoch` and at this time.
    #[inline]
    pub(crate) fn counts(&self, epoch: u64, clock: &Clock) -> bool {
        self.epoch == epoch && clock.is_before(self.expires_at)
    }
}

/// A value in this process.
///
/// It is made field by field: a function that makes it would be one more to compile for every type.
pub(crate) struct Held<T: ?Sized = dyn Any + Send + Sync> {
    pub(crate) times: Times,
    pub(crate) value: T,
}

/// When a value counts, and when it was used.
pub(crate) struct Times {
    stamp: Stamp,
    /// The last hit; only kept where a cache has a `time_to_idle`.
    used_at: AtomicU64,
}

impl From<Stamp> for Times {
    fn from(stamp: Stamp) -> Self {
        Self {
            stamp,
            used_at: AtomicU64::new(stamp.made_at),
        }
    }
}

impl Held {
    #[inline]
    pub(crate) fn value(&self) -> &dyn Any {
        &self.value
    }

    /// Whether the value counts in `epoch` and at this time.
    #[inline]
    pub(crate) fn counts(&self, epoch: u64, clock: &Clock) -> bool {
        self.times.stamp.counts(epoch, clock)
    }

    pub(crate) fn stamp(&self) -> Stamp {
        self.times.stamp
    }
}

/// A value for a cache, of a type that is not named.
pub(crate) trait Made {
    /// The value itself.
    fn any(&self) -> &dyn Any;

    /// A clone of it, to be shared in this process.
    fn hold(&self, stamp: Stamp) -> Arc<Held>;
}

impl<V: Clone + Send + Sync + 'static> Made for V {
    fn any(&self) -> &dyn Any {
        self
    }

    fn hold(&self, stamp: Stamp) -> Arc<Held> {
        Arc::new(Held {
            times: stamp.into(),
            value: self.clone(),
        })
    }
}

/// The bounded store of one cache.
pub(crate) struct Memory {
    entries: moka::sync::Cache<Name, Kept, AsItIs>,
    names: Names,
    /// `None` where every hit has to be written down anyway, because it puts off a `time_to_idle`.
    front: Option<Arc<Front>>,
    time_to_idle: Option<Nanos>,
    clock: Clock,
}

impl Memory {
    pub(crate) fn new(
        max_capacity: u64,
        time_to_idle: Option<Duration>,
        clock: Clock,
        counters: Arc<Counters>,
    ) -> Self {
        let front = match time_to_idle {
            Some(_) => None,
            None => Some(Arc::new(Front::new(max_capacity))),
        };
        let in_front = front.clone();
        let mut builder = moka::sync::Cache::builder()
            .max_capacity(max_capacity)
            .expire_after(Deadline)
            .eviction_listener(move |key, kept, cause| {
                // The rest is taken away by whoever has it removed here.
                if cause.was_evicted()
                    && let (Some(front), Some(held)) = (&in_front, kept.get())
                {
                    front.remove_value(&key.text, held);
                }
                if cause == RemovalCause::Size {
                    counters.evictions.one();
                }
            });
        if let Some(idle) = time_to_idle {
            builder = builder.time_to_idle(idle);
        }
        Self {
            entries: builder.build_with_hasher(AsItIs::default()),
            names: Names::default(),
            front,
            time_to_idle: time_to_idle.map(nanos),
            clock,
        }
    }

    /// The entry of `key`, if it counts and is one of those hit lately.
    #[inline]
    pub(crate) fn get_in_front(&self, key: Sought<'_>, epoch: u64) -> Found {
        let Some(front) = &self.front else {
            return Found::nothing();
        };
        front.get(key, |stamp| stamp.counts(epoch, &self.clock))
    }

    /// Passes the `n`th hit, which was one in front, on to moka, if it is one of those that are.
    #[inline]
    pub(crate) fn record(&self, key: Sought<'_>, n: u64) {
        if Front::is_record_due(n) {
            self.record_now(key);
        }
    }

    #[cold]
    fn record_now(&self, key: Sought<'_>) {
        let mut digits = itoa::Buffer::new();
        let key = match key {
            Sought::Number(number) => digits.format(number),
            Sought::Text(text) => text,
        };
        let _hold = Hold::new();
        self.entries.get(&self.names.wanted(key));
    }

    /// Whether the entry of the `n`th hit, which was none in front, is to be answered in front from now on.
    pub(crate) fn is_wanted_in_front(&self, key: &str, n: u64) -> bool {
        self.front.as_ref().is_some_and(|front| front.wants(key, n))
    }

    /// Has the entry of `key` be answered in front, if it still is the one that counts. To be called under the lock of the key.
    pub(crate) fn bring_to_front(&self, key: &str, epoch: u64) {
        let (Some(front), Some(held)) = (&self.front, self.get(key, epoch)) else {
            return;
        };
        let _hold = Hold::new();
        front.put(key, held);
        if !self.entries.contains_key(&self.names.wanted(key)) {
            front.remove(key);
        }
    }

    /// The entry of `key`, if it counts, where most likely there is none: that is not written down a second time.
    pub(crate) fn look_again(&self, key: &str, epoch: u64) -> Option<Arc<Held>> {
        self.entries
            .contains_key(&self.names.wanted(key))
            .then(|| self.get(key, epoch))?
    }

    /// The entry of `key`, if it counts.
    pub(crate) fn get(&self, key: &str, epoch: u64) -> Option<Arc<Held>> {
        let kept = {
            let _hold = Hold::new();
            self.entries.get(&self.names.wanted(key))?
        };
        // What does not count may be given up by the store just now, and be dropped here, where somebody may hold a lock.
        let held = kept.get()?;
        if !held.counts(epoch, &self.clock) {
            return None;
        }
        if let Some(idle) = self.time_to_idle {
            let now = self.clock.now();
            if now.saturating_sub(held.times.used_at.load(Ordering::Relaxed)) >= idle {
                return None;
            }
            held.times.used_at.store(now, Ordering::Relaxed);
        }
        kept.into_inner()
    }

    pub(crate) fn insert(&self, key: Arc<str>, held: Arc<Held>) {
        let _hold = Hold::new();
        if let Some(front) = &self.front {
            front.remove(&key);
        }
        self.entries.insert(self.names.name(key), Kept::new(held));
    }

    /// Takes the entry out; it is the caller's to drop, outside of any lock.
    pub(crate) fn remove(&self, key: &str) -> Option<Arc<Held>> {
        let _hold = Hold::new();
        if let Some(front) = &self.front {
            front.remove(key);
        }
        self.entries.remove(&self.names.wanted(key))?.into_inner()
    }

    /// Gives back the memory of entries whose epoch is over.
    pub(crate) fn clear(&self) {
        let _hold = Hold::new();
        self.entries.invalidate_all();
        // In this order: who brings an entry to the front meanwhile sees that the store has lost it, or is cleared here.
        if let Some(front) = &self.front {
            front.clear();
        }
    }

    /// The keys of the entries that count.
    pub(crate) fn keys(&self, epoch: u64) -> impl Iterator<Item = Arc<str>> {
        // Those in front come last: what moka has given up before it was asked, and not said so yet, is still answered there.
        let in_front = self.front.iter().flat_map(|front| front.keys());
        self.entries
            .iter()
            .filter(move |(_, kept)| {
                kept.get()
                    .is_some_and(|held| held.counts(epoch, &self.clock))
            })
            .map(|(name, _)| Arc::clone(&name.text))
            .chain(in_front)
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> u64 {
        // The count lags behind until moka's pending work is done.
        let _hold = Hold::new();
        self.entries.run_pending_tasks();
        self.entries.entry_count()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("entries", &self.entries.entry_count())
            .finish_non_exhaustive()
    }
}

/// When moka may drop an entry by itself.
struct Deadline;

impl Expiry<Name, Kept> for Deadline {
    fn expire_after_create(&self, _key: &Name, kept: &Kept, _now: Instant) -> Option<Duration> {
        kept.get()?.stamp().ttl
    }

    // The default keeps the deadline of the value that was replaced.
    fn expire_after_update(
        &self,
        _key: &Name,
        kept: &Kept,
        _now: Instant,
        _left: Option<Duration>,
    ) -> Option<Duration> {
        kept.get()?.stamp().ttl
    }
}
