//! Copies of what a backend holds, for caches that ask it whether they are still true.
//!
//! A copy is a decoded value and the trailer of the entry it was decoded from. The trailer has a random number of the store
//! that wrote it, so an entry that still ends in it is the same entry, and its value need be neither sent nor decoded
//! again. A copy is never an answer by itself: what the backend says while a call waits decides. So it does no harm that one is
//! left behind by an invalidation, or comes in after one; it takes a place, of which there are as many as the capacity says.
//!
//! Only what was read is kept, not what this process stores: a value that has been through the codec is the same in every
//! process, also where serde leaves something out.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use crate::{
    backend::Token,
    clock::Clock,
    codec::AnyValue,
    entry::{Opened, TRAILER_LEN},
    memory::{Held, Memory, Stamp},
    stats::Counters,
};

/// The copies of one cache.
#[derive(Debug)]
pub(crate) struct Copies {
    memory: Memory,
    clock: Clock,
}

/// A value that is an answer if the backend confirms it.
#[derive(Clone)]
pub(crate) struct Copied(Arc<Held>);

/// What is held of an entry.
struct Copy {
    trailer: [u8; TRAILER_LEN],
    epoch: Token,
    value: AnyValue,
}

impl Copies {
    pub(crate) fn new(max_capacity: u64, clock: Clock, counters: Arc<Counters>) -> Self {
        Self {
            memory: Memory::new(max_capacity, None, clock.clone(), counters),
            clock,
        }
    }

    /// The copy of `key`, unless it was made in another epoch of this process, or its entry must have expired.
    pub(crate) fn get(&self, key: &str, epoch: u64) -> Option<Copied> {
        self.memory.get(key, epoch).map(Copied)
    }

    /// Keeps the value that an entry was decoded to by a call that began in `epoch`.
    pub(crate) fn keep(
        &self,
        key: &str,
        epoch: u64,
        opened: &Opened<'_>,
        value: AnyValue,
    ) -> Copied {
        // Past that time the backend has nothing to confirm, and the place is better used for something else.
        let left = opened
            .expires_at
            .map(|at| Duration::from_millis(at.saturating_sub(self.clock.unix_millis())));
        let copy = Copy {
            trailer: *opened.trailer,
            epoch: opened.epoch,
            value,
        };
        let held: Arc<Held> = Arc::new(Held {
            times: Stamp::new(epoch, left, &self.clock).into(),
            value: copy,
        });
        self.memory.insert(key.into(), Arc::clone(&held));
        Copied(held)
    }

    /// Gives the place of a copy that will not be confirmed to others.
    pub(crate) fn forget(&self, key: &str) {
        drop(self.memory.remove(key));
    }

    /// The same for all copies.
    pub(crate) fn clear(&self) {
        self.memory.clear();
    }

    pub(crate) fn len(&self) -> u64 {
        self.memory.len()
    }
}

impl Copied {
    fn copy(&self) -> &Copy {
        self.0
            .value()
            .downcast_ref()
            .expect("only copies are kept here")
    }

    /// How the entry ends if it is still this one.
    pub(crate) fn trailer(&self) -> &[u8; TRAILER_LEN] {
        &self.copy().trailer
    }

    /// The epoch of the cache that the entry counts in.
    pub(crate) fn epoch(&self) -> Token {
        self.copy().epoch
    }

    pub(crate) fn value(&self) -> Option<&dyn Any> {
        self.copy().value.get()
    }
}

// The value is not shown.
impl fmt::Debug for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copied").finish_non_exhaustive()
    }
}
