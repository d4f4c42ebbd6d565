//! The errors a user can meet. None of them shows a key, a value or a password.

use crate::backend::BackendError;

/// What can go wrong when caches are set up or used by hand.
///
/// Annotated functions never return it: there, a failing cache is a miss.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The backend could not do it. An invalidation that failed is listed in the statistics and the log.
    #[error("backend of cache `{cache}`: {source}")]
    Backend {
        /// The cache.
        cache: String,
        /// What the backend said.
        source: BackendError,
    },
    /// The address of a backend is none. Nothing of the address is repeated: it may hold a password.
    #[error("address of a backend: {reason}")]
    BackendUrl {
        /// What is wrong with it and what to write instead.
        reason: String,
    },
}
