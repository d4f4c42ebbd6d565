//! A call that reads: it gets a value, or leads the load that makes one.
//!
//! Everything here that can wait is compiled once. Of the type of the values it knows the [`ValueKind`]; what names the type
//! ([`Arrived::conclude`], [`Leader::finish`]) never waits, and is compiled once for a return type.

// For generated code, which is documented where it is generated.
#![allow(missing_debug_implementations)]

use std::{
    any::{Any, TypeId},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::{CacheInner, Lifetime, LoadOptions, Read, Soon};
use crate::{
    codec::AnyValue,
    copies::Copied,
    flight::{Ended, Entered, Lead, SharedError, Tokens, Waited, Waiter},
    key::KeyText,
    memory::{Held, Made, Stamp},
    value::{Answer, Outcome, Share, Storable, ValueKind},
};

/// Whether a value is to be kept, or whether it is a reason to invalidate.
pub(crate) type Decision<'f, V> = &'f dyn Fn(&V) -> bool;

/// For how long it is to be kept.
pub(crate) type TtlWith<'f, V> = Option<&'f dyn Fn(&V) -> Duration>;

/// What the options of a function say about its value.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) store: bool,
    pub(crate) ttl: Option<Duration>,
}

impl Wish {
    /// Where they say nothing.
    pub(crate) const USUAL: Self = Self {
        store: true,
        ttl: None,
    };

    pub(crate) fn of<V>(value: &V, store_if: Decision<'_, V>, ttl_with: TtlWith<'_, V>) -> Self {
        let store = store_if(value);
        // A plain match: a closure would be a function more to compile for every type.
        let ttl = match ttl_with {
            Some(ttl_with) if store => Some(ttl_with(value)),
            _ => None,
        };
        Self { store, ttl }
    }
}

/// A clone of a value that others have too; `None` if it is not a `V`.
// A plain match: a closure would be a function more to compile for every type.
#[inline]
pub(crate) fn cloned<V: Clone + 'static>(value: Option<&dyn Any>) -> Option<V> {
    match value {
        Some(value) => value.downcast_ref().cloned(),
        None => None,
    }
}

/// A call on its way to a value.
pub(super) struct Load {
    cache: Arc<CacheInner>,
    key: KeyText,
    kind: ValueKind,
    options: LoadOptions,
    /// The type of the errors it can take from another caller's load.
    shares: Option<TypeId>,
}

/// What a call that reads comes to.
pub struct Arrived(End);

enum End {
    /// A value of this process.
    Held(Arc<Held>),
    /// A value that was read for this call alone.
    Read(AnyValue),
    /// A value that the backend has confirmed.
    Copied(Copied),
    /// The error of the load that this call waited for.
    Failed(SharedError),
    /// The body has to run.
    Lead(Leader),
}

