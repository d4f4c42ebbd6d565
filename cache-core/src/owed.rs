//! Invalidations that the backend has not acknowledged.
//!
//! An invalidation is owed from when it begins until the backend has acknowledged it, or a later one that covers it. While it is
//! owed, this process neither reads nor stores what it is about: what the backend holds may be what the invalidation was to
//! end. So nothing is lost by a failure, by a time-out, or by a runtime that ends in the middle. What a failed one leaves is
//! tried again in the background.
//!
//! The memory this takes is bounded: too many owed keys become one owed invalidation of the whole cache.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use crate::{cache::Target, key::KeyText};

/// The most keys that are owed one by one.
const MAX_KEYS: usize = 4096;

/// The place of an attempt in the order in which attempts began.
pub(crate) type Attempt = u64;

#[derive(Debug, Default)]
pub(crate) struct Owed {
    state: Mutex<State>,
    /// How much is owed; read without the lock by every call that asks the backend.
    len: AtomicUsize,
    attempts: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Each with the last attempt that began for it.
    keys: HashMap<KeyText, Attempt>,
    all: Option<Attempt>,
}

impl Owed {
    /// An attempt begins. What succeeds of it covers what was owed before.
    pub(crate) fn begin(&self) -> Attempt {
        self.attempts.fetch_add(1, Ordering::AcqRel)
    }

    /// An invalidation begins, and is owed until [`paid`](Self::paid) says otherwise.
    pub(crate) fn owe(&self, target: &Target) -> Attempt {
        let mut state = self.lock();
        let attempt = self.begin();
        match target {
            Target::All => state.owe_all(attempt),
            Target::Key(key) => {
                state.keys.insert(key.clone(), attempt);
                if state.keys.len() > MAX_KEYS {
                    state.owe_all(attempt);
                }
            }
        }
        self.count(&state);
        attempt
    }

    /// The backend has acknowledged an invalidation that began as that attempt.
    pub(crate) fn paid(&self, target: &Target, attempt: Attempt) {
        let mut state = self.lock();
        match target {
            Target::All => {
                state.keys.retain(|_, owed| *owed > attempt);
                state.all.take_if(|owed| *owed <= attempt);
            }
            Target::Key(key) => {
                if state.keys.get(key).is_some_and(|owed| *owed <= attempt) {
                    state.keys.remove(key);
                }
            }
        }
        self.count(&state);
    }

    /// Whether the backend may hold of this key what an invalidation was to end.
    pub(crate) fn covers(&self, key: &KeyText) -> bool {
        if self.len() == 0 {
            return false;
        }
        let state = self.lock();
        state.all.is_some() || state.keys.contains_key(key)
    }

    /// Some of what is owed since before that attempt, at most `limit`.
    pub(crate) fn before(&self, attempt: Attempt, limit: usize) -> Vec<Target> {
        let state = self.lock();
        if state.all.is_some_and(|owed| owed < attempt) {
            return vec![Target::All];
        }
        let keys = state.keys.iter().filter(|(_, owed)| **owed < attempt);
        keys.take(limit)
            .map(|(key, _)| Target::Key(key.clone()))
            .collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Acquire)
    }

    fn count(&self, state: &State) {
        self.len.store(
            state.keys.len() + usize::from(state.all.is_some()),
            Ordering::Release,
        );
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn owe_all(&mut self, attempt: Attempt) {
        self.keys.clear();
        self.all = Some(attempt);
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("keys", &self.keys.len())
            .field("all", &self.all.is_some())
            .finish()
    }
}
