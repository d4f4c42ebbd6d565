//! The life of one call.
//!
//! ```text
//! hit in memory ──────────────────────────────────────────────────────────► the value
//!   │ no                                                                      ▲
//! be present at the key ─► read the backend, within its budget ─► hit ────────┤
//!   │                        miss, or no answer                               │
//! enter the flights ─► somebody loads: wait ─► it landed ─────────────────────┤
//!   │                        it failed, was dropped: enter again              │
//! lead: run the body ─► `Err`: tell those who wait ──────────────────────────►│ the result
//!   │ a value                                                                 │
//! store in memory under the lock, or hand to a task that stores in the backend┘
//! ```
//!
//! No lock and no connection is held while a body runs.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, timeout};

use crate::{
    backend::{BackendError, BackendErrorKind, CacheBackend, CacheId, Fence, FenceScope, NewEntry},
    background::Background,
    clock::Clock,
    codec::{CodecError, ValueForm},
    complaint::{Complaint, Complaints},
    config::{EffectiveConfig, Store},
    entry::{self, Label},
    error::CacheError,
    flight::{Entered, Flights, Lead, Presence, Progress, Waited},
    key::{KeyError, KeySecret, KeyText, KeyWriter},
    limit,
    memory::{Held, Memory},
    random,
    stats::{CacheStats, Counters},
    value::{Outcome, Returns, ValueTraits, ValueType},
};

/// One cache of one manager. It does not know the type of its values; its callers do, and are all held to the first one's.
#[derive(Debug)]
pub(crate) struct CacheInner {
    id: CacheId,
    config: EffectiveConfig,
    flights: Arc<Flights>,
    /// Where values are kept in this process; `None` for a cache that is only in a backend, or disabled.
    memory: Option<Memory>,
    counters: Arc<Counters>,
    clock: Clock,
    background: Background,
    secret: Option<Arc<KeySecret>>,
    value_type: OnceLock<ValueType>,
    /// Of the value type; found out once.
    fingerprint: OnceLock<u64>,
    complaints: Complaints,
}

/// What all caches of a manager share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) background: Background,
    pub(crate) secret: Option<Arc<KeySecret>>,
}

/// What an attribute says about the entries it makes.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // for generated code
pub struct LoadOptions {
    pub ttl: Option<Duration>,
    pub lock_timeout: Option<Duration>,
}

/// What an invalidation ends.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Key(KeyText),
    All,
}

/// The answer of a backend to a look-up.
enum Read<V> {
    Hit(V),
    /// The tokens to store with; `None` if they are not known, and nothing may be stored.
    Miss(Option<Fence>),
}

