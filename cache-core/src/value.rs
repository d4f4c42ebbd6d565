//! What a function returns, decided by its type.
//!
//! The attributes see tokens; whether `Lookup<User>` is a `Result`, whether its value can be serialised, whether its error
//! can be cloned, only the compiler knows. [`returns!`](crate::__private::returns) asks it by method resolution: a trait
//! implemented for `&Probe<specific>` is found before one for `Probe<anything>` when the receiver is `&&Probe`. In a generic
//! function that sees the bounds in scope, no more.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

use std::{
    any::{Any, TypeId, type_name},
    fmt,
    marker::PhantomData,
    sync::Arc,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{codec::ValueForm, flight::SharedError};

/// How to see the value in what a function returned, and how to return a value that was not computed.
///
/// What is returned is an associated type and no parameter. Whether a future is `Send` is decided with every lifetime in
/// it taken for another one, those in `Box<dyn Error>` too: then a parameter would no longer match the type it came from.
pub trait Outcome: Copy {
    /// What the function returns.
    type Returned;

    /// The value: `T` of `Result<T, E>`, else the return type itself.
    type Value;

    /// The value, if the function succeeded; else what it returned.
    ///
    /// What is kept while the future waits for the cache is the value alone: an error need not be `Send`.
    fn split(returned: Self::Returned) -> Result<Self::Value, Self::Returned>;

    /// The function's result that holds this value.
    fn success(value: Self::Value) -> Self::Returned;
}

/// The function returns a `Result`.
pub struct IsResult<T, E>(PhantomData<fn() -> (T, E)>);

/// The function returns a plain value.
pub struct IsPlain<R>(PhantomData<fn() -> R>);

impl<T, E> Outcome for IsResult<T, E> {
    type Returned = Result<T, E>;
    type Value = T;

    fn split(returned: Result<T, E>) -> Result<T, Result<T, E>> {
        returned.map_err(Err)
    }

    fn success(value: T) -> Result<T, E> {
        Ok(value)
    }
}

impl<R> Outcome for IsPlain<R> {
    type Returned = R;
    type Value = R;

    fn split(returned: R) -> Result<R, R> {
        Ok(returned)
    }

    fn success(value: R) -> R {
        value
    }
}

impl<T, E> IsResult<T, E> {
    pub(crate) const NEW: Self = Self(PhantomData);

    pub fn value_probe(self) -> Probe<T> {
        Probe::NEW
    }

    pub fn error_probe(self) -> ErrorProbe<T, E> {
        ErrorProbe(PhantomData)
    }
}

impl<R> IsPlain<R> {
    pub(crate) const NEW: Self = Self(PhantomData);

    pub fn value_probe(self) -> Probe<R> {
        Probe::NEW
    }

    pub fn error_probe(self) -> NoErrorProbe<R> {
        NoErrorProbe(PhantomData)
    }
}

impl<T, E> Clone for IsResult<T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for IsResult<T, E> {}

impl<R> Clone for IsPlain<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for IsPlain<R> {}

/// A question about a type, to be asked with two borrows: `(&&Probe::<T>::NEW).cache_question()`. The names are ones that no
/// blanket trait of a user is likely to have.
pub struct Probe<T>(PhantomData<fn() -> T>);

impl<T> Probe<T> {
    pub const NEW: Self = Self(PhantomData);
}

/// A question about the error of a `Result`.
pub struct ErrorProbe<T, E>(PhantomData<fn() -> (T, E)>);

/// The same question where there is no error.
pub struct NoErrorProbe<R>(PhantomData<fn() -> R>);

pub trait OutcomeOfResult {
    type Outcome;
    fn cache_outcome(&self) -> Self::Outcome;
}

impl<T, E> OutcomeOfResult for &Probe<Result<T, E>> {
    type Outcome = IsResult<T, E>;
    fn cache_outcome(&self) -> Self::Outcome {
        IsResult::NEW
    }
}

pub trait OutcomeOfPlain {
    type Outcome;
    fn cache_outcome(&self) -> Self::Outcome;
}

impl<R> OutcomeOfPlain for Probe<R> {
    type Outcome = IsPlain<R>;
    fn cache_outcome(&self) -> Self::Outcome {
        IsPlain::NEW
    }
}

/// What was found out about how a value is kept.
#[diagnostic::on_unimplemented(
    message = "there is no value here to keep",
    label = "return a value, or remove the attribute",
    note = "`cache_invalidate` and `cache_invalidate_all` go with functions that only do something"
)]
pub trait Form<V> {
    fn into_form(self) -> Option<ValueForm<V>>;
}

impl<V> Form<V> for Option<ValueForm<V>> {
    fn into_form(self) -> Option<ValueForm<V>> {
        self
    }
}

/// The form of `()`, by whatever name: it is none.
pub struct NothingToKeep;

pub trait FormOfUnit {
    fn cache_form(&self) -> NothingToKeep;
}

impl FormOfUnit for &&Probe<()> {
    fn cache_form(&self) -> NothingToKeep {
        NothingToKeep
    }
}

pub trait FormOfSerde<V> {
    fn cache_form(&self) -> Option<ValueForm<V>>;
}

impl<V: Serialize + DeserializeOwned + 'static> FormOfSerde<V> for &Probe<V> {
    fn cache_form(&self) -> Option<ValueForm<V>> {
        Some(ValueForm::of())
    }
}

pub trait FormOfAny<V> {
    fn cache_form(&self) -> Option<ValueForm<V>>;

    /// Without asking.
    fn cache_no_form(&self) -> Option<ValueForm<V>> {
        None
    }
}

impl<V> FormOfAny<V> for Probe<V> {
    fn cache_form(&self) -> Option<ValueForm<V>> {
        None
    }
}

