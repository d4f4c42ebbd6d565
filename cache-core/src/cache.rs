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

mod invalidate;
mod put;
mod recovery;
mod remote;

use std::{
    future::Future,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::Instant;

use self::remote::Read;
pub(crate) use self::{
    invalidate::{Interrupted, Target},
    put::PutKey,
};
use crate::{
    backend::CacheId,
    background::Background,
    clock::Clock,
    complaint::Complaints,
    config::{EffectiveConfig, MAX_TTL, Store},
    error::CacheError,
    flight::{Ended, Entered, Flights, Lead, Tokens, Waited},
    key::{KeyError, KeySecret, KeyText, KeyWriter},
    memory::{Held, Memory},
    owed::Owed,
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
    owed: Owed,
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
            owed: Owed::default(),
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
        let entries = self.memory.as_ref().map_or(0, Memory::len);
        self.counters
            .snapshot(entries, self.pending_invalidations())
    }

    /// How many invalidations the backend has not acknowledged.
    pub(crate) fn pending_invalidations(&self) -> u64 {
        self.owed.len() as u64
    }

    /// How many keys somebody is busy with.
    pub(crate) fn busy_keys(&self) -> usize {
        self.flights.len()
    }

    /// The text of a key given by hand, or why it has none.
    pub(crate) fn key<K: serde::Serialize + ?Sized>(&self, key: &K) -> Result<KeyText, CacheError> {
        KeyText::of(key, self.secret.as_deref()).map_err(|error| self.key_error(error))
    }

    /// The text of a key given in parts. Without one the call goes past the cache.
    pub(crate) fn key_of_parts(
        &self,
        parts: usize,
        write: impl FnOnce(&mut KeyWriter<'_>) -> Result<(), KeyError>,
    ) -> Option<KeyText> {
        KeyText::from_parts(parts, self.secret.as_deref(), write)
            .map_err(|error| self.key_error(error))
            .ok()
    }

    fn key_error(&self, error: KeyError) -> CacheError {
        self.complain(CacheError::Key {
            cache: self.name().to_owned(),
            error,
        })
    }

    /// Says, once, why something goes past the cache.
    fn complain(&self, error: CacheError) -> CacheError {
        self.complaints.error(self.name(), &error);
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
        Err(self.complain(CacheError::ValueType {
            cache: self.name().to_owned(),
            holds: holds.name().to_owned(),
            wanted: std::any::type_name::<V>().to_owned(),
        }))
    }

    /// Whether calls with values of this type may use the cache.
    pub(crate) fn admit<V: 'static>(&self, traits: &ValueTraits<V>) -> Result<(), CacheError> {
        self.agree::<V>(|| ValueType::of::<V>(traits.form.is_some()))?;
        if self.config.backend().is_some() && traits.form.is_none() {
            return Err(self.complain(CacheError::NotSerializable {
                cache: self.name().to_owned(),
                value_type: std::any::type_name::<V>().to_owned(),
            }));
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
        let tokens = match self.read(&key, returns.value.form).await {
            Read::Hit(value) => {
                self.counters.backend_hits.one();
                return O::success(value);
            }
            Read::Miss(tokens) => tokens,
        };
        let lock_timeout = self.lock_timeout(options.lock_timeout);
        // Set once this call has begun to wait: from then on it counts as coalesced, whatever comes.
        let mut waiting_since = None;
        loop {
            let held =
                match presence.enter(tokens, |held| self.counts(held), || self.in_memory(&key)) {
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
                        let (ended, back) = match waiter.wait(since, lock_timeout).await {
                            Waited::Over(ended, presence) => (ended, presence),
                            Waited::Lead(lead) => {
                                return self
                                    .lead(&key, lead, returns, options.ttl, keep, body)
                                    .await;
                            }
                        };
                        presence = back;
                        match ended {
                            Ended::Landed(held) => held,
                            Ended::Failed(Some(error)) => {
                                match returns.share.and_then(|share| (share.give)(&error)) {
                                    Some(returned) => return returned,
                                    None => continue,
                                }
                            }
                            Ended::Failed(None) | Ended::Abandoned => {
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
            // Without tokens nothing may be stored; why there are none was counted when they were read. Nor while an invalidation
            // of the key is owed. What is not stored is shared with those who wait, and not kept for those who come.
            let new = lead
                .fence()
                .filter(|_| !self.is_owed(key))
                .and_then(|fence| self.seal(key, &value, form, lifetime, fence).ok());
            let Some(new) = new else {
                lead.share(&held);
                return O::success(value);
            };
            let landing = lead.land(&held, drop);
            if landing.allowed {
                self.store_landed(backend, key, landing, new);
            } else {
                self.count_store(false);
            }
        } else if let Some(memory) = &self.memory {
            let landing = lead.land(&held, |held| memory.insert(key.as_str(), held));
            self.count_store(landing.allowed);
        }
        O::success(value)
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
                Read::Miss(tokens @ Tokens::Known(_)) => {
                    if let Some(held) = presence.landed(tokens, |held| self.counts(held)) {
                        self.counters.memory_hits.one();
                        return held.value().cloned();
                    }
                }
                Read::Miss(Tokens::Unknown | Tokens::Missing) => {}
            }
        }
        self.counters.misses.one();
        None
    }

    fn lock_timeout(&self, attribute: Option<Duration>) -> Duration {
        attribute
            .filter(|_| !self.config.lock_timeout_is_own)
            .unwrap_or(self.config.lock_timeout)
            // An attribute's may be anything; a point in time has to come out of it.
            .min(MAX_TTL)
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
        let asked = Some((keep.ttl_with)(value)).filter(|ttl| *ttl < MAX_TTL);
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
}

/// What a function's options decide about a value: whether to keep it, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Keep<S, T> {
    pub(crate) store_if: S,
    pub(crate) ttl_with: T,
}
