//! Whether the error of a load can be given to those who waited for it.

use std::{any::TypeId, marker::PhantomData, sync::Arc};

use super::{ErrorProbe, NoErrorProbe};
use crate::flight::SharedError;

/// Whether the error of a function that failed gets to those who waited for it, and how. A type, as [`Keeping`] is.
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

copied!(Shared<T, E>, Unshared<R>);

/// The error of a `Result<T, E>` can be shared.
pub struct Shared<T, E>(PhantomData<fn() -> (T, E)>);

/// There is none, or it cannot.
pub struct Unshared<R>(PhantomData<fn() -> R>);

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