impl CacheInner {
    pub(crate) fn new(name: &str, config: EffectiveConfig, shared: Shared) -> Self {
        let counters = Arc::<Counters>::default();
        let memory = matches!(config.store, Store::Memory).then(|| {
            Memory::new(
                config.max_capacity,
                config.time_to_idle,
                shared.clock.clone(),
                Arc::clone(&counters),
            )
        });
        Self {
            id: config.id(name),
            flights: Flights::new(),
            memory,
            counters,
            value_type: config.value_type.map_or_else(OnceLock::new, OnceLock::from),
            fingerprint: OnceLock::new(),
            complaints: Complaints::default(),
            clock: shared.clock,
            background: shared.background,
            secret: shared.secret,
            config,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.id.name()
    }

    pub(crate) fn config(&self) -> &EffectiveConfig {
        &self.config
    }

    pub(crate) fn stats(&self) -> CacheStats {
        self.counters
            .snapshot(self.memory.as_ref().map_or(0, Memory::len))
    }

    /// The text of a key given by hand, or why it has none.
    pub(crate) fn key<K: serde::Serialize + ?Sized>(&self, key: &K) -> Result<KeyText, CacheError> {
        KeyText::of(key, self.secret.as_deref()).map_err(|source| self.key_error(source))
    }

    /// The text of a key given in parts. Without one the call goes past the cache.
    pub(crate) fn key_of_parts(
        &self,
        parts: usize,
        write: impl FnOnce(&mut KeyWriter<'_>) -> Result<(), KeyError>,
    ) -> Option<KeyText> {
        KeyText::from_parts(parts, self.secret.as_deref(), write)
            .map_err(|source| self.key_error(source))
            .ok()
    }

    fn key_error(&self, source: KeyError) -> CacheError {
        let error = CacheError::Key {
            cache: self.name().to_owned(),
            source,
        };
        self.complaints
            .once(Complaint::Key, self.name(), || error.to_string());
        error
    }

    /// Counts a call that does not use the cache.
    pub(crate) fn bypass(&self) {
        self.counters.bypasses.one();
    }

    /// Holds the cache to a value type, for a handle.
    pub(crate) fn claim<V: 'static>(&self) -> Result<(), CacheError> {
        self.agree::<V>(ValueType::declared::<V>)
    }

    fn agree<V: 'static>(&self, first: impl FnOnce() -> ValueType) -> Result<(), CacheError> {
        let holds = self.value_type.get_or_init(first);
        if holds.is::<V>() {
            return Ok(());
        }
        let error = CacheError::ValueType {
            cache: self.name().to_owned(),
            holds: holds.name().to_owned(),
            wanted: std::any::type_name::<V>().to_owned(),
        };
        self.complaints
            .once(Complaint::ValueType, self.name(), || error.to_string());
        Err(error)
    }

