//! What the code that the attributes generate calls. Not for use by hand: it changes with the attributes, at any time.
//!
//! A function is wrapped in layers, each around the next, the innermost around its body: invalidations of whole caches,
//! invalidations of entries, then a load or a put. A layer is a step before what is within it, and a step after it:
//!
//! | attribute | before | after |
//! |---|---|---|
//! | `cache_result` | [`arrive`], [`Arrived::conclude`] | [`Leader::finish`] |
//! | `cache_put` | [`attempt_put`] | [`Attempt::finish`], [`Attempt::fail`] |
//! | `cache_invalidate`, `cache_invalidate_all` | [`begin_change`], [`invalidate_before`] | [`Change::finish`], [`Change::fail`], [`Change::finish_failed`] |
//!
//! A step that may have to wait gives a [`Soon`], whatever the function. What is generic over its types never waits. So all
//! that is compiled for a function are its body and a few calls.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

use std::{any::TypeId, sync::Arc, time::Duration};

pub use inventory;

pub use crate::{
    cache::{Arrived, Leader, LoadOptions, Soon},
    key::{KeyError, KeyWriter},
    name::CacheName,
    registry::{KeyPart, Registration, Types},
    site::{Attribute, Site},
    value::{HIDDEN, IsPlain, IsResult, Outcome, Probe, Returns, ValueType, value_type},
};
use crate::{
    cache::{CacheInner, Interrupted, PutAttempt, PutKey, Target},
    key::KeyText,
    manager::CacheManager,
    memory::Held,
    value::ValueKind,
};

/// The questions to a [`Probe`], to be imported as a whole: some are always used, so that no lint has to be allowed, which
/// a user who forbids it would be told.
pub mod questions {
    pub use crate::value::{
        KeptAny, KeptOption, KeptSerde, KeptUnit, OutcomeOfPlain, OutcomeOfResult, ShareAny,
        ShareClone,
    };
}

/// Finds out about a return type what its name does not say.
///
/// `serde` asks whether the value has serde's traits, `share` whether the error can be given to those who wait. They are left
/// out for types that borrow: the compiler answers with lifetimes erased, which would be wrong.
#[doc(hidden)]
#[macro_export]
macro_rules! __returns {
    ($returned:ty, serde, share) => {
        $crate::__returns!(@ $returned, [&&&&], cache_share)
    };
    ($returned:ty, share) => {
        $crate::__returns!(@ $returned, [&&], cache_share)
    };
    ($returned:ty, serde) => {
        $crate::__returns!(@ $returned, [&&&&], cache_no_share)
    };
    ($returned:ty) => {
        $crate::__returns!(@ $returned, [&&], cache_no_share)
    };
    (@ $returned:ty, [$($borrows:tt)*], $share:ident) => {{
        use $crate::__private::questions::*;
        let outcome = (&&$crate::__private::Probe::<$returned>::NEW).cache_outcome();
        let (value, error) = (outcome.value_probe(), outcome.error_probe());
        $crate::__private::Returns::<$returned, _>::new(
            outcome,
            ($($borrows)* value).cache_kept(),
            (&&error).$share(),
        )
    }};
}

/// The same for a function whose value is only looked at: it may be one that could not be stored, a reference, say.
#[doc(hidden)]
#[macro_export]
macro_rules! __outcome {
    ($returned:ty) => {{
        use $crate::__private::questions::*;
        $crate::__private::Returns::<$returned, _>::unstored(
            (&&$crate::__private::Probe::<$returned>::NEW).cache_outcome(),
        )
    }};
}

/// The type of the value in a return type, for a registration.
#[doc(hidden)]
#[macro_export]
macro_rules! __value_type {
    ($returned:ty, serde) => {
        $crate::__value_type!(@ $returned, [&&&])
    };
    ($returned:ty) => {
        $crate::__value_type!(@ $returned, [&&])
    };
    (@ $returned:ty, [$($borrows:tt)*]) => {{
        use $crate::__private::questions::*;
        let value = (&&$crate::__private::Probe::<$returned>::NEW)
            .cache_outcome()
            .value_probe();
        $crate::__private::value_type(($($borrows)* value).cache_kept())
    }};
}

/// What stands for an attribute.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($attribute:ident, $cache:expr, $function:literal $(,)?) => {
        $crate::__private::Site::new(
            $crate::__private::Attribute::$attribute,
            $cache,
            ::core::concat!(::core::module_path!(), "::", $function),
        )
    };
}

/// Makes an attribute known before the program calls its function.
#[doc(hidden)]
#[macro_export]
macro_rules! __register {
    ($site:ident, $types:path, $managed:literal $(,)?) => {
        $crate::__private::inventory::submit! {
            $crate::__private::Registration {
                site: &$site,
                managed: $managed,
                line: ::core::line!(),
                types: $types,
            }
        }
    };
}

