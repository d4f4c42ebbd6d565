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
//!
//! The steps stand in [`hit`], [`load`] (from `arrive` to `land`), [`remote`] (what is asked of the backend), [`put`] and [`invalidate`]; this
//! file is what they share.

mod hit;
mod invalidate;
mod load;
mod put;
mod recovery;
mod remote;
mod soon;

use std::{
    any::Any,
    sync::{Arc, OnceLock},
    time::Duration,
};

use self::remote::Read;
pub(crate) use self::{
    invalidate::{Interrupted, Target},
    load::{Decision, TtlWith, Wish, cloned},
    put::Put,
};
pub use self::{
    load::{Arrived, Leader},
    soon::Soon,
};
use crate::{
    after_commit,
    backend::CacheId,
    background::Background,
    clock::Clock,
    complaint::Complaints,
    config::{EffectiveConfig, MAX_TTL, Mode, Store},
    copies::Copies,
    entry::Labels,
    error::CacheError,
    flight::Flights,
    key::{KeyError, KeyParts, KeySecret, KeyText, KeyWriter},
    line::{Line, Lines},
    memory::{Held, Memory},
    owed::Owed,
    random,
    stats::{CacheStats, Counters},
    value::{ValueKind, ValueType},
};

/// One cache of one manager. It does not know the type of its values; its callers do, and are all held to the first one's.
#[derive(Debug)]
pub(crate) struct CacheInner {
    id: CacheId,
    config: EffectiveConfig,
    flights: Arc<Flights>,
    /// Where values are kept in this process; `None` for a cache that is only in a backend, or disabled.
    memory: Option<Memory>,
    /// Where copies of what is in the backend are kept, if it is asked to confirm them.
    copies: Option<Copies>,
    counters: Arc<Counters>,
    clock: Clock,
    background: Background,
    secret: Option<Arc<KeySecret>>,
    value_type: OnceLock<ValueType>,
    /// Of the entries; the fingerprint of the value type is found out once.
    labels: OnceLock<Labels>,
    complaints: Complaints,
    owed: Owed,
    /// To the backend, if the cache is on one.
    line: Option<Arc<Line>>,
}

/// What all caches of a manager share.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) background: Background,
    pub(crate) secret: Option<Arc<KeySecret>>,
    pub(crate) lines: Lines,
}

/// What an attribute says about the entries it makes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadOptions {
    pub(crate) ttl: Option<Duration>,
    pub(crate) lock_timeout: Option<Duration>,
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
        let copies = matches!(config.store, Store::Backend(Mode::Validated, _)).then(|| {
            Copies::new(
                config.max_capacity,
                shared.clock.clone(),
                Arc::clone(&counters),
            )
        });
        Self {
            id: config.id(name),
            flights: Flights::new(),
            memory,
            copies,
            counters,
            value_type: config.value_type.map_or_else(OnceLock::new, OnceLock::from),
            labels: OnceLock::new(),
            complaints: Complaints::default(),
            owed: Owed::default(),
            line: config.backend().map(|backend| shared.lines.to(backend)),
            clock: shared.clock,
            background: shared.background,
            secret: shared.secret,
            config,
        }
    }

    pub(crate) fn id(&self) -> &CacheId {
        &self.id
    }

    pub(crate) fn name(&self) -> &str {
        self.id.name()
    }

    pub(crate) fn config(&self) -> &EffectiveConfig {
        &self.config
    }

    pub(crate) fn stats(&self) -> CacheStats {
        let entries = self.memory.as_ref().map_or(0, Memory::len)
            + self.copies.as_ref().map_or(0, Copies::len);
        let backend = self.config.backend();
        let foreign = backend.map_or(0, |backend| backend.foreign_entries(&self.id));
        let stats = self
            .counters
            .snapshot(entries, self.pending_invalidations());
        CacheStats {
            decode_failures: stats.decode_failures + foreign,
            ..stats
        }
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
        KeyText::of(key, self.secret()).map_err(|error| self.key_error(error))
    }

    /// The key that was given in parts, once they are closed. Without a text the call goes past the cache.
    pub(crate) fn key_of(&self, parts: KeyParts) -> Option<KeyText> {
        parts
            .into_text()
            .map_err(|error| self.key_error(error))
            .ok()
    }

    /// The same for a key that `write` gives.
    pub(crate) fn key_from(
        &self,
        parts: usize,
        write: &dyn Fn(&mut KeyWriter<'_>) -> Result<(), KeyError>,
    ) -> Option<KeyText> {
        KeyText::from_parts(parts, self.secret(), write)
            .map_err(|error| self.key_error(error))
            .ok()
    }

    #[inline]
    pub(crate) fn secret(&self) -> Option<&KeySecret> {
        self.secret.as_deref()
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
        self.agree(ValueType::declared::<V>())
    }

    #[inline]
    fn agree(&self, wanted: ValueType) -> Result<(), CacheError> {
        let holds = self.value_type.get_or_init(|| wanted);
        if *holds == wanted {
            return Ok(());
        }
        self.disagree(*holds, wanted)
    }

    #[cold]
    fn disagree(&self, holds: ValueType, wanted: ValueType) -> Result<(), CacheError> {
        Err(self.complain(CacheError::ValueType {
            cache: self.name().to_owned(),
            holds: holds.name().to_owned(),
            wanted: wanted.name().to_owned(),
        }))
    }

    /// Whether calls with values of this type may use the cache.
    #[inline]
    pub(crate) fn admit(&self, kind: &ValueKind) -> Result<(), CacheError> {
        self.agree(kind.ty)?;
        if self.config.backend().is_some() && kind.form.is_none() {
            return Err(self.complain(CacheError::NotSerializable {
                cache: self.name().to_owned(),
                value_type: kind.ty.name().to_owned(),
            }));
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn is_disabled(&self) -> bool {
        matches!(self.config.store, Store::Disabled)
    }

    /// Whether calls go past the cache, here and now.
    #[inline]
    fn goes_past(&self) -> bool {
        self.is_disabled() || after_commit::is_collecting()
    }

    fn counts(&self, held: &Held) -> bool {
        held.counts(self.flights.epoch(), &self.clock)
    }

    fn lock_timeout(&self, attribute: Option<Duration>) -> Duration {
        attribute
            .filter(|_| !self.config.lock_timeout_is_own)
            .unwrap_or(self.config.lock_timeout)
            // An attribute's may be anything; a point in time has to come out of it.
            .min(MAX_TTL)
    }

    /// For how long a value is to be kept. `None`: not at all. `attribute` is what the attribute says for all values, `asked` what
    /// it says for this one.
    fn lifetime(
        &self,
        value: &dyn Any,
        kind: &ValueKind,
        attribute: Option<Duration>,
        asked: Option<Duration>,
    ) -> Option<Lifetime> {
        let own = attribute
            .filter(|_| !self.config.ttl_is_own)
            .or(self.config.ttl);
        let none = self.config.none_ttl.filter(|_| kind.is_none(value));
        let asked = asked.filter(|ttl| *ttl < MAX_TTL);
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

/// For how long a value is kept; `None`: without limit.
type Lifetime = Option<Duration>;
