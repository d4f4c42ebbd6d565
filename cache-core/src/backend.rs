//! What a store outside this process has to do.
//!
//! A backend keeps bytes and two kinds of random [`Token`]s beside them: a **stamp** for every entry (several entries
//! may share one) and an **epoch** for every cache. An invalidation replaces a token by a fresh one; a store succeeds
//! only while both tokens are what they were *before the value was computed*. That is the whole protocol: a value that
//! was computed from old data finds its tokens replaced and is refused, however late it arrives and whichever process
//! sends it.
//!
//! Everything else (single flight, codecs, checks of what was read, time limits, statistics) is done by the caches in
//! front of the backend and is the same for every backend.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;

use crate::entry::{EPOCH_AT, TRAILER_LEN};

/// Where an entry carries the epoch it was stored under: it begins this many bytes before the end of the entry and is
/// [`Token::LEN`] bytes long.
///
/// It is all that a backend may look at in the bytes it keeps, and only to tidy up: what was stored under an epoch that
/// has been replaced is of no use to anybody.
///
/// # Examples
///
/// ```
/// use cache_core::backend::{EPOCH_BEFORE_END, Token};
///
/// /// The epoch in the bytes of an entry; `None` if there are too few for one.
/// fn epoch(entry: &[u8]) -> Option<Token> {
///     let begin = entry.len().checked_sub(EPOCH_BEFORE_END)?;
///     entry[begin..].first_chunk::<{ Token::LEN }>().copied().map(Token::from_bytes)
/// }
/// assert_eq!(epoch(b"no entry"), None);
/// assert_eq!(epoch(&[7; 100]), Some(Token::from_bytes([7; 8])));
/// ```
pub const EPOCH_BEFORE_END: usize = TRAILER_LEN - EPOCH_AT;

/// A random 64-bit value that is replaced, never counted up, so that a lost token can never come back as an old one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token([u8; 8]);

impl Token {
    /// The number of bytes of a token.
    pub const LEN: usize = 8;

    /// A token from its bytes, for example as they were read from the store.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// A fresh random token.
    #[must_use]
    pub fn random() -> Self {
        Self(crate::random::u64().to_le_bytes())
    }

    /// The bytes to keep in the store.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:016x})", u64::from_le_bytes(self.0))
    }
}

/// The two tokens that were in force when an entry was looked up: the right to store a value computed after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The token of the entry, replaced by [`CacheBackend::invalidate`].
    pub stamp: Token,
    /// The token of the cache, replaced by [`CacheBackend::invalidate_all`].
    pub epoch: Token,
}

/// The answer of [`CacheBackend::load`].
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The bytes that were stored, if any. The cache checks by itself that they belong to the present epoch.
    pub bytes: Option<Bytes>,
    /// The tokens in force, read in the same atomic step as the bytes. `None` if they could not be
    /// established: then nothing is served and nothing is stored.
    pub fence: Option<Fence>,
}

/// One cache as a backend sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheId {
    name: Arc<str>,
    prefix: Arc<str>,
}

impl CacheId {
    /// A cache called `name` whose entries are stored under `prefix`.
    #[must_use]
    pub fn new(name: &str, prefix: &str) -> Self {
        Self {
            name: name.into(),
            prefix: prefix.into(),
        }
    }

    /// The name of the cache.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stands before the key text in the store, `cache:<name>` unless the configuration says otherwise.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The entry of this cache with that key text.
    #[must_use]
    pub const fn entry<'a>(&'a self, key_text: &'a str) -> EntryId<'a> {
        EntryId {
            cache: self,
            key_text,
        }
    }
}

/// One entry of one cache as a backend sees it.
///
/// `Debug` shows the cache, never the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryId<'a> {
    cache: &'a CacheId,
    key_text: &'a str,
}

