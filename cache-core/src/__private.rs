//! What the code that the attributes generate calls. Not for use by hand: it changes with the attributes, at any time.
//!
//! A function is wrapped in layers, each around the next, the innermost around its body: invalidations of whole caches,
//! invalidations of entries, then a load or a put. A layer is a step before what is within it, and a step after it:
//!
//! | attribute | before | after |
//! |---|---|---|
//! | `cache_result` | [`arrive`], [`Arrived::conclude`] | [`Leader::finish`] |
//! | `cache_put` | [`attempt_put`] | [`split`], [`Attempt::finish`], [`Attempt::fail`] |
//! | `cache_invalidate`, `cache_invalidate_all` | [`begin_change`], [`invalidate_before`] | [`split`], [`Change::finish`], [`Change::fail`] |
//! | the same with `when = "always"` | [`begin_change`] | [`keep`], [`value`], [`Change::finish`] |
//!
//! A step that may have to wait gives a [`Soon`], which is the same whatever the function. So all that is compiled for a function
//! are its body and a few calls.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

mod plan;

use std::sync::Arc;

use serde::Serialize;

pub use inventory;

use self::plan::Decided;
pub use self::plan::Plan;
pub use crate::{
    cache::{Arrived, Leader, Soon},
    key::{KeyError, KeyWriter},
    name::CacheName,
    registry::{KeyPart, Types},
    site::{Attribute, Site},
    value::{
        Answer, IsPlain, IsResult, Outcome, Probe, Returns, Storable, Unstored, ValueType,
        value_type,
    },
};
use crate::{
    cache::{CacheInner, Decision, Interrupted, Put, Target, TtlWith, Wish, cloned},
    key::KeyText,
    manager::CacheManager,
    memory::Made,
    value::{Keeping, ValueKind},
};

/// The questions to a [`Probe`], to be imported as a whole: some are always used, so that no lint has to be allowed, which
/// a user who forbids it would be told.
pub mod questions {
    pub use crate::value::{ContentOfAny, KeptAny, KeptOption, OutcomeOfPlain, ShareAny};
}

/// Finds out about a return type what its name does not say. Nothing of that happens when the program runs: the compiler is
/// asked for the type of something that is never computed.
///
/// `serde` asks whether the value has serde's traits, `share` whether the error can be given to those who wait. They are left
/// out for types that borrow: the compiler answers with lifetimes erased, which would be wrong.
#[doc(hidden)]
#[macro_export]
macro_rules! __returns {
    ($returned:ty, serde, share) => {
        $crate::__returns!(@ $returned, cache_kept, cache_share)
    };
    ($returned:ty, share) => {
        $crate::__returns!(@ $returned, cache_kept_here, cache_share)
    };
    ($returned:ty, serde) => {
        $crate::__returns!(@ $returned, cache_kept, cache_no_share)
    };
    ($returned:ty) => {
        $crate::__returns!(@ $returned, cache_kept_here, cache_no_share)
    };
    (@ $returned:ty, $kept:ident, $share:ident) => {{
        use $crate::__private::questions::*;
        if false {
            let __outcome = $crate::__private::Probe::<$returned>::NEW.cache_outcome();
            $crate::__private::Returns::of(
                __outcome,
                (&__outcome.value).$kept(),
                __outcome.error.$share(),
            )
        } else {
            $crate::__private::Returns::INFERRED
        }
    }};
}

/// The same for a function whose value is only looked at: it may be one that could not be stored, a reference, say.
#[doc(hidden)]
#[macro_export]
macro_rules! __outcome {
    ($returned:ty) => {{
        use $crate::__private::questions::*;
        if false {
            $crate::__private::Returns::unstored(
                $crate::__private::Probe::<$returned>::NEW.cache_outcome(),
            )
        } else {
            $crate::__private::Returns::INFERRED
        }
    }};
}

/// The type of the value in a return type, for [`Types`].
#[doc(hidden)]
#[macro_export]
macro_rules! __value_type {
    ($returned:ty, serde) => {
        $crate::__value_type!(@ $returned, cache_kept)
    };
    ($returned:ty) => {
        $crate::__value_type!(@ $returned, cache_kept_here)
    };
    (@ $returned:ty, $kept:ident) => {{
        use $crate::__private::questions::*;
        $crate::__private::value_type(if false {
            let __value = $crate::__private::Probe::<$returned>::NEW
                .cache_outcome()
                .value;
            ::core::option::Option::Some((__value.cache_content(), (&__value).$kept()))
        } else {
            ::core::option::Option::None
        })
    }};
}

