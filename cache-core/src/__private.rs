//! What the code that the attributes generate calls. Not for use by hand: it changes with the attributes, at any time.
//!
//! A function is wrapped in layers, each around the next, the innermost around its body: invalidations of whole caches,
//! invalidations of entries, then a load or a put. A layer is given what makes the future within it, and not that future,
//! so that it can be made in a box: the future of a function has room for the outermost layer only.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

pub use inventory;

pub use crate::{
    cache::LoadOptions,
    key::{KeyError, KeyWriter},
    name::CacheName,
    registry::{KeyPart, Registration, Types},
    site::{Attribute, Site},
    value::{HIDDEN, IsPlain, IsResult, Outcome, Probe, Returns, ValueType, value_type},
};
use crate::{
    cache::{CacheInner, Interrupted, Keep, PutKey, Target},
    key::KeyText,
    manager::CacheManager,
};

/// The questions to a [`Probe`], to be imported as a whole: some are always used, so that no lint has to be allowed, which
/// a user who forbids it would be told.
pub mod questions {
    pub use crate::value::{
        FormOfAny, FormOfSerde, FormOfUnit, NoneOfAny, NoneOfOption, OutcomeOfPlain,
        OutcomeOfResult, ShareAny, ShareClone,
    };
}

/// Finds out about a return type what its name does not say.
///
/// `unserialized` and `unshared` leave a question out: whether the value has serde's traits, whether the error can be given to
/// those who wait. The compiler answers with lifetimes erased, which would be wrong for a type that borrows.
#[doc(hidden)]
#[macro_export]
macro_rules! __returns {
    ($returned:ty) => {
        $crate::__returns!(@ $returned, cache_form, cache_share)
    };
    ($returned:ty, unserialized) => {
        $crate::__returns!(@ $returned, cache_no_form, cache_share)
    };
    ($returned:ty, unshared) => {
        $crate::__returns!(@ $returned, cache_form, cache_no_share)
    };
    ($returned:ty, unserialized, unshared) => {
        $crate::__returns!(@ $returned, cache_no_form, cache_no_share)
    };
    (@ $returned:ty, $form:ident, $share:ident) => {{
        use $crate::__private::questions::*;
        let outcome = (&&$crate::__private::Probe::<$returned>::NEW).cache_outcome();
        let (value, error) = (outcome.value_probe(), outcome.error_probe());
        $crate::__private::Returns::<$returned, _>::new(
            outcome,
            (&&&value).$form(),
            (&&value).cache_is_none(),
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
    ($returned:ty) => {
        $crate::__value_type!(@ $returned, cache_form)
    };
    ($returned:ty, unserialized) => {
        $crate::__value_type!(@ $returned, cache_no_form)
    };
    (@ $returned:ty, $form:ident) => {{
        use $crate::__private::questions::*;
        let value = (&&$crate::__private::Probe::<$returned>::NEW)
            .cache_outcome()
            .value_probe();
        let form = (&&value).$form();
        $crate::__private::value_type(value, form)
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
        write: impl FnOnce(&mut KeyWriter<'_>) -> Result<(), KeyError>,
    ) -> Self {
        Self::keyed(site, None, true, parts, write)
    }

    /// For the entry whose key the arguments give.
    pub fn keyed(
        site: &'static Site,
        manager: Option<&CacheManager>,
        enabled: bool,
        parts: usize,
        write: impl FnOnce(&mut KeyWriter<'_>) -> Result<(), KeyError>,
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

/// `cache_result`.
pub fn load<R, O, B, F, S, T>(
    plan: Plan,
    returns: Returns<R, O>,
    options: LoadOptions,
    store_if: S,
    ttl_with: T,
    body: B,
) -> impl Future<Output = R>
where
    O: Outcome<Returned = R, Value: Clone + Send + Sync + 'static>,
    B: FnOnce() -> F,
    F: Future<Output = R>,
    S: Fn(&O::Value) -> bool,
    T: Fn(&O::Value) -> Duration,
{
    let place = match (plan.cache, plan.key) {
        (Some(cache), PlannedKey::Text(key)) => Some((cache, key)),
        (Some(cache), _) => {
            cache.bypass();
            None
        }
        (None, _) => None,
    };
    CacheInner::load(place, returns, options, Keep { store_if, ttl_with }, body)
}

/// `cache_put`.
#[allow(clippy::too_many_arguments)] // one for every option
pub fn put<R, O, B, F, S, T, K>(
    plan: Plan,
    returns: Returns<R, O>,
    options: LoadOptions,
    store_if: S,
    ttl_with: T,
    key_parts: usize,
    key_with: K,
    body: B,
) -> Pin<Box<impl Future<Output = R>>>
where
    O: Outcome<Returned = R, Value: Clone + Send + Sync + 'static>,
    B: FnOnce() -> F,
    F: Future<Output = R>,
    S: Fn(&O::Value) -> bool,
    T: Fn(&O::Value) -> Duration,
    K: Fn(&O::Value, &mut KeyWriter<'_>) -> Result<(), KeyError>,
{
    Box::pin(async move {
        let Some(cache) = plan.cache else {
            return body().await;
        };
        let key = match plan.key {
            PlannedKey::Text(key) => PutKey::Known(key),
            PlannedKey::FromValue => PutKey::FromValue(|value: &O::Value| {
                cache.key_of_parts(key_parts, |writer| key_with(value, writer))
            }),
            PlannedKey::Unusable | PlannedKey::All => return body().await,
        };
        // What went wrong was counted and said; it is not the caller's.
        cache
            .put(key, returns, options.ttl, Keep { store_if, ttl_with }, body)
            .await
            .0
    })
}

/// When an invalidation happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Success,
    Before,
}

/// `cache_invalidate` and `cache_invalidate_all`.
pub fn invalidate<R, O, B, F, C, K>(
    plan: Plan,
    _returns: Returns<R, O>,
    when: When,
    invalidate_if: C,
    key_parts: usize,
    key_with: K,
    body: B,
) -> Pin<Box<impl Future<Output = R>>>
where
    O: Outcome<Returned = R>,
    B: FnOnce() -> F,
    F: Future<Output = R>,
    C: Fn(&O::Value) -> bool,
    K: Fn(&O::Value, &mut KeyWriter<'_>) -> Result<(), KeyError>,
{
    Box::pin(async move {
        let Some(Invalidation { cache, known }) = Invalidation::planned(plan) else {
            return body().await;
        };
        if when == When::Before {
            let _ = cache.invalidate(known.unwrap_or(Target::All)).await;
            return body().await;
        }
        let interrupted = Interrupted::new(&cache, known.clone().unwrap_or(Target::All));
        let value = match O::split(body().await) {
            Ok(value) => value,
            Err(returned) => {
                interrupted.disarm();
                return returned;
            }
        };
        let target = invalidate_if(&value)
            .then(|| known.unwrap_or_else(|| key_of(&cache, &value, key_parts, key_with)));
        interrupted.disarm();
        if let Some(target) = target {
            // A failure was counted and said. The function has succeeded, whatever becomes of the cache.
            let _ = cache.invalidate(target).await;
        }
        O::success(value)
    })
}

/// The same with `when = "always"`. It alone has to keep an error while it waits for the backend: that error has to be `Send`
/// if the future is to be.
pub fn invalidate_always<R, O, B, F, C, K>(
    plan: Plan,
    _returns: Returns<R, O>,
    invalidate_if: C,
    key_parts: usize,
    key_with: K,
    body: B,
) -> Pin<Box<impl Future<Output = R>>>
where
    O: Outcome<Returned = R>,
    B: FnOnce() -> F,
    F: Future<Output = R>,
    C: Fn(&O::Value) -> bool,
    K: Fn(&O::Value, &mut KeyWriter<'_>) -> Result<(), KeyError>,
{
    Box::pin(async move {
        let Some(Invalidation { cache, known }) = Invalidation::planned(plan) else {
            return body().await;
        };
        let interrupted = Interrupted::new(&cache, known.clone().unwrap_or(Target::All));
        let (returned, target) = match O::split(body().await) {
            Ok(value) => {
                let target = invalidate_if(&value)
                    .then(|| known.unwrap_or_else(|| key_of(&cache, &value, key_parts, key_with)));
                (O::success(value), target)
            }
            Err(returned) => (returned, Some(known.unwrap_or(Target::All))),
        };
        interrupted.disarm();
        if let Some(target) = target {
            let _ = cache.invalidate(target).await;
        }
        returned
    })
}

/// An invalidation that is to happen.
struct Invalidation {
    cache: Arc<CacheInner>,
    /// `None`: the value will tell.
    known: Option<Target>,
}

impl Invalidation {
    fn planned(plan: Plan) -> Option<Self> {
        let known = match plan.key {
            PlannedKey::Text(key) => Some(Target::Key(key)),
            PlannedKey::All => Some(Target::All),
            PlannedKey::FromValue => None,
            // A key that has no text has no entry.
            PlannedKey::Unusable => return None,
        };
        Some(Self {
            cache: plan.cache?,
            known,
        })
    }
}

/// What a value says is to be invalidated. A key that is not known may be any.
fn key_of<V>(
    cache: &CacheInner,
    value: &V,
    parts: usize,
    key_with: impl Fn(&V, &mut KeyWriter<'_>) -> Result<(), KeyError>,
) -> Target {
    cache
        .key_of_parts(parts, |writer| key_with(value, writer))
        .map_or(Target::All, Target::Key)
}

/// `outcome!` for a return type without a name.
pub fn plain<R>() -> Returns<R, IsPlain<R>> {
    Returns::unstored(IsPlain::NEW)
}

/// The same for `Result<impl Trait, E>`.
pub fn fallible<T, E>() -> Returns<Result<T, E>, IsResult<T, E>> {
    Returns::unstored(IsResult::NEW)
}

/// `store_if` and `invalidate_if` where they are not written.
pub fn always<V>(_value: &V) -> bool {
    true
}

/// `ttl_with` where it is not written.
pub fn unlimited<V>(_value: &V) -> Duration {
    Duration::MAX
}

/// `key_with` where it is not written.
pub fn no_key<V>(_value: &V, _writer: &mut KeyWriter<'_>) -> Result<(), KeyError> {
    Ok(())
}

/// Takes what `manager = …` gives, a manager or a reference to one.
pub fn manager(manager: &CacheManager) -> &CacheManager {
    manager
}
