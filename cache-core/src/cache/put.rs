//! Puts: values that supersede what is there and what is being loaded.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{CacheInner, Interrupted, Lifetime, Soon, Target, Wish};
use crate::{
    after_commit,
    backend::{Fence, FenceScope, NewEntry},
    error::CacheError,
    flight::Presence,
    key::KeyText,
    memory::{Made, Stamp},
    value::ValueKind,
};

/// A put whose body is about to run: what must not have changed when it is over.
///
/// The fence is made of what is known before the body: an invalidation, or another put, that comes while the body runs may
/// have seen newer data than the body did.
struct PutAttempt {
    cache: Arc<CacheInner>,
    key: Option<KeyText>,
    kind: ValueKind,
    ttl: Option<Duration>,
    /// `None` while the key is not known.
    presence: Option<Presence>,
    epoch: u64,
    changes: u64,
    /// The tokens of the backend, if it has any; or why they are not known.
    fence: Result<Option<Fence>, CacheError>,
    interrupted: Interrupted,
    /// Whether it happens within what waits for somebody else's commit: then nothing is stored.
    collecting: bool,
    /// What is left of the time that the caller waits for the backend.
    patience: Duration,
}

impl CacheInner {
    /// Begins a put; without a key if the value will give it. `None`: the cache is disabled.
    ///
    /// # Errors
    /// The cache is of another type.
    pub(crate) fn attempt_put(
        self: &Arc<Self>,
        key: Option<KeyText>,
        kind: ValueKind,
        ttl: Option<Duration>,
    ) -> Soon<Result<Option<Box<dyn Put>>, CacheError>> {
        if self.is_disabled() {
            return Soon::now(Ok(None));
        }
        if let Err(error) = self.admit(&kind) {
            return Soon::now(Err(error));
        }
        let collecting = after_commit::is_collecting();
        let (epoch, changes) = (self.flights.epoch(), self.flights.changes());
        let presence = key
            .as_ref()
            .filter(|_| !collecting)
            .map(|key| self.flights.attend(key.as_str()));
        let attempt = Box::new(PutAttempt {
            cache: Arc::clone(self),
            interrupted: Interrupted::new(self, key.clone().map_or(Target::All, Target::Key)),
            key,
            kind,
            ttl,
            presence,
            epoch,
            changes,
            fence: Ok(None),
            collecting,
            patience: Duration::ZERO,
        });
        if collecting || self.config.backend().is_none() {
            return Soon::now(Ok(Some(attempt)));
        }
        Soon::later(attempt.read_fence())
    }
}

/// A put whose body runs. It is an object for the reason that [`Leader`](super::Leader) gives.
pub(crate) trait Put: Send {
    /// The body failed: nothing changes.
    fn fail(self: Box<Self>);

    /// Stores the value that the body made. `key` gives its key where it was not known before.
    ///
    /// Once this returns, the put goes on to its end; the future only tells the outcome.
    fn finish(
        self: Box<Self>,
        value: &dyn Made,
        key: &dyn Fn(&CacheInner) -> Option<KeyText>,
        wish: Wish,
    ) -> Soon<Result<(), CacheError>>;
}

impl PutAttempt {
    async fn read_fence(mut self: Box<Self>) -> Result<Option<Box<dyn Put>>, CacheError> {
        let cache = &self.cache;
        if let Some(backend) = cache.config.backend() {
            let began = Instant::now();
            let request = async {
                match &self.key {
                    Some(key) => backend
                        .load(cache.id.entry(key.as_str()))
                        .await
                        .map(|loaded| loaded.fence),
                    None => backend.load_cache_fence(&cache.id).await,
                }
            };
            self.fence = cache.ask(backend.read_budget(), request).await;
            self.patience = backend.read_budget().saturating_sub(began.elapsed());
        }
        Ok(Some(self))
    }
}

impl Put for PutAttempt {
    fn fail(self: Box<Self>) {
        self.interrupted.disarm();
    }

