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

/// How the values of a function are kept. It is a type, of which nothing is there when the program runs.
pub trait Kept: Copy {
    /// `None`: they are not.
    fn kind() -> Option<ValueKind>;
}

/// Values that are only looked at.
#[derive(Clone, Copy)]
pub struct Unkept;

/// In memory and in backends.
pub struct Anywhere<V>(PhantomData<fn() -> V>);

/// In memory.
pub struct Here<V>(PhantomData<fn() -> V>);

/// In memory, and known to be an `Option`.
pub struct OptionHere<T>(PhantomData<fn() -> T>);

impl<V> Clone for Anywhere<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Anywhere<V> {}

impl<V> Clone for Here<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Here<V> {}

impl<T> Clone for OptionHere<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for OptionHere<T> {}

impl Kept for Unkept {
    fn kind() -> Option<ValueKind> {
        None
    }
}

impl<V: Serialize + DeserializeOwned + Send + Sync + 'static> Kept for Anywhere<V> {
    fn kind() -> Option<ValueKind> {
        Some(ValueKind::anywhere::<V>())
    }
}

impl<V: 'static> Kept for Here<V> {
    fn kind() -> Option<ValueKind> {
        Some(ValueKind::here::<V>(never_none))
    }
}

impl<T: 'static> Kept for OptionHere<T> {
    fn kind() -> Option<ValueKind> {
        Some(ValueKind::here::<Option<T>>(|value| {
            value
                .downcast_ref::<Option<T>>()
                .is_some_and(Option::is_none)
        }))
    }
}

impl<V: Serialize + DeserializeOwned + Send + Sync + 'static> Probe<V> {
    pub fn cache_kept(&self) -> Anywhere<V> {
        Anywhere(PhantomData)
    }
}

pub trait KeptOption<T> {
    fn cache_kept(&self) -> OptionHere<T> {
        OptionHere(PhantomData)
    }

    /// Without asking for serde's traits.
    fn cache_kept_here(&self) -> OptionHere<T> {
        OptionHere(PhantomData)
    }
}

impl<T: 'static> KeptOption<T> for Probe<Option<T>> {}

pub trait KeptAny<V> {
    fn cache_kept(&self) -> Here<V> {
        Here(PhantomData)
    }

    /// Without asking for serde's traits.
    fn cache_kept_here(&self) -> Here<V> {
        Here(PhantomData)
    }
}

impl<V> KeptAny<V> for &Probe<V> {}

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

/// Whether the error of a function that failed gets to those who waited for it, and how. A type, as [`Kept`] is.
pub trait Share: Copy {
    type Returned;

    /// The type of the error, if it can be shared. Functions that share a cache need not share their errors.
    fn error() -> Option<TypeId> {
        None
    }

    fn take(_returned: &Self::Returned) -> Option<SharedError> {
        None
    }

    fn give(_error: &SharedError) -> Option<Self::Returned> {
        None
    }
}

/// The error of a `Result<T, E>` can be shared.
pub struct Shared<T, E>(PhantomData<fn() -> (T, E)>);

/// There is none, or it cannot.
pub struct Unshared<R>(PhantomData<fn() -> R>);

impl<T, E> Clone for Shared<T, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, E> Copy for Shared<T, E> {}

impl<R> Clone for Unshared<R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Unshared<R> {}

// Plain matches: each closure is one or two functions more to compile for every type.
impl<T, E: Clone + Send + Sync + 'static> Share for Shared<T, E> {
    type Returned = Result<T, E>;

    fn error() -> Option<TypeId> {
        Some(TypeId::of::<E>())
    }

    fn take(returned: &Result<T, E>) -> Option<SharedError> {
        match returned {
            Ok(_) => None,
            Err(error) => Some(Arc::new(error.clone())),
        }
    }

    #[allow(clippy::manual_map)]
    fn give(shared: &SharedError) -> Option<Result<T, E>> {
        match shared.downcast_ref::<E>() {
            Some(error) => Some(Err(error.clone())),
            None => None,
        }
    }
}