    /// Whether calls with values of this type may use the cache.
    pub(crate) fn admit<V: 'static>(&self, traits: &ValueTraits<V>) -> Result<(), CacheError> {
        self.agree::<V>(|| ValueType::of::<V>(traits.form.is_some()))?;
        if self.config.backend().is_some() && traits.form.is_none() {
            let error = CacheError::NotSerializable {
                cache: self.name().to_owned(),
                value_type: std::any::type_name::<V>().to_owned(),
            };
            self.complaints
                .once(Complaint::NotSerializable, self.name(), || {
                    error.to_string()
                });
            return Err(error);
        }
        Ok(())
    }

    fn is_disabled(&self) -> bool {
        matches!(self.config.store, Store::Disabled)
    }

    fn counts(&self, held: &Held) -> bool {
        held.counts(self.flights.epoch(), &self.clock)
    }

    fn in_memory(&self, key: &KeyText) -> Option<Arc<Held>> {
        self.memory
            .as_ref()?
            .get(key.as_str(), self.flights.epoch())
    }

    /// Answers from the cache, or runs `body` and stores what it gives. Without a `place` it only runs the body.
    ///
    /// The future of every annotated function has this one in it, so what is long is boxed, the body with it: a function
    /// that calls annotated functions does not grow by them.
    #[allow(clippy::manual_async_fn)] // that would keep its arguments twice
    pub(crate) fn load<R, O, B, F, S, T>(
        place: Option<(Arc<Self>, KeyText)>,
        returns: Returns<R, O>,
        options: LoadOptions,
        keep: Keep<S, T>,
        body: B,
    ) -> impl Future<Output = R>
    where
        O: Outcome<Returned = R, Value: Clone + Send + Sync + 'static>,
        B: FnOnce() -> F,
        F: Future<Output = R>,
        S: Fn(&O::Value) -> bool,
        T: Fn(&O::Value) -> Duration,
    {
        async move {
            let Some((cache, key)) = place else {
                return Box::pin(body()).await;
            };
            if cache.is_disabled() || cache.admit(&returns.value).is_err() {
                cache.bypass();
                return Box::pin(body()).await;
            }
            if let Some(held) = cache.in_memory(&key)
                && let Some(value) = held.value::<O::Value>()
            {
                cache.counters.memory_hits.one();
                return O::success(value.clone());
            }
            Box::pin(cache.load_absent(key, returns, options, keep, body)).await
        }
    }

    async fn load_absent<R, O, B, F, S, T>(
        self: Arc<Self>,
        key: KeyText,
        returns: Returns<R, O>,
        options: LoadOptions,
        keep: Keep<S, T>,
        body: B,
    ) -> R
    where
        O: Outcome<Returned = R, Value: Clone + Send + Sync + 'static>,
        B: FnOnce() -> F,
        F: Future<Output = R>,
        S: Fn(&O::Value) -> bool,
        T: Fn(&O::Value) -> Duration,
    {
        let mut presence = self.flights.attend(key.as_str());
        let fence = match self.read(&key, returns.value.form).await {
            Read::Hit(value) => {
                self.counters.backend_hits.one();
                return O::success(value);
            }
            Read::Miss(fence) => fence,
        };
        let lock_timeout = self.lock_timeout(options.lock_timeout);
        // Set once this call has begun to wait: from then on it counts as coalesced, whatever comes.
        let mut waiting_since = None;
        loop {
            let held =
                match presence.enter(fence, |held| self.counts(held), || self.in_memory(&key)) {
                    Entered::Found(held) => {
                        if waiting_since.is_none() {
                            self.counters.memory_hits.one();
                        }
                        held
                    }
                    Entered::Lead(lead) => {
                        if waiting_since.is_none() {
                            self.counters.misses.one();
                        }
                        return self
                            .lead(&key, lead, returns, options.ttl, keep, body)
                            .await;
                    }
                    Entered::Join(waiter) => {
                        if waiting_since.is_none() {
                            self.counters.coalesced.one();
                        }
                        let since = *waiting_since.get_or_insert_with(Instant::now);
                        let (progress, back) = match waiter.wait(since, lock_timeout).await {
                            Waited::Over(progress, presence) => (progress, presence),
                            Waited::Lead(lead) => {
                                return self
                                    .lead(&key, lead, returns, options.ttl, keep, body)
                                    .await;
                            }
                        };
                        presence = back;
                        match progress {
                            Progress::Landed(held) => held,
                            Progress::Failed(Some(error)) => {
                                match returns.share.and_then(|share| (share.give)(&error)) {
                                    Some(returned) => return returned,
                                    None => continue,
                                }
                            }
                            Progress::Flying | Progress::Failed(None) | Progress::Abandoned => {
                                continue;
                            }
                        }
                    }
                };
            match held.value::<O::Value>() {
                Some(value) => return O::success(value.clone()),
                // All callers are held to one type, so this does not happen; if it did, the body would be right.
                None => return body().await,
            }
        }
    }

    /// Runs the body for everybody who wants this key. Dropped half-way, `lead` hands over to somebody who waits.
    async fn lead<R, O, B, F, S, T>(
        self: &Arc<Self>,
        key: &KeyText,
        lead: Lead,
        returns: Returns<R, O>,
        ttl: Option<Duration>,
        keep: Keep<S, T>,
        body: B,
    ) -> R
    where
        O: Outcome<Returned = R, Value: Clone + Send + Sync + 'static>,
        B: FnOnce() -> F,
        F: Future<Output = R>,
        S: Fn(&O::Value) -> bool,
        T: Fn(&O::Value) -> Duration,
    {
        self.counters.loads.one();
        let value = match O::split(body().await) {
            Ok(value) => value,
            Err(returned) => {
                self.counters.load_failures.one();
                lead.fail(returns.share.and_then(|share| (share.take)(&returned)));
                return returned;
            }
        };
        let lifetime = self.lifetime(&value, ttl, &keep, returns.value.is_none);
        let held = Held::new(
            value.clone(),
            lead.epoch(),
            lifetime.unwrap_or_default(),
            &self.clock,
        );
        let Some(lifetime) = lifetime else {
            lead.share(&held);
            return O::success(value);
        };
        if let (Some(backend), Some(form)) = (self.config.backend(), returns.value.form) {
            self.land_in_backend(backend, key, lead, held, form, lifetime)
                .await;
        } else if let Some(memory) = &self.memory {
            let landing = lead.land(&held, |held| memory.insert(key.as_str(), held));
            self.count_store(landing.allowed);
        }
        O::success(value)
    }

    /// Ends a load whose value goes to the backend: in a task of its own, while the landed flight answers for the key.
    async fn land_in_backend<V: Send + Sync + 'static>(
        self: &Arc<Self>,
        backend: &Arc<dyn CacheBackend>,
        key: &KeyText,
        lead: Lead,
        held: Arc<Held>,
        form: ValueForm<V>,
        lifetime: Option<Duration>,
    ) {
        let fence = lead.fence();
        let landing = lead.land(&held, drop);
        // Without tokens nothing may be stored; why there are none was counted when they were read.
        let Some(fence) = fence else { return };
        if !landing.allowed {
            return self.count_store(false);
        }
        let (cache, backend, key) = (Arc::clone(self), Arc::clone(backend), key.clone());
        let store = async move {
            let Some(value) = held.value::<V>() else {
                return;
            };
            if let Ok(new) = cache.seal(&key, value, form, lifetime, fence) {
                let request = backend.store(cache.id.entry(key.as_str()), new);
                let _ = cache.stored(limit::ask(backend.store_budget(), request).await);
            }
            drop(landing.presence);
        };
        if let Err(store) = self.background.spawn(store) {
            store.await;
        }
    }

    /// Looks a key up in the backend. Whatever goes wrong is counted and is a miss.
    async fn read<V: 'static>(&self, key: &KeyText, form: Option<ValueForm<V>>) -> Read<V> {
        let (Some(backend), Some(form)) = (self.config.backend(), form) else {
            return Read::Miss(None);
        };
        let request = backend.load(self.id.entry(key.as_str()));
        let answer = limit::ask(backend.read_budget(), request).await;
        let Some(loaded) = self.answered(answer).ok() else {
            return Read::Miss(None);
        };
        let Some(fence) = loaded.fence else {
            return Read::Miss(None);
        };
        let Some(bytes) = loaded.bytes else {
            return Read::Miss(Some(fence));
        };
        let Ok(opened) = entry::open(&bytes, &self.label(key, form)) else {
            self.unusable_entry();
            return Read::Miss(Some(fence));
        };
        if opened.epoch != fence.epoch {
            self.counters.stale.one();
            return Read::Miss(Some(fence));
        }
        // A `Deserialize` of a user may panic; a bad entry must not become a failing call.
        match catch_unwind(AssertUnwindSafe(|| {
            form.decode(&self.config.codec, opened.payload)
        })) {
            Ok(Ok(value)) => Read::Hit(value),
            Ok(Err(_)) | Err(_) => {
                self.unusable_entry();
                Read::Miss(Some(fence))
            }
        }
    }

    /// Notes an entry that is of no use to this program.
    fn unusable_entry(&self) {
        self.counters.decode_failures.one();
        self.complaints.once(Complaint::Entry, self.name(), || {
            "the backend holds an entry that is damaged, or of another type or version: such entries are misses and are overwritten".to_owned()
        });
    }

    /// The value of a key, without loading it.
    pub(crate) async fn get<V: Clone + Send + Sync + 'static>(
        self: &Arc<Self>,
        key: &KeyText,
        traits: ValueTraits<V>,
    ) -> Option<V> {
        if self.is_disabled() || self.admit(&traits).is_err() {
            self.bypass();
            return None;
        }
        if let Some(held) = self.in_memory(key) {
            self.counters.memory_hits.one();
            return held.value().cloned();
        }
        if self.config.backend().is_some() {
            let presence = self.flights.attend(key.as_str());
            match self.read(key, traits.form).await {
                Read::Hit(value) => {
                    self.counters.backend_hits.one();
                    return Some(value);
                }
                Read::Miss(fence @ Some(_)) => {
                    if let Some(held) = presence.landed(fence, |held| self.counts(held)) {
                        self.counters.memory_hits.one();
                        return held.value().cloned();
                    }
                }
                Read::Miss(None) => {}
            }
        }
        self.counters.misses.one();
        None
    }

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
        let attempt = self.attempt_put(&key).await;
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
                interrupted.did_not_happen();
                return (returned, Ok(()));
            }
        };
        let key = match key {
            PutKey::Known(key) => Some(key),
            PutKey::FromValue(key) => key(&value),
        };
        let outcome = match key {
            None => self.invalidate(Target::All).await.map(drop),
            Some(key) => match self.lifetime(&value, ttl, &keep, returns.value.is_none) {
                // Not to be stored; but what is there is no longer true.
                None => self.invalidate(Target::Key(key)).await.map(drop),
                Some(lifetime) => {
                    self.finish_put(attempt, key, &value, returns.value.form, lifetime)
                        .await
                }
            },
        };
        interrupted.did_not_happen();
        (O::success(value), outcome)
    }

    async fn attempt_put<K>(self: &Arc<Self>, key: &PutKey<K>) -> PutAttempt {
        let (epoch, changes) = (self.flights.epoch(), self.flights.changes());
        let presence = match key {
            PutKey::Known(key) => Some(self.flights.attend(key.as_str())),
            PutKey::FromValue(_) => None,
        };
        let fence = match self.config.backend() {
            None => None,
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
                self.answered(limit::ask(backend.read_budget(), request).await)
                    .ok()
                    .flatten()
            }
        };
        PutAttempt {
            presence,
            epoch,
            changes,
            fence,
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
        let Some(fence) = fence.filter(|_| unchanged) else {
            self.count_store(false);
            return self.invalidate(Target::Key(key)).await.map(drop);
        };
        let new = match self.seal(&key, value, form, lifetime, fence) {
            Ok(new) => NewEntry { scope, ..new },
            Err(error) => return self.invalidate(Target::Key(key)).await.and(Err(error)),
        };
        let (cache, backend_of_task) = (Arc::clone(self), Arc::clone(backend));
        let work = async move {
            let entry = cache.id.entry(key.as_str());
            let request = backend_of_task.put(entry, new);
            let budget = backend_of_task.store_budget();
            let answer = limit::ask(budget, request).await;
            if answer.is_err() {
                // What it was to supersede is no longer true all the same. The answer says already that something failed.
                let _ = limit::ask(budget, backend_of_task.invalidate(entry)).await;
            }
            presence.settle_put(epoch, None, || {}, || {});
            cache.stored(answer)
        };
        self.acknowledged(backend, work).await
    }

    /// Ends an entry, or all of them. Once begun it goes on to its end, even if the caller does not wait for it.
    ///
    /// Says whether there was an entry, as far as that is known.
    pub(crate) async fn invalidate(self: &Arc<Self>, target: Target) -> Result<bool, CacheError> {
        let there = self.begin_invalidation(&target);
        let Some(backend) = self.config.backend() else {
            return Ok(there);
        };
        self.acknowledged(
            backend,
            self.invalidate_backend(Arc::clone(backend), target),
        )
        .await
    }

    /// The same for somebody who cannot wait.
    fn invalidate_detached(self: &Arc<Self>, target: Target) {
        self.begin_invalidation(&target);
        let Some(backend) = self.config.backend() else {
            return;
        };
        if self
            .background
            .spawn(self.invalidate_backend(Arc::clone(backend), target))
            .is_err()
        {
            let error = BackendError::new(
                BackendErrorKind::Unavailable,
                "an invalidation was begun outside of a Tokio runtime",
            );
            let _ = self.answered::<()>(Err(error));
        }
    }

    fn begin_invalidation(&self, target: &Target) -> bool {
        if self.is_disabled() {
            return false;
        }
        self.counters.invalidations.one();
        self.forget(target)
    }

    /// Ends what this process has of an entry: the entry in memory, and the loads under way.
    fn forget(&self, target: &Target) -> bool {
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

    fn invalidate_backend(
        self: &Arc<Self>,
        backend: Arc<dyn CacheBackend>,
        target: Target,
    ) -> impl Future<Output = Result<bool, CacheError>> + Send + 'static {
        let cache = Arc::clone(self);
        async move {
            let request = async {
                match &target {
                    Target::Key(key) => backend.invalidate(cache.id.entry(key.as_str())).await,
                    Target::All => backend.invalidate_all(&cache.id).await.map(|()| true),
                }
            };
            let answer = limit::ask(backend.store_budget(), request).await;
            // Loads that began while the backend was being told have read the old tokens, or the old value.
            cache.forget(&target);
            cache.answered(answer)
        }
    }

    /// Ends the entries whose key text the predicate accepts.
    pub(crate) async fn invalidate_if(
        self: &Arc<Self>,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, CacheError> {
        let mut ended = 0;
        if self.is_disabled() {
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
            let answer = match limit::timers() {
                Ok(()) => backend.invalidate_if(&self.id, predicate).await,
                Err(error) => Err(error),
            };
            self.flights.invalidate_if(predicate);
            ended = self.answered(answer)?;
        }
        self.counters.invalidations.add(ended);
        Ok(ended)
    }

    /// Runs `work` to its end in a task of its own, and waits for it as long as a caller is to wait.
    async fn acknowledged<T: Send + 'static>(
        &self,
        backend: &Arc<dyn CacheBackend>,
        work: impl Future<Output = Result<T, CacheError>> + Send + 'static,
    ) -> Result<T, CacheError> {
        if !limit::has_timer() {
            // It ends at once, and says why.
            return work.await;
        }
        match self.background.spawn(work) {
            Err(work) => work.await,
            Ok(task) => match timeout(backend.read_budget(), task).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(self.backend_error(BackendError::new(
                    BackendErrorKind::Unavailable,
                    "the runtime ended before the backend had answered",
                ))),
                Err(_) => Err(self.backend_error(limit::overdue())),
            },
        }
    }

    fn lock_timeout(&self, attribute: Option<Duration>) -> Duration {
        attribute
            .filter(|_| !self.config.lock_timeout_is_own)
            .unwrap_or(self.config.lock_timeout)
            // An attribute's may be anything; a point in time has to come out of it.
            .min(crate::config::MAX_TTL)
    }

    /// For how long a value is to be kept; `None`: not at all; `Some(None)`: without limit.
    fn lifetime<V, S, T>(
        &self,
        value: &V,
        attribute: Option<Duration>,
        keep: &Keep<S, T>,
        is_none: fn(&V) -> bool,
    ) -> Option<Option<Duration>>
    where
        S: Fn(&V) -> bool,
        T: Fn(&V) -> Duration,
    {
        if !(keep.store_if)(value) {
            return None;
        }
        let own = attribute
            .filter(|_| !self.config.ttl_is_own)
            .or(self.config.ttl);
        let none = self.config.none_ttl.filter(|_| is_none(value));
        let asked = Some((keep.ttl_with)(value)).filter(|ttl| *ttl < crate::config::MAX_TTL);
        let Some(ttl) = [own, none, asked].into_iter().flatten().min() else {
            return Some(None);
        };
        let ttl = match self.config.ttl_jitter {
            share if share > 0.0 => ttl.mul_f64(1.0 - share * random::fraction()),
            _ => ttl,
        };
        // Less than a backend can count would be "for ever" on some and an error on others.
        (ttl >= Duration::from_millis(1)).then_some(Some(ttl))
    }

    fn label<V: 'static>(&self, key: &KeyText, form: ValueForm<V>) -> Label {
        let fingerprint = *self.fingerprint.get_or_init(|| form.fingerprint());
        Label::new(
            &self.config.codec,
            fingerprint,
            self.config.version,
            self.name(),
            key.as_str(),
        )
    }

    /// The bytes to store for a value, unless it cannot be stored: that is counted and said once.
    fn seal<V: 'static>(
        &self,
        key: &KeyText,
        value: &V,
        form: ValueForm<V>,
        ttl: Option<Duration>,
        fence: Fence,
    ) -> Result<NewEntry, CacheError> {
        // A `Serialize` of a user may panic, and the call has its value already.
        let payload = catch_unwind(AssertUnwindSafe(|| form.encode(&self.config.codec, value)))
            .unwrap_or(Err(CodecError::PANICKED))
            .map_err(|source| {
                self.counters.store_failures.one();
                let error = CacheError::Codec {
                    cache: self.name().to_owned(),
                    source,
                };
                self.complaints
                    .once(Complaint::Codec, self.name(), || error.to_string());
                error
            })?;
        let expires_at = ttl.map(|ttl| {
            self.clock
                .unix_millis()
                .saturating_add(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX))
        });
        let bytes: Bytes = entry::seal(payload, &self.label(key, form), fence.epoch, expires_at);
        let limit = self
            .config
            .backend()
            .map_or(usize::MAX, |backend| backend.max_value_bytes());
        if bytes.len() > limit {
            self.counters.store_failures.one();
            let error = CacheError::TooLarge {
                cache: self.name().to_owned(),
                bytes: bytes.len(),
                limit,
            };
            self.complaints
                .once(Complaint::Size, self.name(), || error.to_string());
            return Err(error);
        }
        Ok(NewEntry {
            bytes,
            ttl,
            fence,
            scope: FenceScope::Entry,
        })
    }

    /// Notes how a store ended.
    fn stored(&self, answer: Result<bool, BackendError>) -> Result<(), CacheError> {
        match self.answered(answer) {
            Ok(stored) => {
                self.count_store(stored);
                Ok(())
            }
            Err(error) => {
                self.counters.store_failures.one();
                Err(error)
            }
        }
    }

    fn count_store(&self, stored: bool) {
        if stored {
            self.counters.stores.one()
        } else {
            self.counters.stores_refused.one()
        }
    }

    /// Notes whether the backend answered.
    fn answered<T>(&self, answer: Result<T, BackendError>) -> Result<T, CacheError> {
        match answer {
            Ok(answer) => {
                self.complaints.backend_answered(self.name());
                Ok(answer)
            }
            Err(error) => {
                self.counters.backend_errors.one();
                self.complaints.backend_failed(self.name(), &error);
                Err(self.backend_error(error))
            }
        }
    }

    fn backend_error(&self, source: BackendError) -> CacheError {
        CacheError::Backend {
            cache: self.name().to_owned(),
            source,
        }
    }
}

/// What a function's options decide about a value: whether to keep it, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Keep<S, T> {
    pub(crate) store_if: S,
    pub(crate) ttl_with: T,
}

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
    fence: Option<Fence>,
}

/// Watches over a body that changes data. If it is dropped half-way, or panics, it may have written: what it was to
/// invalidate is invalidated.
pub(crate) struct Interrupted<'a> {
    cache: &'a Arc<CacheInner>,
    target: Option<Target>,
}

impl<'a> Interrupted<'a> {
    pub(crate) fn new(cache: &'a Arc<CacheInner>, target: Target) -> Self {
        Self {
            cache,
            target: Some(target),
        }
    }

    pub(crate) fn did_not_happen(mut self) {
        self.target = None;
    }
}

impl Drop for Interrupted<'_> {
    fn drop(&mut self) {
        if let Some(target) = self.target.take() {
            self.cache.invalidate_detached(target);
        }
    }
}
