//! Why a backend could not do what it was asked, and how it is.

use std::fmt;

/// Whether a backend answers.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager, backend::BackendHealth, testing::MapBackend};
///
/// let caches = CacheManager::builder()
///     .cache("price", CacheConfig::on(MapBackend::new()))
///     .build()?;
/// match caches.health().caches["price"] {
///     BackendHealth::Up => {}
///     BackendHealth::Refused => panic!("look at the user name, the password and the permissions"),
///     _ => println!("calls are slower than usual"),
/// }
/// # Ok::<(), cache_core::CacheError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackendHealth {
    /// The last request was answered, or none was made yet.
    Up,
    /// The last requests failed; it is tried again.
    Down,
    /// It refuses this client (a password, a permission): somebody has to act.
    Refused,
}

/// The class of a [`BackendError`].
///
/// All count as failures of the backend, by which it is given up for a time; all but a `Capacity` that refuses a store.
///
/// ```
/// use cache_core::backend::BackendErrorKind;
///
/// assert_eq!(BackendErrorKind::Timeout.to_string(), "no answer in time");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackendErrorKind {
    /// Not reachable, or the connection was lost. It passes.
    Unavailable,
    /// No answer within the budget. It passes.
    Timeout,
    /// The server refuses this client: a password, a permission. Somebody has to act, so this is logged again every minute while it
    /// lasts, and makes the [health](BackendHealth) `Refused`.
    Refused,
    /// The server is full: memory, connections. A store that is refused for that is no reason to give the backend up.
    Capacity,
    /// The server cannot do this now: it is read-only, loading, failing over. It passes.
    Role,
    /// The server answered with something else than was asked for. It is held against the backend as a failure.
    Protocol,
}

impl fmt::Display for BackendErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unavailable => "not reachable",
            Self::Timeout => "no answer in time",
            Self::Refused => "access refused",
            Self::Capacity => "out of capacity",
            Self::Role => "not ready for this",
            Self::Protocol => "unexpected answer",
        })
    }
}

/// Why a backend could not do what it was asked.
///
/// The detail must not hold a password, a key or a value: it is logged.
///
/// ```
/// use cache_core::backend::{BackendError, BackendErrorKind};
///
/// let error = BackendError::new(BackendErrorKind::Capacity, "the table is full");
/// assert_eq!(error.kind(), BackendErrorKind::Capacity);
/// assert_eq!(error.to_string(), "out of capacity: the table is full");
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind}: {detail}")]
pub struct BackendError {
    kind: BackendErrorKind,
    detail: String,
}

impl BackendError {
    /// An error of that class, with a sentence that names no password, key or value.
    pub fn new(kind: BackendErrorKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
        }
    }

    /// The class of the error.
    #[must_use]
    pub const fn kind(&self) -> BackendErrorKind {
        self.kind
    }
}
