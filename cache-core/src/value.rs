//! What a function returns, decided by its type.
//!
//! The attributes see tokens; whether `Lookup<User>` is a `Result`, whether its value can be serialised, whether its error
//! can be cloned, only the compiler knows. [`returns!`](crate::__private::returns) asks it by method resolution: a method that
//! only `Probe<specific>` has is found before one that a trait gives to `Probe<anything>`. In a generic function that sees
//! the bounds in scope, no more.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

/// They have no size, whatever they are about.
macro_rules! copied {
    ($($name:ident<$($about:ident),+>),+) => {$(
        impl<$($about),+> Clone for $name<$($about),+> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<$($about),+> Copy for $name<$($about),+> {}
    )+};
}

mod kept;
mod share;

use std::{
    any::{Any, TypeId, type_name},
    fmt,
    marker::PhantomData,
};

use serde::{Serialize, de::DeserializeOwned};

pub(crate) use self::{
    kept::{Keeping, Unkept},
    share::{Share, Unshared},
};
pub use self::{
    kept::{KeptAny, KeptOption},
    share::ShareAny,
};
use crate::{codec::Form, name::CacheName};

/// How to see the value in what a function returned, and how to return a value that was not computed.
///
/// What is returned is an associated type and no parameter. Whether a future is `Send` is decided with every lifetime in
/// it taken for another one, those in `Box<dyn Error>` too: then a parameter would no longer match the type it came from.
pub trait Outcome: Copy {
    /// What the function returns.
    type Returned;

    /// The value: `T` of `Result<T, E>`, else the return type itself.
    type Value;

    /// The value, if the function succeeded.
    fn value(returned: &Self::Returned) -> Option<&Self::Value>;

    /// The value, if the function succeeded; else what it returned.
    fn split(returned: Self::Returned) -> Result<Self::Value, Self::Returned>;

    /// The function's result that holds this value.
    fn success(value: Self::Value) -> Self::Returned;
}

/// The function returns a `Result`.
pub struct IsResult<T, E> {
    pub value: Probe<T>,
    pub error: ErrorProbe<T, E>,
}

/// The function returns a plain value.
pub struct IsPlain<R> {
    pub value: Probe<R>,
    pub error: NoErrorProbe<R>,
}

copied!(IsResult<T, E>, IsPlain<R>, Probe<T>, ErrorProbe<T, E>, NoErrorProbe<R>);

impl<T, E> Outcome for IsResult<T, E> {
    type Returned = Result<T, E>;
    type Value = T;

    // Plain matches: all else is one or two functions more to compile for every type.
    #[allow(clippy::manual_ok_err)]
    fn value(returned: &Result<T, E>) -> Option<&T> {
        match returned {
            Ok(value) => Some(value),
            Err(_) => None,
        }
    }

    fn split(returned: Result<T, E>) -> Result<T, Result<T, E>> {
        match returned {
            Ok(value) => Ok(value),
            Err(error) => Err(Err(error)),
        }
    }

    fn success(value: T) -> Result<T, E> {
        Ok(value)
    }
}

impl<R> Outcome for IsPlain<R> {
    type Returned = R;
    type Value = R;

    fn value(returned: &R) -> Option<&R> {
        Some(returned)
    }

    fn split(returned: R) -> Result<R, R> {
        Ok(returned)
    }

    fn success(value: R) -> R {
        value
    }
}

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
        IsResult {
            value: Probe::NEW,
            error: ErrorProbe(PhantomData),
        }
    }
}

pub trait OutcomeOfPlain {
    type Outcome;
    fn cache_outcome(&self) -> Self::Outcome;
}

impl<R> OutcomeOfPlain for Probe<R> {
    type Outcome = IsPlain<R>;
    fn cache_outcome(&self) -> Self::Outcome {
        IsPlain {
            value: Probe::NEW,
            error: NoErrorProbe(PhantomData),
        }
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

/// What a value has to be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept in a cache",
    label = "a value has to be `Clone + Send + Sync + 'static`",
    note = "derive `Clone` for it, or return an `Arc` of it; a type parameter needs the bounds",
    note = "what stays on one thread, an `Rc` or a `Cell`, cannot be kept: use an `Arc`, an atomic or a lock",
    note = "nor can what is used up, a stream, a future or a guard: return what is in it"
)]
pub trait Storable: Clone + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<V: Clone + Send + Sync + 'static> Storable for V {}

fn named(kind: Option<ValueKind>) -> Option<ValueType> {
    kind.map(|kind| kind.ty).filter(ValueType::is_named)
}

/// The type behind a probe, unless part of it could not be named where this was called.
pub fn value_type<C: Keepable, K: Keeping>(_asked: Option<(C, K)>) -> Option<ValueType> {
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
            Some(form) => form.is_none(value),
            None => (self.is_none)(value),
        }
    }
}

/// All that was found out about a return type. It has no size: nothing has to be kept of it while a function runs.
pub struct Returns<O, K, S>(PhantomData<(O, K, S)>);

copied!(Returns<O, K, S>);

/// Of a function whose values are only looked at, or kept by hand.
pub type Unstored<O> = Returns<O, Unkept, Unshared<<O as Outcome>::Returned>>;

impl<O: Outcome> Unstored<O> {
    pub fn unstored(_outcome: O) -> Self {
        Self::INFERRED
    }
}

impl<O, K, S> Returns<O, K, S> {
    pub const INFERRED: Self = Self(PhantomData);

    pub fn of(_outcome: O, _kept: K, _share: S) -> Self {
        Self::INFERRED
    }
}

/// A name of a cache of these values.
#[diagnostic::on_unimplemented(
    message = "this is no name of a cache of `{V}`",
    label = "is a `{Self}`",
    note = "the value of the function is a `{V}`: declare the name as a `CacheName<{V}>`, or use another cache; a name that is text is written as it is, `cache = \"…\"`"
)]
pub trait NameOf<V> {}

impl<V> NameOf<V> for CacheName<V> {}

impl<O: Outcome, K, S> Returns<O, K, S> {
    /// Has the compiler check that the name is of a cache of these values.
    #[must_use]
    pub fn names<N: NameOf<O::Value>>(self, _name: &N) -> Self {
        self
    }
}

/// What every [`Returns`] is.
pub trait Answer: Copy {
    type Returned;
    type Value;
    type Outcome: Outcome<Returned = Self::Returned, Value = Self::Value>;
    type Keeping: Keeping;
    type Share: Share<Returned = Self::Returned>;

    /// What a call that reads looks for; `None`: nothing, for values of this type are not kept.
    #[inline]
    fn wanted() -> Option<Wanted> {
        Some(Wanted {
            kind: Self::Keeping::kind()?,
            shares: Self::Share::error(),
        })
    }
}

/// What a call that reads looks for.
pub struct Wanted {
    pub(crate) kind: ValueKind,
    /// The type of the errors it can take from another caller's load.
    pub(crate) shares: Option<TypeId>,
}

impl<O: Outcome, K: Keeping, S: Share<Returned = O::Returned>> Answer for Returns<O, K, S> {
    type Returned = O::Returned;
    type Value = O::Value;
    type Outcome = O;
    type Keeping = K;
    type Share = S;
}

/// The function that names types where functions register themselves: it is in the name of what only stands in for a type there.
pub(crate) const HIDDEN: &str = "__cache_hidden";

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