pub trait NoneOfOption<V> {
    fn cache_is_none(&self) -> fn(&V) -> bool;
}

impl<T> NoneOfOption<Option<T>> for &Probe<Option<T>> {
    fn cache_is_none(&self) -> fn(&Option<T>) -> bool {
        Option::is_none
    }
}

pub trait NoneOfAny<V> {
    fn cache_is_none(&self) -> fn(&V) -> bool;
}

impl<V> NoneOfAny<V> for Probe<V> {
    fn cache_is_none(&self) -> fn(&V) -> bool {
        |_| false
    }
}

pub trait ShareClone<R> {
    fn cache_share(&self) -> Option<ShareError<R>>;
}

impl<T, E: Clone + Send + Sync + 'static> ShareClone<Result<T, E>> for &ErrorProbe<T, E> {
    fn cache_share(&self) -> Option<ShareError<Result<T, E>>> {
        Some(ShareError {
            take: |returned| {
                returned
                    .as_ref()
                    .err()
                    .map(|error| Arc::new(error.clone()) as Arc<dyn Any + Send + Sync>)
            },
            give: |shared| shared.downcast_ref::<E>().map(|error| Err(error.clone())),
        })
    }
}

pub trait ShareAny<R> {
    fn cache_share(&self) -> Option<ShareError<R>>;

    /// Without asking.
    fn cache_no_share(&self) -> Option<ShareError<R>> {
        None
    }
}

impl<T, E> ShareAny<Result<T, E>> for ErrorProbe<T, E> {
    fn cache_share(&self) -> Option<ShareError<Result<T, E>>> {
        None
    }
}

impl<R> ShareAny<R> for NoErrorProbe<R> {
    fn cache_share(&self) -> Option<ShareError<R>> {
        None
    }
}

/// The type behind a probe, unless part of it could not be named where this was called.
pub fn value_type<V: 'static>(_probe: Probe<V>, form: Option<ValueForm<V>>) -> Option<ValueType> {
    Some(ValueType::of::<V>(form.is_some())).filter(ValueType::is_named)
}

/// How an error gets from the function that failed to those who waited for it.
pub struct ShareError<R> {
    pub(crate) take: fn(&R) -> Option<SharedError>,
    /// `None` where the error is of another type: functions that share a cache need not share their errors.
    pub(crate) give: fn(&SharedError) -> Option<R>,
}

impl<R> Clone for ShareError<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for ShareError<R> {}

/// What a cache has to know of its values beyond their type.
pub(crate) struct ValueTraits<V> {
    /// How a value is sent to a backend; `None`: it cannot be.
    pub(crate) form: Option<ValueForm<V>>,
    pub(crate) is_none: fn(&V) -> bool,
}

impl<V> ValueTraits<V> {
    /// A value that serialises as `None` is one, behind an `Arc` too. `is_none` is for values that do not serialise.
    pub(crate) fn new(form: Option<ValueForm<V>>, is_none: fn(&V) -> bool) -> Self {
        let is_none = form.map_or(is_none, |form| form.is_none);
        Self { form, is_none }
    }
}

impl<V> Clone for ValueTraits<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for ValueTraits<V> {}

/// All that was found out about a return type.
pub struct Returns<R, O: Outcome<Returned = R>> {
    pub(crate) value: ValueTraits<O::Value>,
    pub(crate) share: Option<ShareError<R>>,
    outcome: PhantomData<fn() -> O>,
}

impl<R, O: Outcome<Returned = R>> Returns<R, O> {
    pub fn new(
        _outcome: O,
        form: impl Form<O::Value>,
        is_none: fn(&O::Value) -> bool,
        share: Option<ShareError<R>>,
    ) -> Self {
        Self::with(ValueTraits::new(form.into_form(), is_none), share)
    }

    /// For values that are only looked at.
    pub fn unstored(_outcome: O) -> Self {
        Self::with(ValueTraits::new(None, |_| false), None)
    }

    pub(crate) fn with(value: ValueTraits<O::Value>, share: Option<ShareError<R>>) -> Self {
        Self {
            value,
            share,
            outcome: PhantomData,
        }
    }

    /// Has the compiler check that the name is of a cache of these values.
    #[must_use]
    pub fn names(self, _name: &crate::CacheName<O::Value>) -> Self {
        self
    }
}

impl<R, O: Outcome<Returned = R>> Clone for Returns<R, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, O: Outcome<Returned = R>> Copy for Returns<R, O> {}

/// What stands in the name of a type that could not be named where functions register themselves.
pub const HIDDEN: &str = "__cache_hidden";

/// The type of a cache's values.
#[derive(Clone, Copy)]
pub struct ValueType {
    id: TypeId,
    name: &'static str,
    /// `None`: not known, because the type was only declared.
    serializable: Option<bool>,
}

impl ValueType {
    pub(crate) fn of<V: 'static>(serializable: bool) -> Self {
        Self {
            id: TypeId::of::<V>(),
            name: type_name::<V>(),
            serializable: Some(serializable),
        }
    }

    pub(crate) fn declared<V: 'static>() -> Self {
        Self {
            id: TypeId::of::<V>(),
            name: type_name::<V>(),
            serializable: None,
        }
    }

    pub(crate) fn is<V: 'static>(&self) -> bool {
        self.id == TypeId::of::<V>()
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it is known that values of this type cannot be sent to a backend.
    pub(crate) fn is_not_serializable(&self) -> bool {
        self.serializable == Some(false)
    }

    /// Whether all of the type could be named.
    fn is_named(&self) -> bool {
        !self.name.contains(HIDDEN)
    }
}

impl PartialEq for ValueType {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl fmt::Debug for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
