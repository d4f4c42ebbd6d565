//! What a function returns, decided by its type.
//!
//! The attributes see tokens; whether `Lookup<User>` is a `Result`, whether its value can be serialised, whether its error
//! can be cloned, only the compiler knows. [`returns!`](crate::__private::returns) asks it by method resolution: a method that
//! only `Probe<specific>` has is found before one that a trait gives to `Probe<anything>`. In a generic function that sees
//! the bounds in scope, no more.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

use std::{
    any::{Any, TypeId, type_name},
    fmt,
    marker::PhantomData,
    sync::Arc,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{codec::Form, flight::SharedError};

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

/// A question about a type: `Probe::<T>::NEW.cache_question()`. The names are ones that no blanket trait of a user is likely to
/// have.
pub struct Probe<T>(PhantomData<fn() -> T>);

impl<T> Probe<T> {
    pub const NEW: Self = Self(PhantomData);
}

/// A question about the error of a `Result`.
pub struct ErrorProbe<T, E>(PhantomData<fn() -> (T, E)>);

/// The same question where there is no error.
pub struct NoErrorProbe<R>(PhantomData<fn() -> R>);

impl<T, E> Probe<Result<T, E>> {
    pub fn cache_outcome(&self) -> IsResult<T, E> {
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

/// How values of type `V` are kept.
pub struct Kept<V> {
    form: Option<&'static Form>,
    /// For values without a form.
    is_none: fn(&dyn Any) -> bool,
    value: PhantomData<fn() -> V>,
}

fn never_none(_value: &dyn Any) -> bool {
    false
}

impl<V> Kept<V> {
    /// In memory and in backends.
    pub(crate) fn anywhere() -> Self
    where
        V: Serialize + DeserializeOwned + Send + Sync + 'static,
    {
        Self {
            form: Some(Form::of::<V>()),
            is_none: never_none,
            value: PhantomData,
        }
    }

    pub(crate) fn in_memory() -> Self {
        Self {
            form: None,
            is_none: never_none,
            value: PhantomData,
        }
    }

    pub(crate) fn kind(&self) -> ValueKind
    where
        V: 'static,
    {
        ValueKind {
            ty: ValueType::of::<V>(self.form.is_some()),
            form: self.form,
            is_none: self.is_none,
        }
    }
}

impl<V: Serialize + DeserializeOwned + Send + Sync + 'static> Probe<V> {
    pub fn cache_kept(&self) -> Kept<V> {
        Kept::anywhere()
    }
}

pub trait KeptOption<V> {
    fn cache_kept(&self) -> Kept<V>;

    /// Without asking for serde's traits.
    fn cache_kept_here(&self) -> Kept<V> {
        self.cache_kept()
    }
}

impl<T: 'static> KeptOption<Option<T>> for Probe<Option<T>> {
    fn cache_kept(&self) -> Kept<Option<T>> {
        Kept {
            is_none: |value| {
                value
                    .downcast_ref::<Option<T>>()
                    .is_some_and(Option::is_none)
            },
            ..Kept::in_memory()
        }
    }
}

pub trait KeptAny<V> {
    fn cache_kept(&self) -> Kept<V>;

    /// Without asking for serde's traits.
    fn cache_kept_here(&self) -> Kept<V> {
        self.cache_kept()
    }
}

impl<V> KeptAny<V> for &Probe<V> {
    fn cache_kept(&self) -> Kept<V> {
        Kept::in_memory()
    }
}

/// There is something to keep.
pub struct Something;

/// There is `()` to keep, by whatever name.
pub struct Nothing;

impl Probe<()> {
    pub fn cache_content(&self) -> Nothing {
        Nothing
    }
}

pub trait ContentOfAny {
    fn cache_content(&self) -> Something {
        Something
    }
}

impl<V> ContentOfAny for Probe<V> {}

/// What a cache can hold.
#[diagnostic::on_unimplemented(
    message = "there is no value here to keep",
    label = "return a value, or remove the attribute",
    note = "`cache_invalidate` and `cache_invalidate_all` go with functions that only do something"
)]
pub trait Keepable {}

impl Keepable for Something {}

impl<T, E: Clone + Send + Sync + 'static> ErrorProbe<T, E> {
    pub fn cache_share(&self) -> Option<ShareError<Result<T, E>>> {
        Some(ShareError {
            error: TypeId::of::<E>(),
            take: take::<T, E>,
            give: give::<T, E>,
        })
    }
}

// Functions and not closures, and plain matches: each closure is one or two functions more to compile for every type.
fn take<T, E: Clone + Send + Sync + 'static>(returned: &Result<T, E>) -> Option<SharedError> {
    match returned {
        Ok(_) => None,
        Err(error) => Some(Arc::new(error.clone())),
    }
}

#[allow(clippy::manual_map)]
fn give<T, E: Clone + 'static>(shared: &SharedError) -> Option<Result<T, E>> {
    match shared.downcast_ref::<E>() {
        Some(error) => Some(Err(error.clone())),
        None => None,
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
pub fn value_type<V: 'static>(_content: impl Keepable, kept: Kept<V>) -> Option<ValueType> {
    Some(kept.kind().ty).filter(ValueType::is_named)
}

/// How an error gets from the function that failed to those who waited for it.
pub struct ShareError<R> {
    /// Functions that share a cache need not share their errors.
    pub(crate) error: TypeId,
    pub(crate) take: fn(&R) -> Option<SharedError>,
    pub(crate) give: fn(&SharedError) -> Option<R>,
}

impl<R> Clone for ShareError<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for ShareError<R> {}

/// What a cache knows of its values, which it does not name: so that the life of a call is compiled once, and not again for
/// every function.
#[derive(Clone, Copy)]
pub(crate) struct ValueKind {
    pub(crate) ty: ValueType,
    /// How a value is sent to a backend; `None`: it cannot be.
    pub(crate) form: Option<&'static Form>,
    is_none: fn(&dyn Any) -> bool,
}

impl ValueKind {
    /// Whether the value is `None`. One that serialises as `None` is one, behind an `Arc` too.
    pub(crate) fn is_none(&self, value: &dyn Any) -> bool {
        match self.form {
            Some(form) => (form.is_none)(value),
            None => (self.is_none)(value),
        }
    }
}

/// All that was found out about a return type.
pub struct Returns<R, O: Outcome<Returned = R>> {
    pub(crate) kind: Option<ValueKind>,
    pub(crate) share: Option<ShareError<R>>,
    outcome: PhantomData<fn() -> O>,
}

impl<R, O: Outcome<Returned = R>> Returns<R, O> {
    pub fn new(_outcome: O, kept: Kept<O::Value>, share: Option<ShareError<R>>) -> Self
    where
        O::Value: 'static,
    {
        Self::with(kept.kind(), share)
    }

    /// For values that are only looked at.
    pub fn unstored(_outcome: O) -> Self {
        Self {
            kind: None,
            share: None,
            outcome: PhantomData,
        }
    }

    pub(crate) fn with(kind: ValueKind, share: Option<ShareError<R>>) -> Self {
        Self {
            kind: Some(kind),
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