/// What there is in an [`End`] for a function to return. Apart from it, so that taking that to pieces is compiled once.
enum Given<'e> {
    /// A value that others have too, if there is one.
    Shared(Option<&'e dyn Any>),
    /// A value that this call has for itself.
    Own(&'e mut AnyValue),
    Error(&'e SharedError),
}

/// The call that runs the body, and its duties. Dropped, it hands over to somebody who waits.
///
/// `None`: it has none, the cache is not used.
///
/// What it has to do is an object, as with all that is kept while a body runs: that it is `Send` need not be found out for every
/// function again, from everything that a cache is made of.
pub struct Leader(Option<Box<dyn Leads>>);

/// What a [`Leader`] has to do.
trait Leads: Send {
    /// `error` is for those who wait.
    fn fail(self: Box<Self>, error: Option<SharedError>);

    fn succeed(self: Box<Self>, value: &dyn Made, wish: Wish);
}

struct Leading {
    cache: Arc<CacheInner>,
    key: KeyText,
    kind: ValueKind,
    ttl: Option<Duration>,
    lead: Lead,
}

impl CacheInner {
    /// Whether a call with values of this kind, here and now, uses the cache.
    #[inline]
    pub(crate) fn uses(&self, kind: &ValueKind) -> bool {
        !self.goes_past() && self.admit(kind).is_ok()
    }

    /// What a call does that found nothing in front. Without a key it goes past the cache.
    pub(crate) fn arrive(
        self: &Arc<Self>,
        key: Option<KeyText>,
        kind: ValueKind,
        shares: Option<TypeId>,
        options: LoadOptions,
    ) -> Soon<Arrived> {
        let Some(key) = key.filter(|_| self.uses(&kind)) else {
            self.bypass();
            return Arrived::past();
        };
        if let Some(held) = self.hit(&key) {
            return Arrived::hit(held);
        }
        let load = Load {
            cache: Arc::clone(self),
            key,
            kind,
            options,
            shares,
        };
        if self.memory.is_some() {
            load.enter()
        } else {
            Soon::later(load.run())
        }
    }

    /// The value of a key, without loading it.
    pub(crate) async fn get<V: Clone + Send + Sync + 'static>(
        self: &Arc<Self>,
        key: &KeyText,
        kind: ValueKind,
    ) -> Option<V> {
        if let Some(value) = cloned(self.hit_in_front(key.sought(), &kind).value()) {
            return Some(value);
        }
        if !self.uses(&kind) {
            self.bypass();
            return None;
        }
        if let Some(held) = self.hit(key) {
            return cloned(Some(held.value()));
        }
        if self.config.backend().is_some() {
            let presence = self.flights.attend(key.as_str());
            match self.read(key, &kind).await {
                Read::Hit(mut value) => {
                    self.counters.backend_hits.one();
                    return value.take();
                }
                Read::Confirmed(copied) => {
                    self.counters.backend_hits.one();
                    return cloned(copied.value());
                }
                Read::Miss(tokens @ Tokens::Known(_)) => {
                    if let Some(held) = presence.landed(tokens, |held| self.counts(held)) {
                        self.counters.memory_hits.one();
                        return cloned(Some(held.value()));
                    }
                }
                Read::Miss(Tokens::None | Tokens::Unknown | Tokens::Missing) => {}
            }
        }
        self.counters.misses.one();
        None
    }
}

impl Load {
    async fn run(self) -> Arrived {
        let Self { cache, key, .. } = &self;
        let presence = cache.flights.attend(key.as_str());
        let tokens = match cache.read(key, &self.kind).await {
            Read::Hit(value) => {
                cache.counters.backend_hits.one();
                return Arrived(End::Read(value));
            }
            Read::Confirmed(copied) => {
                cache.counters.backend_hits.one();
                return Arrived(End::Copied(copied));
            }
            Read::Miss(tokens) => tokens,
        };
        let entered = presence.enter(tokens, |held| cache.counts(held), || cache.look_again(key));
        self.count(&entered);
        match entered {
            Entered::Found(held) => Arrived(End::Held(held)),
            Entered::Lead(lead) => self.lead(lead),
            // Apart: what it takes to wait is more memory than all hits need, and than allocators give out without looking around.
            Entered::Join(waiter) => Box::pin(self.follow(waiter, tokens)).await,
        }
    }

    /// The same where there is no backend to read: only who joins a load has to wait.
    fn enter(self) -> Soon<Arrived> {
        let Self { cache, key, .. } = &self;
        let entered = cache.flights.enter(
            key.as_str(),
            |held| cache.counts(held),
            || cache.look_again(key),
        );
        self.count(&entered);
        match entered {
            Entered::Found(held) => Arrived::hit(held),
            Entered::Lead(lead) => Soon::now(self.lead(lead)),
            Entered::Join(waiter) => Soon::later(self.follow(waiter, Tokens::None)),
        }
    }

    /// Counts what the call comes to; one that joins a load counts as coalesced, whatever comes then.
    fn count(&self, entered: &Entered) {
        let counters = &self.cache.counters;
        match entered {
            Entered::Found(_) => drop(counters.memory_hits.one()),
            Entered::Lead(_) => counters.misses.one(),
            Entered::Join(_) => counters.coalesced.one(),
        }
    }

    /// Waits for somebody else's load, and for the next one if that gives nothing.
    async fn follow(self, mut waiter: Waiter, tokens: Tokens) -> Arrived {
        let Self { cache, key, .. } = &self;
        let lock_timeout = cache.lock_timeout(self.options.lock_timeout);
        let since = Instant::now();
        loop {
            let (ended, presence) = match waiter.wait(since, lock_timeout).await {
                Waited::Over(ended, presence) => (ended, presence),
                Waited::Lead(lead) => return self.lead(lead),
            };
            match ended {
                Ended::Landed(held) => return Arrived(End::Held(held)),
                Ended::Failed(Some(error)) if Some((*error).type_id()) == self.shares => {
                    return Arrived(End::Failed(error));
                }
                Ended::Failed(_) | Ended::Abandoned => {}
            }
            match presence.enter(tokens, |held| cache.counts(held), || cache.look_again(key)) {
                Entered::Found(held) => return Arrived(End::Held(held)),
                Entered::Lead(lead) => return self.lead(lead),
                Entered::Join(next) => waiter = next,
            }
        }
    }

    fn lead(self, lead: Lead) -> Arrived {
        self.cache.counters.loads.one();
        Arrived(End::Lead(Leader(Some(Box::new(Leading {
            cache: self.cache,
            key: self.key,
            kind: self.kind,
            ttl: self.options.ttl,
            lead,
        })))))
    }
}

impl Arrived {
    fn hit(held: Arc<Held>) -> Soon<Self> {
        Soon::now(Self(End::Held(held)))
    }

    /// For a call that goes past the cache.
    pub(crate) fn past() -> Soon<Self> {
        Soon::now(Self(End::Lead(Leader::PAST)))
    }

    /// What the function returns, or the leader of the load that is to make it.
    ///
    /// # Errors
    /// The body has to run.
    pub fn conclude<A>(mut self, _returns: A) -> Result<A::Returned, Leader>
    where
        A: Answer<Value: Storable>,
    {
        let value = match self.given() {
            Given::Shared(value) => cloned(value),
            Given::Own(value) => value.take(),
            Given::Error(error) => match A::Share::give(error) {
                Some(returned) => return Ok(returned),
                None => None,
            },
        };
        match value {
            Some(value) => Ok(A::Outcome::success(value)),
            None => Err(self.leader()),
        }
    }

    fn given(&mut self) -> Given<'_> {
        match &mut self.0 {
            End::Held(held) => Given::Shared(Some(held.value())),
            End::Copied(copied) => Given::Shared(copied.value()),
            End::Read(value) => Given::Own(value),
            End::Failed(error) => Given::Error(error),
            End::Lead(_) => Given::Shared(None),
        }
    }

    fn leader(self) -> Leader {
        match self.0 {
            End::Lead(leader) => leader,
            // All callers are held to one type, so this does not happen; if it did, the body would be right.
            _ => Leader::PAST,
        }
    }
}

