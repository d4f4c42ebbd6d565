//! A number for a type, by which an entry of another type is known.

use serde::{Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::xxh3_64;

/// What is known of the structure of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    /// Stands for the type.
    pub(crate) fingerprint: u64,
    /// Whether values can be read back by the place of their fields.
    pub(crate) positional: bool,
}

/// The structure of a type.
pub(crate) fn of<V: Serialize + DeserializeOwned + 'static>() -> Structure {
    Structure {
        fingerprint: xxh3_64(std::any::type_name::<V>().as_bytes()),
        positional: true,
    }
}