/// What stands for an attribute, and makes it known before the program calls its function.
#[doc(hidden)]
#[macro_export]
macro_rules! __site {
    ($attribute:ident, $cache:expr, $function:literal, $managed:literal, $types:path $(,)?) => {{
        static __CACHE_SITE: $crate::__private::Site = $crate::__private::Site::new(
            $crate::__private::Attribute::$attribute,
            $cache,
            [::core::module_path!(), $function],
            ::core::line!(),
            $managed,
            $types,
        );
        $crate::__private::inventory::submit!(&__CACHE_SITE);
        &__CACHE_SITE
    }};
}

pub use crate::{
    __outcome as outcome, __returns as returns, __site as site, __value_type as value_type,
};

/// What an argument in the key has to be: a `Serialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key: it has no `Serialize`",
    label = "this is part of the key",
    note = "derive `serde::Serialize` for it; a type parameter needs that bound",
    note = "or make the key of what tells entries apart: mark those parameters with `#[cache_key]`, else every one is in the key, or write `key = …`"
)]
pub trait KeyArgument: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> KeyArgument for T {}

/// Adds a part to the key that a value gives.
///
/// # Errors
/// It has no canonical text.
pub fn key_part<T: KeyArgument + ?Sized>(
    writer: &mut KeyWriter<'_>,
    part: &T,
) -> Result<(), KeyError> {
    writer.part(part)
}