impl<R> Share for Unshared<R> {
    type Returned = R;
}

impl<T, E: Clone + Send + Sync + 'static> ErrorProbe<T, E> {
    pub fn cache_share(&self) -> Shared<T, E> {
        Shared(PhantomData)
    }
}

pub trait ShareAny<R> {
    fn cache_share(&self) -> Unshared<R> {
        Unshared(PhantomData)
    }

    /// Without asking.
    fn cache_no_share(&self) -> Unshared<R> {
        Unshared(PhantomData)
    }
}

impl<T, E> ShareAny<Result<T, E>> for ErrorProbe<T, E> {}

impl<R> ShareAny<R> for NoErrorProbe<R> {}

fn named(kind: Option<ValueKind>) -> Option<ValueType> {
    kind.map(|kind| kind.ty).filter(ValueType::is_named)
}

/// The type behind a probe, unless part of it could not be named where this was called.
pub fn value_type<C: Keepable, K: Kept>(_asked: Option<(C, K)>) -> Option<ValueType> {
    named(K::kind())
}

pub(crate) fn never_none(_value: &dyn Any) -> bool {
    false
}

/// What a cache knows of its values, which it does not name: so that the life of a call is compiled once, and not again for
/// every function.
#[derive(Clone, Copy)]
pub struct ValueKind {
    pub(crate) ty: ValueType,
    /// How a value is sent to a backend; `None`: it cannot be.
    pub(crate) form: Option<&'static Form>,
    is_none: fn(&dyn Any) -> bool,
}

impl ValueKind {
    #[inline]
    pub(crate) fn anywhere<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Self {
        Self {
            ty: ValueType::of::<V>(true),
            form: Some(Form::of::<V>()),
            // The form tells.
            is_none: never_none,
        }
    }

    #[inline]
    pub(crate) fn here<V: 'static>(is_none: fn(&dyn Any) -> bool) -> Self {
        Self {
            ty: ValueType::of::<V>(false),
            form: None,
            is_none,
        }
    }

    /// Whether the value is `None`. One that serialises as `None` is one, behind an `Arc` too.
    pub(crate) fn is_none(&self, value: &dyn Any) -> bool {
        match self.form {
            Some(form) => (form.is_none)(value),
            None => (self.is_none)(value),
        }
    }
}

/// All that was found out about a return type. It has no size: nothing has to be kept of it while a function runs.
pub struct Returns<O, K, S>(PhantomData<(O, K, S)>);

/// Of a function whose values are only looked at, or kept by hand.
pub type Unstored<O> = Returns<O, Unkept, Unshared<<O as Outcome>::Returned>>;

impl<O: Outcome> Unstored<O> {
    pub fn unstored(_outcome: O) -> Self {
        Self::inferred()
    }
}

impl<O, K, S> Returns<O, K, S> {
    pub fn inferred() -> Self {
        Self(PhantomData)
    }

    pub fn of(_outcome: O, _kept: K, _share: S) -> Self {
        Self::inferred()
    }
}

impl<O: Outcome, K, S> Returns<O, K, S> {
    /// Has the compiler check that the name is of a cache of these values.
    #[must_use]
    pub fn names(self, _name: &crate::CacheName<O::Value>) -> Self {
        self
    }
}

impl<O, K, S> Clone for Returns<O, K, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O, K, S> Copy for Returns<O, K, S> {}

/// What every [`Returns`] is.
pub trait Answer: Copy {
    type Returned;
    type Value;
    type Outcome: Outcome<Returned = Self::Returned, Value = Self::Value>;
    type Kept: Kept;
    type Share: Share<Returned = Self::Returned>;
}

impl<O: Outcome, K: Kept, S: Share<Returned = O::Returned>> Answer for Returns<O, K, S> {
    type Returned = O::Returned;
    type Value = O::Value;
    type Outcome = O;
    type Kept = K;
    type Share = S;
}

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
