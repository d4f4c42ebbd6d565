//! Values of types that are not named.

use std::any::Any;

use serde::{Serialize, de::DeserializeOwned};

use super::dynamic::Seed;

/// A value of a type that is not named.
///
/// It is an `Option` in a box. So the place that a value was read into becomes it as it is, and to take the value out is less to
/// compile for each type than to downcast the box.
pub(crate) struct AnyValue(Box<dyn Slot>);

/// The `Option` of an [`AnyValue`].
pub(crate) trait Slot: Send + Sync {
    /// What is in it.
    fn value(&self) -> Option<&dyn Any>;

    /// The `Option` itself.
    fn option(&mut self) -> &mut dyn Any;
}

// A plain match: a closure would be a function more to compile for every type.
impl<V: Send + Sync + 'static> Slot for Option<V> {
    fn value(&self) -> Option<&dyn Any> {
        match self {
            Some(value) => Some(value),
            None => None,
        }
    }

    fn option(&mut self) -> &mut dyn Any {
        self
    }
}

impl AnyValue {
    pub(crate) fn new<V: Send + Sync + 'static>(value: V) -> Self {
        Self(Box::new(Some(value)))
    }

    /// The value, unless it was taken out.
    pub(crate) fn get(&self) -> Option<&dyn Any> {
        self.0.value()
    }

    /// Takes the value out, if it is a `V`.
    pub(crate) fn take<V: 'static>(&mut self) -> Option<V> {
        match self.0.option().downcast_mut::<Option<V>>() {
            Some(value) => value.take(),
            None => None,
        }
    }
}

/// The place for a value that is still to be read.
pub(crate) trait Place: for<'de> Seed<'de> + Slot {
    /// What has been read.
    fn read_value(&self) -> Option<&dyn erased_serde::Serialize>;
}

impl<V: Serialize + DeserializeOwned + Send + Sync + 'static> Place for Option<V> {
    fn read_value(&self) -> Option<&dyn erased_serde::Serialize> {
        match self {
            Some(value) => Some(value),
            None => None,
        }
    }
}

/// A place for a value of a type.
pub(crate) type NewPlace = fn() -> Box<dyn Place>;

/// The [`NewPlace`] of a type.
pub(crate) fn place<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Box<dyn Place> {
    Box::new(None::<V>)
}

impl From<Box<dyn Place>> for AnyValue {
    fn from(place: Box<dyn Place>) -> Self {
        Self(place)
    }
}
