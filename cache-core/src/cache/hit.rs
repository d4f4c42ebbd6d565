//! What most calls come to: a value of this process.

use std::sync::Arc;

use super::CacheInner;
use crate::{
    after_commit,
    front::Found,
    key::{KeyText, Sought},
    memory::Held,
    value::ValueKind,
};

impl CacheInner {
    /// The value of a key that was hit lately, counted as a hit; with that the call is over. Calls that do not use the cache,
    /// for whatever reason, find nothing here.
    #[inline]
    pub(crate) fn hit_in_front(&self, key: Sought<'_>, kind: &ValueKind) -> Found {
        let Some(memory) = &self.memory else {
            return Found::nothing();
        };
        // The same as [`uses`](Self::uses) where there is a memory: then the cache is not disabled, and asks for no form.
        if after_commit::is_collecting() || self.value_type.get() != Some(&kind.ty) {
            return Found::nothing();
        }
        let found = memory.get_in_front(key, self.flights.epoch());
        if !found.is_nothing() {
            memory.record(key, self.counters.memory_hits.one());
        }
        found
    }

    /// The value of a key in the store of this process, counted as a hit.
    pub(crate) fn hit(&self, key: &KeyText) -> Option<Arc<Held>> {
        let memory = self.memory.as_ref()?;
        let (key, epoch) = (key.as_str(), self.flights.epoch());
        let held = memory.get(key, epoch)?;
        let n = self.counters.memory_hits.one();
        if memory.is_wanted_in_front(key, n) {
            self.flights
                .undisturbed(key, || memory.bring_to_front(key, self.flights.epoch()));
        }
        Some(held)
    }

    /// The same for a call that has looked before, and is about to load.
    pub(super) fn look_again(&self, key: &KeyText) -> Option<Arc<Held>> {
        self.memory
            .as_ref()?
            .look_again(key.as_str(), self.flights.epoch())
    }
}
