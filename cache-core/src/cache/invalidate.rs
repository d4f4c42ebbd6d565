//! Invalidations: of this process first, then of the backend, then of this process again.

use std::{future::Future, sync::Arc, time::Duration};

use super::{CacheInner, Soon};
use crate::{
    after_commit,
    backend::{BackendError, CacheBackend},
    error::CacheError,
    key::KeyText,
};

/// What an invalidation ends.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Key(KeyText),
    All,
}

impl CacheInner {
    /// Ends an entry, or all of them. Once this returns it goes on to its end; the future only says whether there was an entry,
    /// as far as that is known.
    pub(crate) fn invalidate(self: &Arc<Self>, target: Target) -> Soon<Result<bool, CacheError>> {
        let backend = self.config.backend();
        let limit = backend.map_or(Duration::ZERO, |backend| backend.read_budget());
        self.invalidate_within(target, limit)
    }

    /// The same for a caller who waits no longer than `limit` for the backend.
    pub(super) fn invalidate_within(
        self: &Arc<Self>,
        target: Target,
        limit: Duration,
    ) -> Soon<Result<bool, CacheError>> {
        if after_commit::collect(self, &target) {
            return Soon::now(Ok(false));
        }
        let there = self.begin_invalidation(&target);
        let Some(backend) = self.config.backend() else {
            return Soon::now(Ok(there));
        };
        if self.is_given_up() {
            self.owe(&target);
            return Soon::now(Err(self.given_up()));
        }
        let work = self.invalidate_backend(Arc::clone(backend), target);
        self.acknowledged(limit, work)
    }

    /// Leaves an invalidation to be made good.
    fn owe(self: &Arc<Self>, target: &Target) {
        self.owed.owe(target);
        self.recover();
    }

    /// The same for somebody who cannot wait.
    pub(crate) fn invalidate_detached(self: &Arc<Self>, target: Target) {
        drop(self.invalidate_within(target, Duration::ZERO));
    }

    fn begin_invalidation(&self, target: &Target) -> bool {
        if self.is_disabled() {
            return false;
        }
        self.counters.invalidations.one();
        self.forget(target)
    }

    /// Ends what this process has of an entry: the entry in memory, and the loads under way.
    pub(super) fn forget(&self, target: &Target) -> bool {
        self.drop_copies(target);
        match target {
            Target::Key(key) => {
                let removed = self.flights.invalidate(key.as_str(), || {
                    self.memory
                        .as_ref()
                        .and_then(|memory| memory.remove(key.as_str()))
                });
                removed.is_some_and(|held| self.counts(&held))
            }
            Target::All => {
                self.flights.invalidate_all();
                if let Some(memory) = &self.memory {
                    memory.clear();
                }
                true
            }
        }
    }

    /// Gives back what copies take that the backend will not confirm any more.
    pub(super) fn drop_copies(&self, target: &Target) {
        match (&self.copies, target) {
            (Some(copies), Target::Key(key)) => copies.forget(key.as_str()),
            (Some(copies), Target::All) => copies.clear(),
            (None, _) => {}
        }
    }

    fn invalidate_backend(
        self: &Arc<Self>,
        backend: Arc<dyn CacheBackend>,
        target: Target,
    ) -> impl Future<Output = Result<bool, CacheError>> + Send + 'static {
        let cache = Arc::clone(self);
        // Owed from now on, before anything can go wrong: also if this future is never polled.
        let attempt = self.owed.owe(&target);
        async move {
            let request = cache.request(&*backend, &target);
            let answer = cache.ask(backend.store_budget(), request).await;
            // Nothing rests on it, but their stores will be refused: who comes now need not wait for them.
            cache.forget(&target);
            match answer {
                Ok(_) => cache.owed.paid(&target, attempt),
                Err(_) => cache.recover(),
            }
            answer
        }
    }

    /// Tells the backend, and says whether there was an entry.
    pub(super) async fn request(
        &self,
        backend: &dyn CacheBackend,
        target: &Target,
    ) -> Result<bool, BackendError> {
        match target {
            Target::Key(key) => backend.invalidate(self.id.entry(key.as_str())).await,
            Target::All => backend.invalidate_all(&self.id).await.map(|()| true),
        }
    }

    /// Ends the entries whose key text the predicate accepts.
    pub(crate) async fn invalidate_if(
        self: &Arc<Self>,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, CacheError> {
        let mut ended = 0;
        // The predicate cannot be kept.
        if self.is_disabled() || after_commit::collect(self, &Target::All) {
            return Ok(ended);
        }
        // First the loads: one of them may not land once the walk through memory has passed its key.
        self.flights.invalidate_if(predicate);
        if let Some(memory) = &self.memory {
            for key in memory
                .keys(self.flights.epoch())
                .filter(|key| predicate(key))
            {
                let removed = self.flights.invalidate(&key, || memory.remove(&key));
                ended += u64::from(removed.is_some());
            }
        }
        if let Some(backend) = self.config.backend() {
            // As long as it takes: this one walks through all keys, and its caller wants to know the number.
            let answer = match self.admitted() {
                Ok((line, pass)) => {
                    let answer = backend.invalidate_if(&self.id, predicate).await;
                    self.answered(line, pass, answer)
                }
                Err(error) => Err(error),
            };
            self.flights.invalidate_if(predicate);
            // Which entries are left is not known, and the predicate cannot be kept: all of them are ended in time.
            ended = answer.inspect_err(|_| self.owe(&Target::All))?;
        }
        self.counters.invalidations.add(ended);
        Ok(ended)
    }
}

/// Watches over a body that changes data. If it is dropped half-way, or panics, it may have written: what it was to
/// invalidate is invalidated.
pub(crate) struct Interrupted {
    cache: Arc<CacheInner>,
    target: Option<Target>,
}

impl Interrupted {
    pub(crate) fn new(cache: &Arc<CacheInner>, target: Target) -> Self {
        Self {
            cache: Arc::clone(cache),
            target: Some(target),
        }
    }

    /// The body came to its end: nothing is to be done.
    pub(crate) fn disarm(mut self) {
        self.target = None;
    }
}

impl Drop for Interrupted {
    fn drop(&mut self) {
        if let Some(target) = self.target.take() {
            self.cache.invalidate_detached(target);
        }
    }
}
