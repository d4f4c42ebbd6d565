//! How the values of a function are kept.

use std::marker::PhantomData;

use serde::{Serialize, de::DeserializeOwned};

use super::{Probe, ValueKind, never_none};

/// How the values of a function are kept. It is a type, of which nothing is there when the program runs.
pub trait Keeping: Copy {
    /// `None`: they are not.
    fn kind() -> Option<ValueKind>;
}

copied!(Anywhere<V>, Here<V>, OptionHere<T>);

/// Values that are only looked at.
#[derive(Clone, Copy)]
pub struct Unkept;

/// In memory and in backends.
pub struct Anywhere<V>(PhantomData<fn() -> V>);

/// In memory.
pub struct Here<V>(PhantomData<fn() -> V>);

/// In memory, and known to be an `Option`.
pub struct OptionHere<T>(PhantomData<fn() -> T>);

impl Keeping for Unkept {
    fn kind() -> Option<ValueKind> {
        None
    }
}

impl<V: Serialize + DeserializeOwned + Send + Sync + 'static> Keeping for Anywhere<V> {
    fn kind() -> Option<ValueKind> {
        Some(ValueKind::anywhere::<V>())
    }
}

impl<V: 'static> Keeping for Here<V> {
    fn kind() -> Option<ValueKind> {
        Some(ValueKind::here::<V>(never_none))
    }
}

impl<T: 'static> Keeping for OptionHere<T> {
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
