//! Names of caches.

use std::{fmt, marker::PhantomData};

use crate::error::CacheError;

/// The longest name of a cache, in bytes.
const MAX_LEN: usize = 128;

/// A cache's name together with the type of its values, so that the compiler checks every use.
///
/// ```
/// use cache_core::{CacheName, cache_result};
///
/// pub const SQUARE: CacheName<u64> = CacheName::new("square");
///
/// #[cache_result(cache = SQUARE)]
/// async fn square(n: u64) -> u64 {
///     n * n
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() { assert_eq!(square(3).await, 9); }
/// ```
pub struct CacheName<V> {
    name: &'static str,
    value: PhantomData<fn() -> V>,
}

impl<V> CacheName<V> {
    /// A name of at most 128 characters: letters, digits, `.`, `_`, `/` and `-`, beginning with a letter or digit.
    ///
    /// ```
    /// use cache_core::CacheName;
    ///
    /// const PRICE: CacheName<u64> = CacheName::new("shop/price");
    /// assert_eq!(PRICE.name(), "shop/price");
    /// ```
    /// ```compile_fail
    /// # use cache_core::CacheName;
    /// const PRICE: CacheName<u64> = CacheName::new("the price"); // no spaces
    /// ```
    ///
    /// # Panics
    /// If `name` is not such a name. In a `const`, where it belongs, that is a compile error.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        assert!(
            is_valid(name),
            "write at most 128 letters, digits, `.`, `_`, `/` and `-`, beginning with a letter or digit"
        );
        Self {
            name,
            value: PhantomData,
        }
    }

    /// The name alone.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl<V> Clone for CacheName<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for CacheName<V> {}

impl<V> fmt::Debug for CacheName<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CacheName").field(&self.name).finish()
    }
}

/// The rule for names; no name holds a `:`, which ends the name in a stored key.
pub(crate) const fn is_valid(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes.len() > MAX_LEN || !bytes[0].is_ascii_alphanumeric() {
        return false;
    }
    let mut i = 1;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_alphanumeric() || matches!(bytes[i], b'.' | b'_' | b'/' | b'-')) {
            return false;
        }
        i += 1;
    }
    true
}

pub(crate) fn validate(name: &str) -> Result<(), CacheError> {
    if is_valid(name) {
        Ok(())
    } else {
        Err(CacheError::Name {
            name: name.chars().take(MAX_LEN).collect(),
        })
    }
}
