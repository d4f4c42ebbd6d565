//! Puts: values that supersede what is there and what is being loaded.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{CacheInner, Interrupted, Keep, Target};
use crate::{
    after_commit,
    backend::{Fence, FenceScope, NewEntry},
    codec::ValueForm,
    error::CacheError,
    flight::Presence,
    key::KeyText,
    memory::Held,
    value::{Outcome, Returns},
};

/// Where a put is to go.
pub(crate) enum PutKey<K> {
    Known(KeyText),
    /// From the value; without a key the whole cache is invalidated.
    FromValue(K),
}

/// A put whose body is about to run: what must not have changed when it is over.
struct PutAttempt {
    /// `None` while the key is not known.
    presence: Option<Presence>,
    epoch: u64,
    changes: u64,
    /// The tokens of the backend, if it has any; or why they are not known.
    fence: Result<Option<Fence>, CacheError>,
    /// What is left of the time that the caller waits for the backend.
    patience: Duration,
}

impl PutAttempt {
    /// Of a put that stores nothing.
    const fn none() -> Self {
        Self {
            presence: None,
            epoch: 0,
            changes: 0,
            fence: Ok(None),
            patience: Duration::ZERO,
        }
    }
}

impl CacheInner {
    /// Runs `body` and stores what it gives in place of what is there.
    pub(crate) async fn put<R, O, B, F, S, T, K>(
        self: &Arc<Self>,
        key: PutKey<K>,
        returns: Returns<R, O>,
        ttl: Option<Duration>,
        keep: Keep<S, T>,
        body: B,
    ) -> (R, Result<(), CacheError>)
    where
        O: Outcome<Returned = R, Value: Clone + Send + Sync + 'static>,
        B: FnOnce() -> F,
        F: Future<Output = R>,
        S: Fn(&O::Value) -> bool,
        T: Fn(&O::Value) -> Duration,
        K: Fn(&O::Value) -> Option<KeyText>,
    {
        if self.is_disabled() {
            return (body().await, Ok(()));
        }
        if let Err(error) = self.admit(&returns.value) {
            return (body().await, Err(error));
        }
        // The fence is made of what is known before the body: an invalidation, or another put, that comes while the body
        // runs may have seen newer data than the body did.
        let collecting = after_commit::is_collecting();
        let attempt = if collecting {
            PutAttempt::none()
        } else {
            self.attempt_put(&key).await
        };
        let interrupted = Interrupted::new(
            self,
            match &key {
                PutKey::Known(key) => Target::Key(key.clone()),
                PutKey::FromValue(_) => Target::All,
            },
        );
        let value = match O::split(body().await) {
            Ok(value) => value,
            Err(returned) => {
                interrupted.disarm();
                return (returned, Ok(()));
            }
        };
        let key = match key {
            PutKey::Known(key) => Some(key),
            PutKey::FromValue(key) => key(&value),
        };
        let outcome = match key {
            None => self
                .invalidate_within(Target::All, attempt.patience)
                .await
                .map(drop),
            Some(key) => match self.lifetime(&value, ttl, &keep, returns.value.is_none) {
                // Not to be stored, at least not before somebody else's commit; but what is there is no longer true.
                Some(_) if collecting => self.invalidate(Target::Key(key)).await.map(drop),
                None => self
                    .invalidate_within(Target::Key(key), attempt.patience)
                    .await
                    .map(drop),
                Some(lifetime) => {
                    self.finish_put(attempt, key, &value, returns.value.form, lifetime)
                        .await
                }
            },
        };
        interrupted.disarm();
        (O::success(value), outcome)
    }

    async fn attempt_put<K>(self: &Arc<Self>, key: &PutKey<K>) -> PutAttempt {
        let (epoch, changes) = (self.flights.epoch(), self.flights.changes());
        let presence = match key {
            PutKey::Known(key) => Some(self.flights.attend(key.as_str())),
            PutKey::FromValue(_) => None,
        };
        let (began, mut patience) = (Instant::now(), Duration::ZERO);
        let fence = match self.config.backend() {
            None => Ok(None),
            Some(backend) => {
                let request = async {
                    match key {
                        PutKey::Known(key) => backend
                            .load(self.id.entry(key.as_str()))
                            .await
                            .map(|loaded| loaded.fence),
                        PutKey::FromValue(_) => backend.load_cache_fence(&self.id).await,
                    }
                };
                let fence = self.ask(backend.read_budget(), request).await;
                patience = backend.read_budget().saturating_sub(began.elapsed());
                fence
            }
        };
        PutAttempt {
            presence,
            epoch,
            changes,
            fence,
            patience,
        }
    }

    async fn finish_put<V: Clone + Send + Sync + 'static>(
        self: &Arc<Self>,
        put: PutAttempt,
        key: KeyText,
        value: &V,
        form: Option<ValueForm<V>>,
        lifetime: Option<Duration>,
    ) -> Result<(), CacheError> {
        let PutAttempt {
            presence,
            epoch,
            changes,
            fence,
            patience,
        } = put;
        let scope = if presence.is_some() {
            FenceScope::Entry
        } else {
            FenceScope::Cache
        };
        // A key that was not known before the body has no slot to tell whether it changed; the cache as a whole does.
        let changes = presence.is_none().then_some(changes);
        let presence = presence.unwrap_or_else(|| self.flights.attend(key.as_str()));
        if let Some(memory) = &self.memory {
            let held = Held::new(value.clone(), epoch, lifetime, &self.clock);
            let mut removed = None;
            let stored = presence.settle_put(
                epoch,
                changes,
                || memory.insert(key.as_str(), held),
                || removed = memory.remove(key.as_str()),
            );
            self.count_store(stored);
            return Ok(());
        }
        let (Some(backend), Some(form)) = (self.config.backend(), form) else {
            return Ok(());
        };
        // First nobody joins what is under way; below, after the backend was told, once more for those who came in between.
        let unchanged = presence.settle_put(epoch, changes, || {}, || {});
        let fence = match fence {
            Ok(Some(fence)) if unchanged => fence,
            Ok(_) => {
                self.count_store(false);
                let ended = self.invalidate_within(Target::Key(key), patience).await;
                return ended.map(drop);
            }
            Err(error) => {
                self.counters.store_failures.one();
                let ended = self.invalidate_within(Target::Key(key), patience).await;
                return ended.and(Err(error));
            }
        };
        let new = match self.seal(&key, value, form, lifetime, fence) {
            Ok(new) => NewEntry { scope, ..new },
            Err(error) => {
                let ended = self.invalidate_within(Target::Key(key), patience).await;
                return ended.and(Err(error));
            }
        };
        let (cache, backend_of_task) = (Arc::clone(self), Arc::clone(backend));
        // What it is to supersede is no longer true, also if the put fails: then that is an invalidation which is owed. If it
        // does not, it covers those that are owed already: it replaces the stamp and the entry as they would.
        let superseded = Target::Key(key.clone());
        let attempt = self.owed.owe(&superseded);
        let work = async move {
            let request = backend_of_task.put(cache.id.entry(key.as_str()), new);
            let answer = cache.ask(backend_of_task.store_budget(), request).await;
            presence.settle_put(epoch, None, || {}, || {});
            match answer {
                Ok(_) => cache.owed.paid(&superseded, attempt),
                Err(_) => cache.recover(),
            }
            cache.stored(answer)
        };
        self.acknowledged(patience, work).await
    }
}
