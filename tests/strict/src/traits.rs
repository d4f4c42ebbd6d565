//! Methods of traits.

use std::{future::Future, pin::Pin};

use async_trait::async_trait;
use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};

/// A native trait.
pub trait Native {
    /// The name of one.
    fn name(&self, id: u64) -> impl Future<Output = Option<String>> + Send;

    /// The name of one, in short.
    #[allow(async_fn_in_trait, reason = "nobody sends it")]
    #[cache_result(cache = "traits-default", key = (self.tenant(), id))]
    async fn short(&self, id: u64) -> Option<char> {
        self.name(id).await?.chars().next()
    }

    /// Whose it is.
    fn tenant(&self) -> u64;
}

/// Implements them.
#[derive(Clone, Copy, Debug)]
pub struct One;

impl Native for One {
    #[cache_result(cache = "traits-native")]
    async fn name(&self, id: u64) -> Option<String> {
        Some(id.to_string())
    }

    fn tenant(&self) -> u64 {
        7
    }
}

/// A trait with boxed futures.
#[async_trait]
pub trait Boxed {
    /// The name of one.
    async fn name(&self, id: u64, trace: &str) -> Result<String, String>;

    /// Another name for one.
    async fn rename(&mut self, id: u64, name: &str) -> Result<u64, String>;

    /// How many there are.
    #[cache_result(cache = "traits-count")]
    #[tracing::instrument(skip_all)]
    async fn count(&self, mut limit: u64, (from, to): (u64, u64)) -> u64 {
        limit += to - from;
        limit
    }
}

#[async_trait]
impl Boxed for One {
    #[tracing::instrument(skip(self))]
    #[cache_result(cache = "traits-boxed")]
    async fn name(&self, #[cache_key] id: u64, trace: &str) -> Result<String, String> {
        if trace.is_empty() {
            return Err(String::new());
        }
        Ok(id.to_string())
    }

    #[cache_put(cache = "traits-boxed", key_with = |id| *id)]
    #[cache_invalidate(cache = "traits-other")]
    #[tracing::instrument(skip(self), err)]
    #[cache_invalidate_all(cache = "traits-count")]
    async fn rename(&mut self, #[cache_key] id: u64, name: &str) -> Result<u64, String> {
        let length: u64 = name.len().try_into().map_err(|_| "long")?;
        Ok(id + length)
    }
}

/// A trait with futures that are boxed by hand.
pub trait ByHand {
    /// The name of one.
    fn name<'a>(&'a self, id: &'a u64) -> Pin<Box<dyn Future<Output = String> + Send + 'a>>;
}

impl ByHand for One {
    #[cache_result(cache = "traits-by-hand")]
    fn name<'a>(&'a self, id: &'a u64) -> Pin<Box<dyn Future<Output = String> + Send + 'a>> {
        let tenant = self.tenant();
        Box::pin(async move { format!("{tenant}{id}") })
    }
}
