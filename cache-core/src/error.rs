//! The errors a user can meet. None of them shows a key, a value or a password.

use crate::{backend::BackendError, codec::CodecError, key::KeyError};

/// What can go wrong when caches are set up or used by hand.
///
/// Annotated functions never return it: there, a failing cache is a miss.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager};
/// use std::time::Duration;
///
/// let error = CacheManager::builder()
///     .cache("products", CacheConfig::memory().ttl(Duration::ZERO))
///     .build()
///     .unwrap_err();
/// assert!(error.to_string().contains("`products`"));
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// A cache name that cannot be one.
    #[error(
        "`{name}` cannot be the name of a cache: write at most 128 letters, digits, `.`, `_`, `/` and `-`, beginning with a letter or digit"
    )]
    Name {
        /// The name as it was written.
        name: String,
    },
    /// A setting that cannot be: see the sentence.
    #[error("{0}")]
    Config(String),
    /// The configuration and the annotated functions of the program contradict each other.
    #[error("the caches do not fit the annotated functions: {}", .problems.join("; "))]
    Check {
        /// One sentence for each contradiction.
        problems: Vec<String>,
    },
    /// A process-wide manager is there already.
    #[error(
        "a process-wide manager is in use already, since {by}: install yours before that, once"
    )]
    AlreadyInstalled {
        /// Who installed it, or which function was called first and so began to use the defaults.
        by: String,
    },
    /// A cache holds values of another type.
    #[error(
        "cache `{cache}` holds `{holds}`, not `{wanted}`: use one value type, or another cache"
    )]
    ValueType {
        /// The cache.
        cache: String,
        /// The type of its values.
        holds: String,
        /// The type that was asked for.
        wanted: String,
    },
    /// A value that cannot be sent to a backend.
    #[error(
        "cache `{cache}` is on a backend, and `{value_type}` cannot be stored there: derive `Serialize` and `Deserialize` for it, or keep the cache in memory"
    )]
    NotSerializable {
        /// The cache.
        cache: String,
        /// The type of its values.
        value_type: String,
    },
    /// A key without a canonical text.
    #[error("a key of cache `{cache}` cannot be used: {error}")]
    Key {
        /// The cache.
        cache: String,
        /// What is wrong with it.
        error: KeyError,
    },
    /// The codec of the cache cannot carry the value.
    #[error("a value of cache `{cache}` cannot be stored: {error}")]
    Codec {
        /// The cache.
        cache: String,
        /// What the codec said.
        error: CodecError,
    },
    /// A value larger than its backend takes.
    #[error(
        "a value of cache `{cache}` has {bytes} bytes, and the backend takes {limit}: raise `max_value_bytes`, or store less"
    )]
    TooLarge {
        /// The cache.
        cache: String,
        /// The size of the entry.
        bytes: usize,
        /// The limit of the backend.
        limit: usize,
    },
    /// The backend could not do it, or not in time; it may still happen later.
    #[error("the backend of cache `{cache}` failed: {error}")]
    Backend {
        /// The cache.
        cache: String,
        /// What the backend said.
        error: BackendError,
    },
    /// The address of a backend is none. Nothing of the address is repeated: it may hold a password.
    #[error("address of a backend: {reason}")]
    BackendUrl {
        /// What is wrong with it and what to write instead.
        reason: String,
    },
}
