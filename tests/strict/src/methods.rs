//! Methods of types.
use std::{fmt::Display, pin::Pin, sync::Arc};

use cache_core::{cache_invalidate, cache_put, cache_result};
use serde::Serialize;

/// A repository of rows.
#[derive(Debug, Default)]
pub struct Repository<'r, R, const N: usize = 3>
where
    R: ?Sized,
{
    /// Who owns it.
    pub tenant: &'r str,
    /// What is in it.
    pub rows: Box<R>,
}

impl<'r, R, const N: usize> Repository<'r, R, N>
where
    R: Display + Send + Sync + ?Sized,
{
    /// By reference.
    #[cache_result(cache = "methods-by-reference", key = (self.tenant, id))]
    pub async fn by_reference(&self, id: u64) -> String {
        format!("{}{id}", self.rows)
    }

    /// With a lifetime.
    #[cache_result(cache = "methods-named")]
    pub async fn with_lifetime<'a>(&'a self, id: &'a str) -> String {
        format!("{}{id}", self.rows)
    }

    /// In an `Arc`.
    #[cache_result(cache = "methods-arc")]
    pub async fn in_arc(self: Arc<Self>, id: u64) -> String {
        format!("{}{id}", self.rows)
    }

    /// Pinned.
    #[cache_put(cache = "methods-pinned")]
    pub async fn pinned(self: Pin<&mut Self>, id: u64) -> u64 {
        id + N as u64
    }

    /// Changes itself.
    #[cache_invalidate(cache = "methods-by-reference", key = (self.tenant, id))]
    pub async fn rename(&mut self, id: u64, tenant: &'r str) {
        self.tenant = tenant;
        let _ = id;
    }

    /// Is used up.
    #[cache_invalidate(cache = "methods-by-reference")]
    pub async fn close(mut self, id: u64) -> u64 {
        self.tenant = "";
        id + self.rows.to_string().len() as u64
    }

    /// Its own type.
    #[cache_result(cache = "methods-rows")]
    pub async fn array(&self, keys: [u64; N]) -> Option<[u64; 3]> {
        keys.first().map(|key| [*key; 3])
    }

    /// Any argument.
    #[cache_result(cache = "methods-any")]
    pub(crate) async fn r#move(&self, id: impl Serialize + Display + Send + Sync) -> Arc<str> {
        id.to_string().into()
    }

    /// Calls what is not public.
    pub async fn call(&self) -> Arc<str> {
        self.r#move(1).await
    }

    /// Returns itself, shared.
    #[cache_invalidate(cache = "methods-any", key = ())]
    pub async fn itself(self: Arc<Self>) -> Arc<Self> {
        self
    }
}

/// Made by itself.
#[derive(Clone, Debug)]
pub struct Made(
    /// Its number.
    pub u64,
);

impl Made {
    /// Makes one.
    #[cache_result(cache = "methods-made")]
    pub async fn new(id: u64) -> Self {
        Self(id)
    }

    /// Makes one, if it can.
    ///
    /// # Errors
    /// Never.
    #[cache_result(cache = "methods-made")]
    pub async fn find(id: u64) -> Result<Self, std::io::Error> {
        Ok(Self(id))
    }
}
