//! The line to one backend: what the caches of a manager that are on it have in common.
//!
//! They meet the same weather. So whether the backend is asked at all is decided for all of them together
//! ([`breaker`]), and one of them finding it gone spares the others the time. While the breaker is open a call costs the
//! look at a number: reads are misses without tokens, so that nothing is stored, and invalidations are owed at once. One
//! task ([`keeper`]) tries the backend meanwhile, pays what is owed when it answers, and then closes the breaker.

mod breaker;
mod keeper;
mod stores;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use tracing::{info, warn};

use self::{breaker::Breaker, keeper::Watch};
pub(crate) use self::{
    breaker::Pass,
    stores::{StorePlace, Stores},
};
use crate::{
    backend::{BackendError, BackendErrorKind, BackendHealth, BackendInstance, CacheBackend},
    cache::CacheInner,
};

/// Between two warnings of one kind, while what they say has not come to an end.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(60);

pub(crate) struct Line {
    backend: Arc<dyn CacheBackend>,
    breaker: Breaker,
    watch: Watch,
    pub(crate) stores: Stores,
    caches: Mutex<Vec<Weak<CacheInner>>>,
    /// Those that owe something. Nothing else may keep them any more, and what they owe is not to be lost with them.
    owing: Mutex<Vec<Arc<CacheInner>>>,
    /// Whether it was given up because it refuses this program.
    refused: AtomicBool,
    said: Mutex<Said>,
}

/// What was said about the backend, so that it is said once per change of state and never per call.
#[derive(Debug, Default)]
struct Said {
    /// Whether somebody was told of the failures there are.
    failing: bool,
    warned: Option<Instant>,
    full: Option<Instant>,
    crowded: Option<Instant>,
    /// Failures since the last warning.
    unsaid: u64,
}

impl Line {
    fn new(backend: Arc<dyn CacheBackend>) -> Self {
        Self {
            backend,
            breaker: Breaker::default(),
            watch: Watch::new(),
            stores: Stores::default(),
            caches: Mutex::default(),
            owing: Mutex::default(),
            refused: AtomicBool::new(false),
            said: Mutex::default(),
        }
    }

    pub(crate) fn add(&self, cache: &Arc<CacheInner>) {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        caches.push(Arc::downgrade(cache));
    }

    /// Keeps a cache until it owes nothing any more.
    pub(crate) fn hold(&self, cache: &Arc<CacheInner>) {
        let mut owing = self.owing.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.owes() && !owing.iter().any(|other| Arc::ptr_eq(other, cache)) {
            owing.push(Arc::clone(cache));
        }
    }

    /// Lets go of those that owe nothing any more.
    fn release(&self) {
        let mut owing = self.owing.lock().unwrap_or_else(PoisonError::into_inner);
        let paid: Vec<_> = owing.extract_if(.., |cache| !cache.owes()).collect();
        drop(owing);
        // Outside of the lock: it may be the last that holds the line.
        drop(paid);
    }

    fn caches(&self) -> Vec<Arc<CacheInner>> {
        let caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        caches.iter().filter_map(Weak::upgrade).collect()
    }

    /// Leave to ask the backend. `None`: it was given up, and is tried in the background.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<Pass> {
        let pass = self.breaker.admit();
        if pass.is_none() {
            self.keep();
        }
        pass
    }

    /// Notes that the backend has answered a request well.
    pub(crate) fn succeeded(&self, pass: Pass) {
        if self.breaker.succeeded(pass) {
            self.say_over();
        }
    }

    /// Notes that a request has failed.
    pub(crate) fn failed(self: &Arc<Self>, pass: Pass, cache: &str, error: &BackendError) {
        let opened = self.breaker.failed(pass);
        self.say_failing(cache, error, opened);
        if opened {
            self.refused.store(is_refusal(error), Ordering::Relaxed);
            self.keep();
        }
    }

    /// A store was refused because the backend is full. It answers, so that is no reason to give it up.
    pub(crate) fn say_full(&self, cache: &str, error: &BackendError) {
        if due(&mut self.said().full) {
            warn!(cache, backend = ?self.backend, %error, "the backend is full: it is read, and what it has no room for is not stored");
        }
    }

    /// A value found no place among those on their way into the backend.
    pub(crate) fn say_crowded(&self, cache: &str) {
        if due(&mut self.said().crowded) {
            warn!(cache, backend = ?self.backend, "the backend takes in less than is loaded: what is too much for it is not stored");
        }
    }

    /// How the backend is, as far as is known without asking it.
    pub(crate) fn health(&self) -> BackendHealth {
        match (self.breaker.is_open(), self.refused.load(Ordering::Relaxed)) {
            (false, _) => self.backend.health(),
            (true, true) => BackendHealth::Refused,
            (true, false) => BackendHealth::Down,
        }
    }

    /// A probe or a payment has failed. A refusal is for somebody to act on, so it is repeated from time to time.
    fn still_fails(&self, error: &BackendError) {
        let refused = is_refusal(error);
        self.refused.store(refused, Ordering::Relaxed);
        if refused && due(&mut self.said().warned) {
            warn!(backend = ?self.backend, %error, "the backend refuses this program: calls run their functions");
        }
    }

    fn answers_again(&self) {
        if self.breaker.close() {
            self.say_over();
        }
    }

    fn say_over(&self) {
        if std::mem::take(&mut self.said().failing) {
            info!(backend = ?self.backend, "the backend answers again");
        }
    }

    fn say_failing(&self, cache: &str, error: &BackendError, opened: bool) {
        let mut said = self.said();
        said.unsaid += 1;
        // A backend that fails now and then has no state that changes: it is mentioned once in a while. One that is given up is
        // mentioned in any case, unless that was done when it began.
        if !said.failing && (due(&mut said.warned) || opened) {
            said.failing = true;
            said.warned = Some(Instant::now());
            let failures = std::mem::take(&mut said.unsaid);
            warn!(cache, backend = ?self.backend, %error, failures, "the backend fails: calls that it does not answer run their functions");
        }
        if opened {
            info!(cache, backend = ?self.backend, "the backend is not asked any more until it answers");
        }
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_refusal(error: &BackendError) -> bool {
    error.kind() == BackendErrorKind::Refused
}

/// Whether to say something that was said at that time.
fn due(said: &mut Option<Instant>) -> bool {
    let due = said.is_none_or(|said| said.elapsed() >= BETWEEN_WARNINGS);
    if due {
        *said = Some(Instant::now());
    }
    due
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("backend", &self.backend)
            .field("breaker", &self.breaker)
            .field("stores", &self.stores)
            .finish_non_exhaustive()
    }
}

/// The lines of a manager.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(Arc<Mutex<HashMap<BackendInstance, Arc<Line>>>>);

impl Lines {
    /// The line to that backend. Handles of one backend have one line.
    pub(crate) fn to(&self, backend: &Arc<dyn CacheBackend>) -> Arc<Line> {
        // A line keeps its handle, so nothing else can come to be at that address.
        let instance = backend
            .instance()
            .unwrap_or_else(|| BackendInstance::of(backend));
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines
            .entry(instance)
            .or_insert_with(|| Arc::new(Line::new(Arc::clone(backend))));
        Arc::clone(line)
    }
}
