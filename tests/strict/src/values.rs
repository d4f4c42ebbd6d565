//! Values and errors of every type.

use std::{error::Error, fmt, io, sync::Arc};

use cache_core::cache_result;

/// A `Result` with one parameter.
pub type Lookup<T> = Result<T, Failure>;
/// An `Option` by another name.
pub type Maybe<T> = Option<T>;

/// Neither `Clone` nor `Serialize`.
#[derive(Debug)]
pub struct Failure(#[allow(dead_code, reason = "for its type")] Box<dyn Error + Send>);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed")
    }
}

impl Error for Failure {}

impl From<fmt::Error> for Failure {
    fn from(error: fmt::Error) -> Self {
        Self(Box::new(error))
    }
}

/// An alias.
///
/// # Errors
/// Never.
#[cache_result(cache = "values-alias", store_if = |text: &String| !text.is_empty())]
pub async fn alias(id: u64) -> Lookup<String> {
    Ok(id.to_string())
}

/// An alias of `Option`.
#[cache_result(cache = "values-option", store_if = Option::is_some)]
pub async fn option(id: u64) -> Maybe<u64> {
    Some(id)
}

/// Input and output.
///
/// # Errors
/// Never.
#[cache_result(cache = "values-io", store_if = |text: &String| !text.is_empty())]
pub async fn input(id: u64) -> io::Result<String> {
    Ok(id.to_string())
}

/// Whatever error there is.
///
/// # Errors
/// For text that is no number.
#[cache_result(cache = "values-anyhow", store_if = |n: &u64| *n > 0)]
pub async fn anyhow(text: &str) -> anyhow::Result<u64> {
    Ok(text.parse()?)
}

/// A result that is shared, and a value therefore.
#[cache_result(cache = "values-shared", store_if = |result: &Arc<Result<u64, String>>| result.is_ok())]
pub async fn shared(id: u64) -> Arc<Result<u64, String>> {
    Arc::new(Ok(id))
}

/// With a type of its own that is called `Result`.
pub mod own {
    use cache_core::cache_result;

    /// Not the usual one.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Result {
        /// Fine.
        Ok(u64),
        /// Not fine.
        Err,
    }

    /// Returns it as the value it is.
    #[cache_result(cache = "values-own", store_if = |result: &Result| *result != Result::Err)]
    pub async fn own(id: u64) -> Result {
        if id == 0 { Result::Err } else { Result::Ok(id) }
    }
}
