//! Where large entries are.
//!
//! Replies come one after the other, and behind one of some megabytes all others on its connection wait. So large entries
//! are looked up and stored on a connection of their own, which is made when the first one turns up. How large the reply
//! will be is not known before it comes. But it was known when it came the last time: for each hash slot there is a bit that
//! says whether the last entry that was read or stored there was large. Being wrong costs little: the first reply of a large
//! entry comes among the others, and a small entry that shares its slot with a large one is sometimes sent the other way.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::{SLOTS, Slot};

/// Entries, replies and requests of more bytes are large. At 10 Gbit/s this many take 50 µs.
const LARGE: usize = 64 << 10;

pub(crate) const fn is_large(bytes: usize) -> bool {
    bytes > LARGE
}

pub(crate) struct Sizes(Box<[AtomicU64]>);

impl Default for Sizes {
    fn default() -> Self {
        Self((0..SLOTS / 64).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Sizes {
    fn bit(&self, slot: Slot) -> (&AtomicU64, u64) {
        (&self.0[usize::from(slot / 64)], 1 << (slot % 64))
    }

    /// Whether the last entry of that slot was large.
    pub(crate) fn was_large(&self, slot: Slot) -> bool {
        let (word, bit) = self.bit(slot);
        word.load(Ordering::Relaxed) & bit != 0
    }

    pub(crate) fn note(&self, slot: Slot, bytes: usize) {
        let large = is_large(bytes);
        // Hardly ever: a word that every look-up writes would travel between the processors' caches.
        if self.was_large(slot) != large {
            let (word, bit) = self.bit(slot);
            if large {
                word.fetch_or(bit, Ordering::Relaxed);
            } else {
                word.fetch_and(!bit, Ordering::Relaxed);
            }
        }
    }
}
