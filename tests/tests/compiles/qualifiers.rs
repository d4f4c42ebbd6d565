//! What stands around a function stays: visibility, docs, attributes, bounds.
#![deny(warnings, missing_docs)]
#![allow(dead_code, unreachable_pub)] // as if this were a crate

use std::{cell::Cell, fmt::Display, marker::PhantomData, rc::Rc};

use cache_core::{cache_invalidate, cache_result};

/// Public.
pub mod catalog {
    use cache_core::cache_result;

    /// Documented once.
    #[must_use]
    #[cache_result(cache = "public")]
    #[inline]
    pub async fn public(id: u64) -> u64 {
        id
    }

    #[cache_result(cache = "crate")]
    pub(crate) async fn of_the_crate(id: u64) -> u64 {
        public(id).await
    }

    #[cache_core::cache_result(cache = "path")]
    pub(in crate::qualifiers::catalog) async fn of_a_path(id: u64) -> u64 {
        of_the_crate(id).await
    }

    /// Calls it.
    pub async fn call() -> u64 {
        of_a_path(1).await
    }
}

/// Old.
#[deprecated]
#[cache_result(cache = "deprecated")]
pub async fn old(id: u64) -> u64 {
    id
}

/// Has attributes of its body.
#[cache_result(cache = "inner")]
pub async fn inner_attributes(id: u64) -> u64 {
    #![allow(unused_variables)]
    let unused = id;
    id
}

/// Not `Send`, as its argument is not.
#[cache_result(cache = "local", key = id)]
pub async fn local(id: u64, shared: Rc<Cell<u64>>) -> u64 {
    shared.set(id);
    std::future::ready(()).await;
    shared.get()
}

/// Generic.
pub struct Repo<Row, const N: usize> {
    rows: PhantomData<fn() -> Row>,
}

/// A bounded type.
#[derive(Clone)]
pub struct Page<T: Display>(T);

impl<Row: Display + Clone + Send + Sync + 'static, const N: usize> Repo<Row, N> {
    /// Hides its value type.
    #[cache_result(cache = "rows")]
    pub async fn rows<T: serde::Serialize + ?Sized>(
        &self,
        id: &T,
        names: [&str; N],
    ) -> Result<Vec<Row>, String> {
        Err(format!("{} {}", size_of_val(id), names.len()))
    }

    /// An associated function.
    #[cache_result(cache = "first")]
    #[cache_invalidate(cache = "rows", key = (id, "x"))]
    pub async fn first(id: u64) -> Option<Page<u64>> {
        Some(Page(id))
    }
}

macro_rules! made_by_macro {
    ($name:ident, $cache:literal, $ttl:expr, $ty:ty, $body:expr) => {
        /// Made.
        #[cache_result(cache = $cache, ttl = $ttl)]
        pub async fn $name(id: $ty) -> $ty {
            $body + id
        }
    };
}
made_by_macro!(made, "made", "30s", u64, 7);

fn require_send<T: Send>(future: T) -> T {
    future
}

#[test]
fn all_is_used() {
    drop(require_send(catalog::call()));
    drop(require_send(Repo::<String, 2>::first(1)));
    drop(require_send(made(1)));
    drop(local(1, Rc::default()));
}