impl<'a> EntryId<'a> {
    /// The cache the entry belongs to.
    #[must_use]
    pub const fn cache(&self) -> &'a CacheId {
        self.cache
    }

    /// The key text, at most 512 bytes of UTF-8.
    #[must_use]
    pub const fn key_text(&self) -> &'a str {
        self.key_text
    }

    /// The name under which the entry is stored: `<prefix>:<key text>`.
    #[must_use]
    pub fn storage_key(&self) -> String {
        format!("{}:{}", self.cache.prefix, self.key_text)
    }
}

impl fmt::Debug for EntryId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryId")
            .field("cache", &self.cache.name)
            .finish_non_exhaustive()
    }
}

/// What is to be written by [`CacheBackend::store`] and [`CacheBackend::put`].
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// The bytes to keep, exactly as they are.
    pub bytes: Bytes,
    /// After which time the entry is gone, at least one millisecond; `None` keeps it without limit.
    pub ttl: Option<Duration>,
    /// The tokens read before the value was computed.
    pub fence: Fence,
    /// Which stamp `fence` holds.
    pub scope: FenceScope,
}

/// Which stamp a [`Fence`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FenceScope {
    /// The one of the entry, as [`CacheBackend::load`] gives it.
    Entry,
    /// The one that every change of the cache replaces, as [`CacheBackend::load_cache_fence`] gives it.
    Cache,
}

/// A store outside this process.
///
/// Every method may be called at any time by any number of tasks. A dropped future may leave the step done or not
/// done, never half done. Errors are answered by the cache with a miss; they never reach a caller's function.
#[async_trait]
pub trait CacheBackend: fmt::Debug + Send + Sync + 'static {
    /// Reads an entry and the tokens in force, in one atomic step; tokens that do not exist yet are created.
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError>;

    /// Writes the entry if both tokens are still those of `new.fence`, in one atomic step. `Ok(false)`: they are not, nothing
    /// was changed.
    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError>;

    /// As [`store`](Self::store), for a value that supersedes what is being computed elsewhere: the stamp is replaced in
    /// any case, and an entry that may not be written is removed.
    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError>;

    /// The tokens to hold for a [`put`](Self::put) whose key is known only afterwards: its `stamp` is one that every
    /// [`invalidate`](Self::invalidate) and [`put`](Self::put) of any entry of the cache replaces, by any process.
    ///
    /// `None`, which is what it gives unless overridden: there is no such stamp; such a put removes the entry, and the next
    /// reader stores it.
    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        let _ = cache;
        Ok(None)
    }

    /// Removes the entry and replaces its stamp, in one atomic step; says whether there was one. One that is left behind by
    /// [`invalidate_all`](Self::invalidate_all) may count as there.
    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError>;

    /// Replaces the epoch of the cache: no entry of it counts any more, at the same cost for ten entries and ten
    /// million. What is left behind may be removed later, in the background.
    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError>;

    /// Invalidates every entry whose key text the predicate accepts, and says how many there were: those that have expired
    /// are not counted, those that [`invalidate_all`](Self::invalidate_all) has left behind may be.
    ///
    /// Entries that are being computed are not in the store yet: to reach them too, the stamps of *all* entries of the cache
    /// are replaced first.
    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError>;

    /// How long a caller waits for this backend before it goes on without it: for a read, and for the
    /// acknowledgement of an invalidation. 100 ms unless overridden.
    fn read_budget(&self) -> Duration {
        Duration::from_millis(100)
    }

    /// How long a store or an invalidation may go on in the background. One second unless overridden.
    fn store_budget(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// The largest entry that is stored, in bytes. 1 MiB unless overridden.
    fn max_value_bytes(&self) -> usize {
        1 << 20
    }

    /// Whether the backend answers, from what is known without asking it.
    fn health(&self) -> BackendHealth {
        BackendHealth::Up
    }
}

/// Whether a backend answers.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackendErrorKind {
    /// Not reachable, or the connection was lost.
    Unavailable,
    /// No answer within the budget.
    Timeout,
    /// The server refuses this client: a password, a permission.
    Refused,
    /// The server is full: memory, connections.
    Capacity,
    /// The server cannot do this now: it is read-only, loading, failing over.
    Role,
    /// The server answered with something else than was asked for.
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