/// The key of the entry that a value is about.
type KeyWith<'f, V> = Option<&'f dyn Fn(&V, &mut KeyWriter<'_>) -> Result<(), KeyError>>;

/// Before the body of a `cache_result`: what the function returns, if that is at hand. The plan is of no more use then.
///
/// # Errors
/// What is to be waited for.
#[inline]
pub fn arrive<A>(plan: &mut Plan, _returns: A) -> Result<A::Returned, Soon<Arrived>>
where
    A: Answer<Value: Storable>,
{
    let Some(wanted) = A::wanted() else {
        return Err(Arrived::past());
    };
    match cloned(plan.look(&wanted.kind).value()) {
        Some(value) => Ok(A::Outcome::success(value)),
        None => Err(plan.arrive(&wanted)),
    }
}

/// Before the body of a `cache_put`.
pub fn attempt_put<A: Answer>(plan: Plan, _returns: A) -> Soon<Attempt> {
    attempt_put_as(plan, A::Keeping::kind())
}

fn attempt_put_as(plan: Plan, kind: Option<ValueKind>) -> Soon<Attempt> {
    let options = plan.options;
    let (Some((cache, Some(key))), Some(kind)) = (plan.decide(), kind) else {
        return Soon::now(Attempt(None));
    };
    let key = match key {
        Decided::Key(key) => Some(key),
        Decided::FromValue => None,
        Decided::All => return Soon::now(Attempt(None)),
    };
    // What goes wrong is counted and said; it is not the caller's.
    cache
        .attempt_put(key, kind, options.ttl)
        .map(|attempt| Attempt(attempt.ok().flatten()))
}

/// A put whose body runs.
pub struct Attempt(Option<Box<dyn Put>>);

impl Attempt {
    /// If it succeeded.
    pub fn finish<V: Storable>(self, value: &V) -> Soon<()> {
        self.end(value, Wish::USUAL, &|_| None)
    }

    /// The same where the options look at the value.
    pub fn finish_with<V: Storable>(
        self,
        value: &V,
        store_if: Decision<'_, V>,
        ttl_with: TtlWith<'_, V>,
        key_parts: usize,
        key_with: KeyWith<'_, V>,
    ) -> Soon<()> {
        // The options are not asked where the cache is not used.
        if self.0.is_none() {
            return Soon::now(());
        }
        let wish = Wish::of(value, store_if, ttl_with);
        self.end(value, wish, &|cache| {
            key_of_value(cache, value, key_parts, key_with)
        })
    }

    fn end(
        self,
        value: &dyn Made,
        wish: Wish,
        key: &dyn Fn(&CacheInner) -> Option<KeyText>,
    ) -> Soon<()> {
        match self.0 {
            Some(attempt) => attempt.finish(value, key, wish).map(drop),
            None => Soon::now(()),
        }
    }

    /// If it failed: nothing changes.
    pub fn fail(self) {
        if let Some(attempt) = self.0 {
            attempt.fail();
        }
    }
}

/// The whole of an invalidation with `when = "before"`.
pub fn invalidate_before(plan: Plan) -> Soon<()> {
    match plan.decide() {
        Some((cache, Some(Decided::Key(key)))) => end(&cache, Target::Key(key)),
        Some((cache, Some(Decided::FromValue | Decided::All))) => end(&cache, Target::All),
        // A key that has no text has no entry.
        Some((_, None)) | None => Soon::now(()),
    }
}

/// Before a body that changes what the caches hold.
pub fn begin_change(plan: Plan) -> Change {
    let Some((cache, Some(key))) = plan.decide() else {
        return Change(None);
    };
    let known = match key {
        Decided::Key(key) => Some(Target::Key(key)),
        Decided::All => Some(Target::All),
        Decided::FromValue => None,
    };
    Change(Some(Box::new(Invalidation {
        interrupted: Interrupted::new(&cache, known.clone().unwrap_or(Target::All)),
        cache,
        known,
    })))
}

/// An invalidation whose body runs.
pub struct Change(Option<Box<dyn Changes>>);

/// What an invalidation does when its body is over. It is an object for the reason that [`Leader`] gives.
trait Changes: Send {
    /// Nothing changes.
    fn disarm(self: Box<Self>);

    /// Ends what is to be ended. `by_value` gives it where it was not known before the body.
    fn end(self: Box<Self>, by_value: &dyn Fn(&CacheInner) -> Option<KeyText>) -> Soon<()>;
}

struct Invalidation {
    cache: Arc<CacheInner>,
    /// `None`: the value will tell.
    known: Option<Target>,
    interrupted: Interrupted,
}

impl Change {
    /// If it succeeded, or failed with `when = "always"`.
    pub fn finish(self) -> Soon<()> {
        self.finish_with(&(), &|_| true, 0, None)
    }

    /// The same where the options look at the value.
    pub fn finish_with<V>(
        self,
        value: &V,
        invalidate_if: Decision<'_, V>,
        key_parts: usize,
        key_with: KeyWith<'_, V>,
    ) -> Soon<()> {
        let Some(change) = self.0 else {
            return Soon::now(());
        };
        if !invalidate_if(value) {
            change.disarm();
            return Soon::now(());
        }
        change.end(&|cache| key_of_value(cache, value, key_parts, key_with))
    }

    /// If it failed: nothing changes.
    pub fn fail(self) {
        if let Some(change) = self.0 {
            change.disarm();
        }
    }
}

impl Changes for Invalidation {
    fn disarm(self: Box<Self>) {
        self.interrupted.disarm();
    }

    fn end(self: Box<Self>, by_value: &dyn Fn(&CacheInner) -> Option<KeyText>) -> Soon<()> {
        // A key that is not known may be any.
        let target = self
            .known
            .clone()
            .unwrap_or_else(|| by_value(&self.cache).map_or(Target::All, Target::Key));
        let ended = end(&self.cache, target);
        self.interrupted.disarm();
        ended
    }
}

/// The key that a value gives.
fn key_of_value<V>(
    cache: &CacheInner,
    value: &V,
    parts: usize,
    key_with: KeyWith<'_, V>,
) -> Option<KeyText> {
    let key_with = key_with?;
    cache.key_from(parts, &|writer| key_with(value, writer))
}

/// A failure is counted and said. The function has succeeded, whatever becomes of the cache.
fn end(cache: &Arc<CacheInner>, target: Target) -> Soon<()> {
    cache.invalidate(target).map(drop)
}

/// The value, if the function succeeded; else what it returned.
///
/// Only the value is kept while the future waits for the cache, so an error need not be `Send`.
pub fn split<A: Answer>(_returns: A, returned: A::Returned) -> Result<A::Value, A::Returned> {
    A::Outcome::split(returned)
}

/// The function's result that holds this value.
pub fn success<A: Answer>(_returns: A, value: A::Value) -> A::Returned {
    A::Outcome::success(value)
}

/// Boxes a value, or all that a function returned, so that the future grows by a pointer while it waits for the cache. If an
/// error in it is not `Send`, neither is the future then.
pub fn keep<R>(kept: R) -> Box<R> {
    Box::new(kept)
}

/// The value in what a function returned, if it succeeded.
pub fn value<A: Answer>(_returns: A, returned: &A::Returned) -> Option<&A::Value> {
    A::Outcome::value(returned)
}

/// Refuses, when compiled, that a function fills a cache and invalidates it afterwards.
///
/// # Panics
/// If they are one.
pub const fn caches_apart(filled: &str, ended: &str) {
    let (filled, ended) = (filled.as_bytes(), ended.as_bytes());
    if filled.len() != ended.len() {
        return;
    }
    let mut i = 0;
    while i < filled.len() {
        if filled[i] != ended[i] {
            return;
        }
        i += 1;
    }
    panic!(
        "this is the cache that the function fills, so it has to be invalidated before the body: name it in both attributes alike"
    );
}

/// States the type of a body. It is not called.
///
/// # Panics
/// If it were.
pub fn never<A: Answer>(_returns: A) -> A::Returned {
    unreachable!("the call of this is never reached")
}

/// `outcome!` for a return type without a name.
pub fn plain<R>() -> Unstored<IsPlain<R>> {
    Returns::INFERRED
}

/// The same for `Result<impl Trait, E>`.
pub fn fallible<T, E>() -> Unstored<IsResult<T, E>> {
    Returns::INFERRED
}

/// Takes what `manager = …` gives, a manager or a reference to one.
pub fn manager(manager: &CacheManager) -> &CacheManager {
    manager
}
