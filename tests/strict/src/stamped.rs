//! Functions that a macro stamps out, with every part of them given to it.

use cache_core::cache_result;

macro_rules! lookups {
    ($($(#[$meta:meta])* $vis:vis $name:ident($id:ident: $ty:ty) -> $ret:ty, $cache:literal, $ttl:expr, $krate:path, $body:block;)+) => {$(
        $(#[$meta])*
        #[cache_result(cache = $cache, ttl = $ttl, crate = $krate)]
        $vis async fn $name($id: $ty) -> $ret $body
    )+};
}

lookups! {
    /// Twice as much.
    pub double(n: u64) -> u64, "stamped-double", "30s", cache_core, { n * 2 };

    /// As it is.
    ///
    /// # Errors
    /// Never.
    #[inline]
    pub same(text: &str) -> Result<String, std::fmt::Error>, "stamped-same", std::time::Duration::from_secs(1), ::cache_core, { Ok(text.to_owned()) };
}

macro_rules! whole {
    ($(#[$meta:meta])* fn $name:ident($($param:ident: $ty:ty),*) $body:expr, $key:expr, $store_if:expr, $with:path) => {
        $(#[$meta])*
        #[cache_result(cache = $with, key = $key, store_if = $store_if, condition = true)]
        pub async fn $name($($param: $ty),*) -> u64 {
            $body
        }
    };
}

/// The sums.
pub const SUMS: cache_core::CacheName<u64> = cache_core::CacheName::new("stamped-sums");

whole! {
    /// The sum.
    fn sum(a: u64, b: u64) a + b, (a, b), |sum| *sum > 0, SUMS
}