    fn finish(
        self: Box<Self>,
        value: &dyn Made,
        key: &dyn Fn(&CacheInner) -> Option<KeyText>,
        wish: Wish,
    ) -> Soon<Result<(), CacheError>> {
        let cache = &self.cache;
        let instead = |target| {
            cache
                .invalidate_within(target, self.patience)
                .map(|ended| ended.map(drop))
        };
        let Some(key) = self.key.clone().or_else(|| key(cache)) else {
            let outcome = instead(Target::All);
            self.interrupted.disarm();
            return outcome;
        };
        let lifetime = (wish.store && !self.collecting)
            .then(|| cache.lifetime(value.any(), &self.kind, self.ttl, wish.ttl))
            .flatten();
        let Some(lifetime) = lifetime else {
            // Not to be stored, at least not before somebody else's commit; but what is there is no longer true.
            let outcome = instead(Target::Key(key));
            self.interrupted.disarm();
            return outcome;
        };
        self.store(key, value, lifetime)
    }
}

impl PutAttempt {
    fn store(
        self,
        key: KeyText,
        value: &dyn Made,
        lifetime: Lifetime,
    ) -> Soon<Result<(), CacheError>> {
        let Self {
            cache,
            kind,
            presence,
            epoch,
            changes,
            fence,
            interrupted,
            patience,
            ..
        } = self;
        let scope = if presence.is_some() {
            FenceScope::Entry
        } else {
            FenceScope::Cache
        };
        // A key that was not known before the body has no slot to tell whether it changed; the cache as a whole does.
        let changes = presence.is_none().then_some(changes);
        let presence = presence.unwrap_or_else(|| cache.flights.attend(key.as_str()));
        if let Some(memory) = &cache.memory {
            // A `Clone` of the user's: should it panic, what is there is ended.
            let held = value.hold(Stamp::new(epoch, lifetime, &cache.clock));
            interrupted.disarm();
            let mut removed = None;
            let stored = presence.settle_put(
                epoch,
                changes,
                || memory.insert(key.as_str().into(), held),
                || removed = memory.remove(key.as_str()),
            );
            cache.count_store(stored);
            return Soon::now(Ok(()));
        }
        // What follows goes on to its end by itself.
        interrupted.disarm();
        let (Some(backend), Some(form)) = (cache.config.backend(), kind.form) else {
            return Soon::now(Ok(()));
        };
        // First nobody joins what is under way; below, after the backend was told, once more for those who came in between.
        let unchanged = presence.settle_put(epoch, changes, || {}, || {});
        let instead = |outcome: Result<(), CacheError>| {
            cache
                .invalidate_within(Target::Key(key.clone()), patience)
                .map(|ended| ended.and(outcome))
        };
        let fence = match fence {
            Ok(Some(fence)) if unchanged => fence,
            Ok(_) => {
                cache.count_store(false);
                return instead(Ok(()));
            }
            Err(error) => {
                cache.counters.store_failures.one();
                return instead(Err(error));
            }
        };
        let new = match cache.seal(&key, value.any(), form, lifetime, fence) {
            Ok(new) => NewEntry { scope, ..new },
            Err(error) => return instead(Err(error)),
        };
        let (told, backend_of_task) = (Arc::clone(&cache), Arc::clone(backend));
        // What it is to supersede is no longer true, also if the put fails: then that is an invalidation which is owed. If it
        // does not, it covers those that are owed already: it replaces the stamp and the entry as they would.
        let superseded = Target::Key(key.clone());
        let attempt = cache.owed.owe(&superseded);
        let work = async move {
            let request = backend_of_task.put(told.id.entry(key.as_str()), new);
            let answer = told.ask(backend_of_task.store_budget(), request).await;
            presence.settle_put(epoch, None, || {}, || {});
            told.drop_copies(&superseded);
            match answer {
                Ok(_) => told.owed.paid(&superseded, attempt),
                Err(_) => told.recover(),
            }
            told.stored(answer)
        };
        cache.acknowledged(patience, work)
    }
}
