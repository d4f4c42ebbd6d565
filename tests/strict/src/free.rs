//! Free functions.

use std::{borrow::Cow, fmt::Display, future::Future, pin::Pin, sync::Arc, time::Duration};

use cache_core::{CacheName, cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use serde::Serialize;

/// The numbers up to one.
pub const NUMBERS: CacheName<Vec<u64>> = CacheName::new("free-numbers");

/// No parameters.
#[cache_result(cache = "free-none")]
pub async fn none() -> Vec<u64> {
    vec![1]
}

/// Every option that a load has.
///
/// # Errors
/// If `id` is zero.
#[cache_result(
    cache = NUMBERS,
    key = (id, name.len()),
    ttl = "1h30m",
    ttl_with = |v: &Vec<u64>| Duration::from_secs(v.len() as u64),
    condition = id > 3,
    store_if = |v: &Vec<u64>| !v.is_empty(),
    lock_timeout = "2s"
)]
#[cache_invalidate(cache = "free-a", when = "always", condition = id > 3)]
#[cache_invalidate_all(cache = "free-b", invalidate_if = |v| v.len() > 2)]
pub async fn every_option(id: u64, name: &str, (a, b): (u64, u64)) -> Result<Vec<u64>, String> {
    if id == 0 {
        return Err(name.to_owned());
    }
    Ok(vec![id, a, b])
}

/// Patterns, raw identifiers, arguments that are not used or changed.
#[cache_result(cache = "free-patterns")]
pub async fn patterns(
    (page, size): (u32, u32),
    Point { x, .. }: Point,
    _: u8,
    _unused: bool,
    mut limit: u32,
    r#type: String,
) -> String {
    limit += 1;
    format!("{page}{size}{x}{limit}{type}")
}

/// A place.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// East.
    pub x: i32,
    /// North.
    pub y: i32,
}

/// Generic over types and constants, with bounds in both places.
#[cache_result(cache = "free-generic")]
pub async fn generic<'a, T, const N: usize>(
    values: &'a [T],
    names: [&'a str; N],
    shown: &(impl Display + Serialize + Sync + ?Sized),
) -> String
where
    T: Clone + Serialize + Sync,
{
    format!("{}{}{shown}", values.len(), names.len())
}

/// Lifetimes that are named.
#[cache_result(cache = "free-lifetimes", key = id)]
pub async fn lifetimes<'a, 'b: 'a>(
    id: &'a str,
    seen: &mut Vec<&'b str>,
    more: Cow<'b, str>,
) -> String {
    seen.clear();
    format!("{id}{more}")
}

/// Ends in a `return`.
#[cache_result(cache = "free-return")]
pub async fn ends_in_return(id: u64) -> u64 {
    if id > 1 {
        return id;
    }
    id + 1
}

/// Ends in a loop.
#[cache_result(cache = "free-loop")]
pub async fn ends_in_loop(id: u64) -> u64 {
    let mut n = id;
    loop {
        n += 1;
        if n.is_multiple_of(7) {
            break n;
        }
    }
}

/// Is not written yet.
///
/// # Errors
/// None.
#[cache_result(cache = "free-todo")]
pub async fn is_to_be_written(_id: u64) -> Result<Vec<String>, String> {
    todo!()
}

/// The same, and the cache would be told.
#[cache_put(cache = "free-todo")]
#[cache_invalidate(cache = "free-loop")]
pub async fn is_to_be_written_too(_id: u64) -> Vec<String> {
    unimplemented!("another time")
}

/// Never ends.
#[cache_invalidate_all(cache = "free-loop")]
pub async fn never() -> ! {
    loop {
        std::future::pending::<()>().await;
    }
}

/// Does nothing at all.
#[cache_invalidate(cache = "free-loop")]
pub async fn empty(_id: u64) {}

/// Something that has a name.
pub trait Named: Send + Sync {
    /// Its name.
    fn name(&self) -> String;
}

impl Named for u64 {
    fn name(&self) -> String {
        self.to_string()
    }
}

/// Coerces what it returns.
#[cache_result(cache = "free-coerced")]
pub async fn coerced(id: u64) -> Arc<dyn Named> {
    Arc::new(id)
}

/// Coerces in a `Result`.
///
/// # Errors
/// For text that is no number.
#[cache_result(cache = "free-coerced", key = text.len())]
pub async fn coerced_if_read(text: &str) -> anyhow::Result<Arc<dyn Named>> {
    let id: u64 = text.parse()?;
    Ok(Arc::new(id))
}

/// Calls itself.
#[cache_result(cache = "free-recursive")]
pub async fn recursive(n: u64) -> u64 {
    if n < 2 {
        n
    } else {
        Box::pin(recursive(n - 1)).await + Box::pin(recursive(n - 2)).await
    }
}

/// Boxed by hand, with statements before the block.
#[cache_result(cache = "free-boxed")]
#[must_use]
pub fn boxed(name: &str, id: u64) -> Pin<Box<dyn Future<Output = String> + Send + 'static>> {
    let name = name.to_owned();
    let double = id * 2;
    Box::pin(async move { format!("{name}{double}") })
}

/// A boxed future under a name of its own.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Boxed by hand, the type behind an alias.
#[cache_result(cache = "free-aliased")]
#[must_use]
pub fn aliased(id: &u64) -> BoxFuture<'_, Result<String, String>> {
    Box::pin(async move { Ok(id.to_string()) })
}

/// Attributes of every kind around it.
#[doc(hidden)]
#[must_use]
#[inline]
#[allow(clippy::unused_async, reason = "to have an attribute with a reason")]
#[cache_result(cache = "free-attributes")]
#[cfg_attr(not(any()), cache_invalidate(cache = "free-attributes-too"))]
pub async fn attributes(
    #[cfg(any())] gone: Missing,
    #[cfg(not(any()))] here: u64,
    #[cfg_attr(not(any()), cache_key)] id: u64,
    #[allow(unused_variables)] unused: u64,
) -> u64 {
    id + here
}

/// Options that do not look at the value they are given.
#[cache_put(cache = "free-blind", store_if = |_| true, ttl_with = |_value: &u64| Duration::from_secs(1), key_with = |_value| 3)]
#[cache_invalidate(cache = "free-blind-too", invalidate_if = |_: &u64| id > 3, key_with = move |&n| { let m = n; m + id })]
pub async fn blind(id: u64) -> u64 {
    id
}

/// Traced from above.
#[tracing::instrument(skip(id))]
#[cache_put(cache = "free-traced")]
pub async fn traced_above(id: u64) -> u64 {
    id
}

/// Traced from below.
#[cache_put(cache = "free-traced", key_with = |id| *id)]
#[tracing::instrument]
pub async fn traced_below(id: u64) -> u64 {
    id
}