pub use crate::{
    __outcome as outcome, __register as register, __returns as returns, __site as site,
    __value_type as value_type,
};

/// One attribute's part in one call, as far as it is known before the body runs.
pub struct Plan {
    /// `None`: the attribute does nothing for this call.
    cache: Option<Arc<CacheInner>>,
    key: PlannedKey,
}

enum PlannedKey {
    Text(KeyText),
    /// The arguments have no canonical text.
    Unusable,
    FromValue,
    All,
}

impl Plan {
    /// The plan of an attribute that leaves manager and condition alone, as most do.
    pub fn usual(
        site: &'static Site,
        parts: usize,
        write: &dyn Fn(&mut KeyWriter<'_>) -> Result<(), KeyError>,
    ) -> Self {
        Self::keyed(site, None, true, parts, write)
    }

    /// For the entry whose key the arguments give.
    pub fn keyed(
        site: &'static Site,
        manager: Option<&CacheManager>,
        enabled: bool,
        parts: usize,
        write: &dyn Fn(&mut KeyWriter<'_>) -> Result<(), KeyError>,
    ) -> Self {
        let Some(cache) = site.resolve(manager) else {
            return Self {
                cache: None,
                key: PlannedKey::Unusable,
            };
        };
        if !enabled {
            return Self::idle(site, &cache);
        }
        let key = cache
            .key_of_parts(parts, write)
            .map_or(PlannedKey::Unusable, PlannedKey::Text);
        Self {
            cache: Some(cache),
            key,
        }
    }

    /// For the entry whose key the value will give.
    pub fn from_value(site: &'static Site, manager: Option<&CacheManager>, enabled: bool) -> Self {
        Self::unkeyed(site, manager, enabled, PlannedKey::FromValue)
    }

    /// For all entries.
    pub fn all(site: &'static Site, manager: Option<&CacheManager>, enabled: bool) -> Self {
        Self::unkeyed(site, manager, enabled, PlannedKey::All)
    }

    fn unkeyed(
        site: &'static Site,
        manager: Option<&CacheManager>,
        enabled: bool,
        key: PlannedKey,
    ) -> Self {
        match site.resolve(manager) {
            Some(cache) if enabled => Self {
                cache: Some(cache),
                key,
            },
            Some(cache) => Self::idle(site, &cache),
            None => Self { cache: None, key },
        }
    }

    /// Does nothing for this call, which counts if it would have been a look-up.
    fn idle(site: &'static Site, cache: &CacheInner) -> Self {
        if site.attribute() == Attribute::Result {
            cache.bypass();
        }
        Self {
            cache: None,
            key: PlannedKey::Unusable,
        }
    }
}

/// What the code of a function's options is.
type StoreIf<'f, V> = Option<&'f dyn Fn(&V) -> bool>;
type TtlWith<'f, V> = Option<&'f dyn Fn(&V) -> Duration>;
type KeyWith<'f, V> = Option<&'f dyn Fn(&V, &mut KeyWriter<'_>) -> Result<(), KeyError>>;

/// Before the body of a `cache_result`.
pub fn arrive<R, O: Outcome<Returned = R>>(
    plan: Plan,
    returns: Returns<R, O>,
    options: LoadOptions,
) -> Soon<Arrived> {
    arrive_as(
        plan,
        returns.kind,
        returns.share.map(|share| share.error),
        options,
    )
}

fn arrive_as(
    plan: Plan,
    kind: Option<ValueKind>,
    shares: Option<TypeId>,
    options: LoadOptions,
) -> Soon<Arrived> {
    let place = match (plan.cache, plan.key, kind) {
        (Some(cache), PlannedKey::Text(key), Some(kind)) => Some((cache, key, kind)),
        (Some(cache), _, _) => {
            cache.bypass();
            None
        }
        (None, _, _) => None,
    };
    CacheInner::arrive(place, shares, options)
}

/// Before the body of a `cache_put`.
pub fn attempt_put<R, O: Outcome<Returned = R>>(
    plan: Plan,
    returns: Returns<R, O>,
    options: LoadOptions,
) -> Soon<Attempt> {
    attempt_put_as(plan, returns.kind, options)
}

fn attempt_put_as(plan: Plan, kind: Option<ValueKind>, options: LoadOptions) -> Soon<Attempt> {
    let key = match plan.key {
        PlannedKey::Text(key) => Some(PutKey::Known(key)),
        PlannedKey::FromValue => Some(PutKey::FromValue),
        PlannedKey::Unusable | PlannedKey::All => None,
    };
    match (plan.cache, key, kind) {
        // What goes wrong is counted and said; it is not the caller's.
        (Some(cache), Some(key), Some(kind)) => cache
            .attempt_put(key, kind, options.ttl)
            .map(|attempt| Attempt(attempt.ok().flatten())),
        _ => Soon::now(Attempt(None)),
    }
}

/// A put whose body runs.
pub struct Attempt(Option<Box<PutAttempt>>);

impl Attempt {
    /// After a body that succeeded.
    pub fn finish<V: Clone + Send + Sync + 'static>(
        self,
        value: &V,
        store_if: StoreIf<'_, V>,
        ttl_with: TtlWith<'_, V>,
        key_parts: usize,
        key_with: KeyWith<'_, V>,
    ) -> Soon<()> {
        let Some(attempt) = self.0 else {
            return Soon::now(());
        };
        let store = store_if.is_none_or(|store_if| store_if(value));
        let asked = ttl_with.filter(|_| store).map(|ttl_with| ttl_with(value));
        let cache = Arc::clone(&attempt.cache);
        let key = || {
            let key_with = key_with?;
            cache.key_of_parts(key_parts, &|writer| key_with(value, writer))
        };
        attempt
            .finish(value, &key, store, asked, &|stamp| {
                Held::new(value.clone(), stamp)
            })
            .map(drop)
    }

    /// After one that failed.
    pub fn fail(self) {
        if let Some(attempt) = self.0 {
            attempt.fail();
        }
    }
}

/// The whole of an invalidation with `when = "before"`.
pub fn invalidate_before(plan: Plan) -> Soon<()> {
    let target = match plan.key {
        PlannedKey::Text(key) => Target::Key(key),
        PlannedKey::All | PlannedKey::FromValue => Target::All,
        PlannedKey::Unusable => return Soon::now(()),
    };
    match plan.cache {
        Some(cache) => end(&cache, target),
        None => Soon::now(()),
    }
}

/// Before a body that changes what the caches hold.
pub fn begin_change(plan: Plan) -> Change {
    let known = match plan.key {
        PlannedKey::Text(key) => Some(Target::Key(key)),
        PlannedKey::All => Some(Target::All),
        PlannedKey::FromValue => None,
        // A key that has no text has no entry.
        PlannedKey::Unusable => return Change(None),
    };
    Change(plan.cache.map(|cache| {
        Box::new(Invalidation {
            interrupted: Interrupted::new(&cache, known.clone().unwrap_or(Target::All)),
            cache,
            known,
        })
    }))
}

/// An invalidation whose body runs.
pub struct Change(Option<Box<Invalidation>>);

struct Invalidation {
    cache: Arc<CacheInner>,
    /// `None`: the value will tell.
    known: Option<Target>,
    interrupted: Interrupted,
}

impl Change {
    /// After a body that succeeded.
    pub fn finish<V>(
        self,
        value: &V,
        invalidate_if: StoreIf<'_, V>,
        key_parts: usize,
        key_with: KeyWith<'_, V>,
    ) -> Soon<()> {
        let Some(change) = self.0 else {
            return Soon::now(());
        };
        if !invalidate_if.is_none_or(|invalidate_if| invalidate_if(value)) {
            change.interrupted.disarm();
            return Soon::now(());
        }
        let by_value = || {
            let key_with = key_with?;
            let cache = &change.cache;
            cache.key_of_parts(key_parts, &|writer| key_with(value, writer))
        };
        // A key that is not known may be any.
        let target = change
            .known
            .clone()
            .unwrap_or_else(|| by_value().map_or(Target::All, Target::Key));
        change.end(target)
    }

    /// After one that failed.
    pub fn fail(self) {
        if let Some(change) = self.0 {
            change.interrupted.disarm();
        }
    }

    /// After one that failed, with `when = "always"`.
    ///
    /// Who waits for this has to keep the error meanwhile: it has to be `Send` if the future is to be.
    pub fn finish_failed(self) -> Soon<()> {
        match self.0 {
            Some(change) => {
                let target = change.known.clone().unwrap_or(Target::All);
                change.end(target)
            }
            None => Soon::now(()),
        }
    }
}

impl Invalidation {
    fn end(self, target: Target) -> Soon<()> {
        let ended = end(&self.cache, target);
        self.interrupted.disarm();
        ended
    }
}

/// A failure is counted and said. The function has succeeded, whatever becomes of the cache.
fn end(cache: &Arc<CacheInner>, target: Target) -> Soon<()> {
    cache.invalidate(target).map(drop)
}

/// `outcome!` for a return type without a name.
pub fn plain<R>() -> Returns<R, IsPlain<R>> {
    Returns::unstored(IsPlain::NEW)
}

/// The same for `Result<impl Trait, E>`.
pub fn fallible<T, E>() -> Returns<Result<T, E>, IsResult<T, E>> {
    Returns::unstored(IsResult::NEW)
}

/// Takes what `manager = …` gives, a manager or a reference to one.
pub fn manager(manager: &CacheManager) -> &CacheManager {
    manager
}
