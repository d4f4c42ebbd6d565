//! What lints have to say of a body they say where attributes are, too: an expectation that is not met is an error here.

use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};

/// Prints.
///
/// # Panics
/// Unless it is given the truth.
#[expect(
    clippy::println_empty_string,
    clippy::assertions_on_constants,
    clippy::bool_assert_comparison,
    clippy::to_string_in_format_args,
    reason = "the first statements of a body"
)]
#[cache_invalidate_all(cache = "lints")]
pub async fn first_statements(id: bool) {
    std::future::ready(()).await;
    println!("");
    assert!(true);
    assert_eq!(id, true);
    println!("{}", id.to_string());
}

/// Formats.
#[expect(clippy::useless_format, reason = "the last expression of a body")]
#[cache_put(cache = "lints", key = id)]
pub async fn last_expression(id: u64) -> String {
    std::future::ready(id).await;
    format!("text")
}

/// Returns.
#[expect(clippy::needless_return, reason = "the end of a body")]
#[cache_result(cache = "lints")]
pub async fn needless_return(id: u64) -> String {
    let text = std::future::ready(id.to_string()).await;
    return text;
}

/// Returns out of a branch, through a pinned future.
#[expect(clippy::needless_return, reason = "the end of a body")]
#[must_use]
#[cache_result(cache = "lints")]
pub fn boxed(id: u64) -> std::pin::Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if id > 3 {
            return std::future::ready(id).await;
        }
        return 7;
    })
}

mod work {
    pub(super) async fn done(id: u64) {
        std::future::ready(id).await;
    }
}

/// Ends without a semicolon.
#[expect(
    clippy::semicolon_if_nothing_returned,
    reason = "the end of a body that returns nothing"
)]
#[cache_invalidate(cache = "lints", when = "always")]
pub async fn nothing_returned(id: u64) {
    work::done(id).await
}

/// Has variables of no use.
#[expect(unused_variables, unused_mut, reason = "in a body")]
#[cache_invalidate(cache = "lints", key = id)]
pub async fn variables(id: u64, mut unused: u64) {
    let mut other = std::future::ready(id).await;
}

/// Begins with items.
#[cache_result(cache = "lints")]
pub async fn items(id: u64) -> u64 {
    const MORE: u64 = 3;
    const fn twice(number: u64) -> u64 {
        number * 2
    }
    std::future::ready(twice(id)).await + MORE
}

/// Is short.
#[rustfmt::skip]
#[cache_result(cache = "lints")]
pub async fn short(id: u64) -> u64 { std::future::ready(id).await }
