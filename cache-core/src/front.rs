//! A small table of entries that were hit lately, in front of the store.
//!
//! moka writes down every read, which costs more than the look-up itself. So what is hit often is answered from here, and
//! only one such read in [`READS_PER_RECORD`] is passed on to moka, which is enough for it to know what is hot.
//!
//! # The invariants
//!
//! 1. An entry enters only under the flight table's lock of its key, and only while the store holds it in the epoch that
//!    counts. Whoever takes an entry out of the store, or replaces it, takes it away here too, under the same lock. So what
//!    an invalidation or a put has ended is not answered once that has returned.
//! 2. What moka gives up by itself, without that lock, it announces, after it is gone; and who brings an entry here looks
//!    once more whether the store still has it, after it is here. One of the two sees the other. So nothing is kept here that
//!    the store does not hold, and no value lives longer for having been here.
//! 3. Who walks through the store to end entries walks through this table after it: moka may have given an entry up, and not yet
//!    have said so.
//! 4. Every hit is held to epoch and deadline as any other.
//!
//! A key has one place, which it shares with others: there is nothing to search, to order or to grow. Who reads takes no
//! lock and writes to nothing that other threads use.

use std::{
    any::Any,
    sync::{Arc, OnceLock},
};

use arc_swap::{ArcSwapOption, Guard};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    key::Sought,
    later::Kept,
    memory::{Held, Stamp},
};

/// The most entries of one cache that are here.
const MAX_PLACES: u64 = 1024;

/// And no more than one in so many of those it can hold: of what is read from here moka sees so little that it must not be
/// what moka has to choose from.
const ENTRIES_PER_PLACE: u64 = 8;

/// One read in so many is passed on to the store.
const READS_PER_RECORD: u64 = 48;

/// One hit in the store in so many takes a place that is taken already: often enough that what has become hot
/// gets one, seldom enough that what is asked for once pushes out nothing and costs nothing.
const HITS_PER_EXCHANGE: u64 = 16;

/// Whether the `n`th of a sequence is one of those chosen, of which there is one in `of`. No pattern in the sequence, say
/// of two keys that are read by turns, meets one in the choice.
fn is_chosen(n: u64, of: u64) -> bool {
    n.wrapping_mul(SPREAD) < u64::MAX / of
}

pub(crate) struct Front {
    places: OnceLock<Box<[ArcSwapOption<Entry>]>>,
    len: usize,
}

struct Entry {
    key: Key,
    /// That of the value, here so that the value need not be looked at.
    stamp: Stamp,
    held: Kept,
}

/// The key of an entry.
enum Key {
    Number(u64),
    Text(Box<str>),
}

impl Key {
    fn of(key: Sought<'_>) -> Self {
        match key {
            Sought::Number(number) => Self::Number(number),
            Sought::Text(text) => Self::Text(text.into()),
        }
    }

    fn text(&self) -> Arc<str> {
        match self {
            Self::Number(number) => itoa::Buffer::new().format(*number).into(),
            Self::Text(text) => Arc::from(&**text),
        }
    }

    #[inline]
    fn is(&self, key: Sought<'_>) -> bool {
        match (self, key) {
            (Self::Number(number), Sought::Number(sought)) => *number == sought,
            (Self::Text(text), Sought::Text(sought)) => **text == *sought,
            _ => false,
        }
    }
}

/// Multiples of the golden ratio are spread evenly, those of every step between them too.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// An entry that was found, not counted among the owners of its value; or none. Of two words, which stay in registers on their way
/// to the caller.
pub(crate) struct Found(Guard<Option<Arc<Entry>>>);

impl Found {
    #[inline]
    pub(crate) fn nothing() -> Self {
        Self(Guard::from_inner(None))
    }

    #[inline]
    pub(crate) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    fn held(&self) -> Option<&Held> {
        self.0.as_ref()?.held.get()
    }

    /// The value, if there is one.
    #[inline]
    pub(crate) fn value(&self) -> Option<&dyn Any> {
        Some(self.held()?.value())
    }
}

impl Front {
    /// For a store of so many entries.
    pub(crate) fn new(max_capacity: u64) -> Self {
        let len = (max_capacity / ENTRIES_PER_PLACE).clamp(1, MAX_PLACES);
        Self {
            places: OnceLock::new(),
            len: usize::try_from(len).unwrap_or(1).next_power_of_two(),
        }
    }

    /// The place of a key, once there are any.
    #[inline]
    fn place(&self, key: Sought<'_>) -> Option<&ArcSwapOption<Entry>> {
        let places = self.places.get()?;
        // Not keyed: who makes keys that meet here makes their hits as slow as they are without this table.
        let hash = match key {
            Sought::Number(number) => number.wrapping_mul(SPREAD) >> 32,
            Sought::Text(text) => xxh3_64(text.as_bytes()),
        };
        #[allow(clippy::cast_possible_truncation)]
        places.get(hash as usize & (self.len - 1))
    }

    /// The entry of a key, if it counts.
    #[inline]
    pub(crate) fn get(&self, key: Sought<'_>, counts: impl FnOnce(&Stamp) -> bool) -> Found {
        let Some(place) = self.place(key) else {
            return Found::nothing();
        };
        let found = place.load();
        match &*found {
            Some(entry) if entry.key.is(key) && counts(&entry.stamp) => Found(found),
            _ => Found::nothing(),
        }
    }

    /// Whether the `n`th hit, which was one here, is to be passed on to the store.
    #[inline]
    pub(crate) fn is_record_due(n: u64) -> bool {
        is_chosen(n, READS_PER_RECORD)
    }

    /// Whether the entry of the `n`th hit, which was one in the store, is to be put here.
    pub(crate) fn wants(&self, key: &str, n: u64) -> bool {
        is_chosen(n, HITS_PER_EXCHANGE)
            || self
                .place(Sought::of(key))
                .is_none_or(|place| place.load().is_none())
    }

    /// Puts an entry into its place.
    pub(crate) fn put(&self, key: &str, held: Arc<Held>) {
        self.places.get_or_init(|| {
            let places = (0..self.len).map(|_| ArcSwapOption::empty());
            places.collect()
        });
        let key = Sought::of(key);
        if let Some(place) = self.place(key) {
            place.store(Some(Arc::new(Entry {
                key: Key::of(key),
                stamp: held.stamp(),
                held: Kept::new(held),
            })));
        }
    }

    /// Takes the entry of a key away.
    pub(crate) fn remove(&self, key: &str) {
        self.remove_if(key, |_| true);
    }

    /// Takes this very value away.
    pub(crate) fn remove_value(&self, key: &str, value: &Held) {
        self.remove_if(key, |held| std::ptr::eq(held, value));
    }

    fn remove_if(&self, key: &str, condition: impl FnOnce(&Held) -> bool) {
        let key = Sought::of(key);
        let Some(place) = self.place(key) else { return };
        let found = self.get(key, |_| true);
        if found.held().is_some_and(condition) {
            // If another entry has taken the place meanwhile, this one is gone as well.
            place.compare_and_swap(&found.0, None);
        }
    }

    /// The keys of all that is here.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Arc<str>> {
        let places = self.places.get().into_iter().flatten();
        places.filter_map(|place| Some(place.load().as_ref()?.key.text()))
    }

    pub(crate) fn clear(&self) {
        for place in self.places.get().into_iter().flatten() {
            if place.load().is_some() {
                place.store(None);
            }
        }
    }
}