impl Leader {
    const PAST: Self = Self(None);

    /// Whether there is nothing to do: then nothing is asked of what the body returned.
    fn is_past(&self) -> bool {
        self.0.is_none()
    }

    /// Ends the load with what the body returned.
    pub fn finish<A>(self, _returns: A, returned: A::Returned) -> A::Returned
    where
        A: Answer<Value: Storable>,
    {
        if self.is_past() {
            return returned;
        }
        match A::Outcome::value(&returned) {
            Some(value) => self.succeed(value, Wish::USUAL),
            None => self.fail(A::Share::take(&returned)),
        }
        returned
    }

    /// The same where the function's options look at the value.
    pub fn finish_with<A>(
        self,
        _returns: A,
        returned: A::Returned,
        store_if: Decision<'_, A::Value>,
        ttl_with: TtlWith<'_, A::Value>,
    ) -> A::Returned
    where
        A: Answer<Value: Storable>,
    {
        if self.is_past() {
            return returned;
        }
        match A::Outcome::value(&returned) {
            Some(value) => {
                let wish = Wish::of(value, store_if, ttl_with);
                self.succeed(value, wish);
            }
            None => self.fail(A::Share::take(&returned)),
        }
        returned
    }

    fn succeed(self, value: &dyn Made, wish: Wish) {
        if let Some(leads) = self.0 {
            leads.succeed(value, wish);
        }
    }

    fn fail(self, error: Option<SharedError>) {
        if let Some(leads) = self.0 {
            leads.fail(error);
        }
    }
}

impl Leads for Leading {
    fn fail(self: Box<Self>, error: Option<SharedError>) {
        self.cache.counters.load_failures.one();
        self.lead.fail(error);
    }

    fn succeed(self: Box<Self>, value: &dyn Made, wish: Wish) {
        let lifetime = wish
            .store
            .then(|| {
                self.cache
                    .lifetime(value.any(), &self.kind, self.ttl, wish.ttl)
            })
            .flatten();
        let held = value.hold(Stamp::new(
            self.lead.epoch(),
            lifetime.unwrap_or_default(),
            &self.cache.clock,
        ));
        self.land(&held, lifetime);
    }
}

impl Leading {
    /// Ends the load with a value. What has no lifetime is shared with those who wait, and not kept for those who come.
    fn land(self, held: &Arc<Held>, lifetime: Option<Lifetime>) {
        let Self {
            cache,
            key,
            kind,
            lead,
            ..
        } = self;
        let Some(lifetime) = lifetime else {
            return lead.share(held);
        };
        if let (Some(backend), Some(form)) = (cache.config.backend(), kind.form) {
            // Without tokens nothing may be stored; why there are none was counted when they were read. Nor while an invalidation
            // of the key is owed: other processes are spared a value that is about to be ended.
            let new = lead
                .fence()
                .filter(|_| !cache.is_owed(&key))
                .and_then(|fence| cache.to_store(&key, held.value(), form, lifetime, fence));
            let Some(new) = new else {
                return lead.share(held);
            };
            let landing = lead.land(held, |_, held| drop(held));
            if landing.allowed {
                cache.store_landed(backend, &key, landing, new);
            } else {
                cache.count_store(false);
            }
        } else if let Some(memory) = &cache.memory {
            let landing = lead.land(held, |key, held| memory.insert(Arc::clone(key), held));
            cache.count_store(landing.allowed);
        }
    }
}
