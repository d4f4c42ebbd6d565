//! Types that only the function's surroundings know.
#![deny(warnings)]
#![allow(dead_code)]

use std::{collections::HashMap, marker::PhantomData};

use cache_core::{CacheName, cache_invalidate, cache_result};

/// Generics of the `impl`, which the attribute does not see, within types that bound them.
trait Repository {
    type Row: Clone + Send + Sync + 'static;
    const WIDTH: usize;
}

#[derive(Clone)]
struct Rows<R: Repository>(Vec<R::Row>);

#[derive(Clone)]
struct Grid<const N: usize>([u8; N]);

struct Service<R, const N: usize>(PhantomData<fn() -> R>);

impl<R: Repository + Clone + Send + Sync + 'static, const N: usize> Service<R, N> {
    #[cache_result(cache = "rows")]
    async fn rows(&self, id: u64) -> Rows<R> {
        assert!(id > 0);
        Rows(Vec::new())
    }

    #[cache_result(cache = "associated")]
    async fn associated(&self, id: u64) -> Result<HashMap<u64, R::Row>, String> {
        Err(id.to_string())
    }

    #[cache_result(cache = "qualified")]
    async fn qualified(&self, id: u64) -> Vec<<R as Repository>::Row> {
        assert!(id > 0);
        Vec::new()
    }

    #[cache_result(cache = "constants")]
    async fn constants(&self, key: [u8; N]) -> Option<Grid<N>> {
        Some(Grid(key))
    }

    #[cache_result(cache = "itself")]
    async fn itself(&self, id: u64) -> Option<std::sync::Arc<Self>> {
        assert!(id > 0);
        None
    }
}

#[test]
fn all_is_used() {
    const LOCAL: CacheName<Product> = CacheName::new("local");

    mod shop {
        #[derive(Clone, serde::Serialize)]
        pub(super) struct Id<'a, T>(pub(super) &'a str, pub(super) T);
    }
    type Result<T> = std::result::Result<T, String>;
    #[derive(Clone)]
    struct Product;
    trait Named {}

    #[cache_result(cache = LOCAL, key = id.0)]
    async fn product(id: &shop::Id<'_, Vec<shop::Id<'static, u64>>>) -> Result<Product> {
        Err(id.0.to_owned())
    }

    #[cache_result(cache = "objects")]
    async fn objects(
        #[cache_key] id: shop::Id<'static, u8>,
        named: &dyn Named,
    ) -> Result<Vec<std::sync::Arc<dyn Fn() + Send + Sync>>> {
        let _: &dyn Named = named;
        Err(id.0.to_owned())
    }

    #[cache_invalidate(cache = "local", key_with = |v: &u8| [*v])]
    async fn removed(id: impl Into<u8>) -> u8 {
        id.into()
    }

    let _ = (product, objects);
    drop(removed(1));
}

/// Whether a type of another crate keeps a bound is not known where a path is all that is seen of it.
mod bounds {
    use ::cache_core::{cache_invalidate, cache_result};
    use ::serde::Serialize;

    #[derive(Clone, Serialize)]
    pub(super) struct Bounded<T: Serialize>(pub(super) T);

    #[cache_result(cache = "bounds")]
    pub(super) async fn value(id: u64) -> Option<Bounded<tokio::time::Duration>> {
        Some(Bounded(tokio::time::Duration::from_secs(id)))
    }

    #[cache_invalidate(cache = "bounds")]
    pub(super) async fn key(key: Bounded<tokio::time::Duration>, other: &Bounded<u64>) -> u64 {
        key.0.as_secs() + other.0
    }
}

#[test]
fn bounds_are_kept() {
    drop(bounds::value(1));
    let bounded = |secs| bounds::Bounded(tokio::time::Duration::from_secs(secs));
    drop(bounds::key(bounded(1), &bounds::Bounded(1)));
}
