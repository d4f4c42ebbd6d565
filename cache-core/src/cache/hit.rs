//! What most calls come to: a value of this process.

use std::{any::Any, sync::Arc};

use super::CacheInner;
use crate::{front::Found, key::KeyText, memory::Held};

/// A value of this process.
pub(crate) enum Hit {
    /// One that was hit lately.
    InFront(Found),
    Held(Arc<Held>),
}

impl Hit {
    #[inline]
    pub(crate) fn any(&self) -> Option<&dyn Any> {
        match self {
            Self::InFront(found) => Some(found.held()?.any()),
            Self::Held(held) => Some(held.any()),
        }
    }

    /// The value, if it is a `V`.
    pub(crate) fn value<V: 'static>(&self) -> Option<&V> {
        self.any()?.downcast_ref()
    }
}

impl CacheInner {
    /// The value of a key in memory, counted as a hit.
    #[inline]
    pub(crate) fn hit(&self, key: &KeyText) -> Option<Hit> {
        let memory = self.memory.as_ref()?;
        let (key, epoch) = (key.as_str(), self.flights.epoch());
        if let Some(found) = memory.get_in_front(key, epoch) {
            memory.record(key, self.counters.memory_hits.one());
            return Some(Hit::InFront(found));
        }
        let held = memory.get(key, epoch)?;
        let n = self.counters.memory_hits.one();
        if memory.is_wanted_in_front(key, n) {
            self.flights
                .undisturbed(key, || memory.bring_to_front(key, self.flights.epoch()));
        }
        Some(Hit::Held(held))
    }

    /// The same for a call that has looked before, and is about to load.
    pub(super) fn look_again(&self, key: &KeyText) -> Option<Arc<Held>> {
        self.memory
            .as_ref()?
            .look_again(key.as_str(), self.flights.epoch())
    }
}
