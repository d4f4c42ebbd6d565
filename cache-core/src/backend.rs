//! What a store outside this process has to do.
//!
//! A backend keeps bytes and two kinds of random [`Token`]s beside them: a **stamp** for every entry (several entries
//! may share one) and an **epoch** for every cache. An invalidation replaces a token by a fresh one; a store succeeds
//! only while both tokens are what they were *before the value was computed*. That is the whole protocol: a value that
//! was computed from old data finds its tokens replaced and is refused, however late it arrives and whichever process
//! sends it.
//!
//! ```
//! use cache_core::backend::{CacheBackend, CacheId, FenceScope, NewEntry};
//! use cache_core::{Bytes, testing::MapBackend};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
//! let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
//! let entry = cache.entry("42");
//! let fence = backend.load(entry).await?.fence.expect("tokens are created where there are none");
//!
//! // While one process computes the value, another changes the data:
//! backend.invalidate(entry).await?;
//!
//! let late = NewEntry { bytes: Bytes::from_static(b"old"), ttl: None, fence, scope: FenceScope::Entry };
//! assert!(!backend.store(entry, late).await?);
//! assert_eq!(backend.load(entry).await?.bytes, None);
//! # Ok(()) }
//! ```
//!
//! Everything else (single flight, codecs, checks of what was read, time limits, statistics) is done by the caches in
//! front of the backend and is the same for every backend. So a backend is small: `examples/own_backend.rs` is a whole one, and
//! [`contract::check`](crate::testing::contract::check) says whether one of your own is right.

mod error;
mod id;
mod token;

use std::{fmt, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;

pub use self::{
    error::{BackendError, BackendErrorKind, BackendHealth},
    id::{BackendInstance, CacheId, EntryId},
    token::{Fence, Token},
};

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

/// The answer of [`CacheBackend::load`].
///
/// ```
/// use cache_core::backend::{Fence, Loaded, Token};
///
/// // Nothing is stored, and a value that is computed from now on may be:
/// let fence = Fence { stamp: Token::random(), epoch: Token::random() };
/// let absent = Loaded { bytes: None, fence: Some(fence) };
///
/// // Nothing is known; the caller's function runs, and nothing is stored:
/// assert_eq!(Loaded::default().fence, None);
/// # let _ = absent;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The bytes that were stored, if any. The cache checks by itself that they belong to the present epoch.
    pub bytes: Option<Bytes>,
    /// The tokens in force, read in the same atomic step as the bytes. `None` if they could not be
    /// established: then nothing is served and nothing is stored.
    pub fence: Option<Fence>,
}

/// The answer of [`CacheBackend::revalidate`].
///
/// ```
/// use cache_core::backend::{Loaded, Revalidated};
///
/// // What a backend says that has forgotten everything:
/// assert!(matches!(Revalidated::Changed(Loaded::default()), Revalidated::Changed(loaded) if loaded.bytes.is_none()));
/// ```
#[derive(Clone, Debug)]
pub enum Revalidated {
    /// The entry ends as the caller said, and these tokens are in force. The cache checks by itself that the entry belongs to
    /// the present epoch.
    Same(Fence),
    /// It does not, or it was not looked at: what [`CacheBackend::load`] would have answered.
    Changed(Loaded),
}

/// What is to be written by [`CacheBackend::store`] and [`CacheBackend::put`].
///
/// ```
/// use cache_core::Bytes;
/// use cache_core::backend::{CacheBackend, CacheId, FenceScope, NewEntry};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
/// # let backend = cache_core::testing::MapBackend::new();
/// let cache = CacheId::new("price", "cache:price");
/// let fence = backend.load(cache.entry("42")).await?.fence.unwrap();
/// let new = NewEntry {
///     bytes: Bytes::from_static(b"2990"), // computed after `load`
///     ttl: Some(Duration::from_secs(60)),
///     fence,
///     scope: FenceScope::Entry,
/// };
/// assert!(backend.store(cache.entry("42"), new).await?);
/// assert_eq!(backend.load(cache.entry("42")).await?.bytes.as_deref(), Some(&b"2990"[..]));
/// # Ok(()) }
/// ```
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
///
/// ```
/// use cache_core::Bytes;
/// use cache_core::backend::{CacheBackend, CacheId, FenceScope, NewEntry};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
/// # let backend = cache_core::testing::MapBackend::new();
/// let cache = CacheId::new("order", "cache:order");
/// // An order gets its number while it is written, so no key is known yet: any change of the cache will do.
/// let fence = backend.load_cache_fence(&cache).await?.unwrap();
/// backend.invalidate(cache.entry("6")).await?;
///
/// let new = NewEntry { bytes: Bytes::from_static(b"7"), ttl: None, fence, scope: FenceScope::Cache };
/// assert!(!backend.put(cache.entry("7"), new).await?);
/// # Ok(()) }
/// ```
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
/// done, never half done; only [`invalidate_if`](Self::invalidate_if) may be many steps and end between two of them. An error
/// of a look-up is a miss to the cache, and none reaches those who call annotated functions; who uses a
/// [`Cache`](crate::Cache) by hand gets those of stores and invalidations as [`CacheError::Backend`](crate::CacheError::Backend).
///
/// The whole of one, in a map. The lock makes each step atomic; a server does it by a script or a transaction.
///
/// ```
/// use cache_core::backend::{CacheBackend, CacheId, EntryId, Fence, Loaded, NewEntry, Token};
/// use cache_core::{BackendError, Bytes, async_trait, testing::contract};
/// use std::{collections::HashMap, fmt, sync::Mutex};
/// use tokio::time::{self, Instant};
///
/// #[derive(Default)]
/// struct MyBackend(Mutex<State>);
///
/// #[derive(Default)]
/// struct State {
///     entries: HashMap<String, (Bytes, Option<Instant>)>,
///     tokens: HashMap<String, Token>, // stamps by storage key, epochs by prefix
/// }
///
/// impl State {
///     fn fence(&mut self, entry: EntryId<'_>) -> Fence {
///         let mut token = |name: String| *self.tokens.entry(name).or_insert_with(Token::random);
///         Fence { stamp: token(entry.storage_key()), epoch: token(entry.cache().prefix().to_owned()) }
///     }
///
///     fn get(&self, key: &str) -> Option<&Bytes> {
///         let (bytes, end) = self.entries.get(key)?;
///         end.is_none_or(|end| Instant::now() < end).then_some(bytes)
///     }
///
///     fn set(&mut self, entry: EntryId<'_>, new: NewEntry) {
///         let end = new.ttl.map(|ttl| Instant::now() + ttl);
///         self.entries.insert(entry.storage_key(), (new.bytes, end));
///     }
///
///     fn end(&mut self, key: String) -> bool {
///         let was_there = self.get(&key).is_some();
///         self.entries.remove(&key);
///         self.tokens.insert(key, Token::random());
///         was_there
///     }
/// }
///
/// #[async_trait]
/// impl CacheBackend for MyBackend {
///     async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
///         let mut state = self.0.lock().unwrap();
///         let bytes = state.get(&entry.storage_key()).cloned();
///         Ok(Loaded { bytes, fence: Some(state.fence(entry)) })
///     }
///
///     async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
///         let mut state = self.0.lock().unwrap();
///         let holds = state.fence(entry) == new.fence;
///         if holds {
///             state.set(entry, new);
///         }
///         Ok(holds)
///     }
///
///     async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
///         let mut state = self.0.lock().unwrap();
///         let holds = state.fence(entry) == new.fence;
///         state.end(entry.storage_key());
///         if holds {
///             state.set(entry, new);
///         }
///         Ok(holds)
///     }
///
///     async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
///         Ok(self.0.lock().unwrap().end(entry.storage_key()))
///     }
///
///     async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
///         let tokens = &mut self.0.lock().unwrap().tokens;
///         tokens.insert(cache.prefix().to_owned(), Token::random());
///         Ok(())
///     }
///
///     async fn invalidate_if(
///         &self,
///         cache: &CacheId,
///         predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
///     ) -> Result<u64, BackendError> {
///         let mut state = self.0.lock().unwrap();
///         let prefix = format!("{}:", cache.prefix());
///         state.tokens.retain(|name, _| !name.starts_with(&prefix)); // all stamps, and not the epoch
///         let keys = state.entries.keys().filter(|key| key.strip_prefix(&prefix).is_some_and(predicate));
///         let keys: Vec<_> = keys.cloned().collect();
///         Ok(keys.into_iter().map(|key| u64::from(state.end(key))).sum())
///     }
/// }
///
/// impl fmt::Debug for MyBackend {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         f.write_str("MyBackend") // no keys and no values: it is logged
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)] async fn main() {
/// contract::check(&MyBackend::default(), time::advance).await;
/// # }
/// ```
#[async_trait]
pub trait CacheBackend: fmt::Debug + Send + Sync + 'static {
    /// Reads an entry and the tokens in force, in one atomic step; tokens that do not exist yet are created.
    ///
    /// ```
    /// # use cache_core::{backend::{CacheBackend, CacheId}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// # let entry = cache.entry("42");
    /// let first = backend.load(entry).await?;
    /// assert_eq!(first.bytes, None);
    /// assert_eq!(backend.load(entry).await?.fence, first.fence); // created once, then kept
    /// # Ok(()) }
    /// ```
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError>;

    /// Looks up an entry for a caller that has a copy of one which ended in `end`: whether it is still that one, without sending
    /// it. The ends of two entries are the same only if all of their bytes are, for each has a random number in its last
    /// [`end.len()`](slice::len) bytes; so these bytes are all there is to compare.
    ///
    /// Tokens and end need not be read in one step, but both after the call began. Where one of the tokens is missing the answer
    /// is that of [`load`](Self::load), which creates it. An entry without any bytes may be taken for none.
    ///
    /// Unless overridden it is [`load`](Self::load): [`CacheConfig::validated`](crate::CacheConfig::validated) works, and spares
    /// nothing.
    ///
    /// ```
    /// # use cache_core::{Bytes, backend::{CacheBackend, CacheId, FenceScope, NewEntry, Revalidated}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// # let entry = cache.entry("42");
    /// # let new = |fence| NewEntry { bytes: Bytes::from_static(b"2990 #1"), ttl: None, fence, scope: FenceScope::Entry };
    /// let fence = backend.load(entry).await?.fence.unwrap();
    /// backend.store(entry, new(fence)).await?;
    /// assert!(matches!(backend.revalidate(entry, b"#1").await?, Revalidated::Same(now) if now == fence));
    ///
    /// let other = backend.revalidate(entry, b"#2").await?;
    /// assert!(matches!(other, Revalidated::Changed(loaded) if loaded.bytes.as_deref() == Some(b"2990 #1")));
    /// # Ok(()) }
    /// ```
    async fn revalidate(
        &self,
        entry: EntryId<'_>,
        end: &[u8],
    ) -> Result<Revalidated, BackendError> {
        let _ = end;
        self.load(entry).await.map(Revalidated::Changed)
    }

    /// Writes the entry if both tokens are still those of `new.fence`, in one atomic step. `Ok(false)`: they are not, nothing
    /// was changed.
    ///
    /// ```
    /// # use cache_core::{Bytes, backend::{CacheBackend, CacheId, FenceScope, NewEntry}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// # let entry = cache.entry("42");
    /// # let new = |fence| NewEntry { bytes: Bytes::from_static(b"2990"), ttl: None, fence, scope: FenceScope::Entry };
    /// let fence = backend.load(entry).await?.fence.unwrap();
    /// assert!(backend.store(entry, new(fence)).await?);
    /// assert!(backend.store(entry, new(fence)).await?); // the tokens are still in force
    ///
    /// backend.invalidate(entry).await?;
    /// assert!(!backend.store(entry, new(fence)).await?);
    /// # Ok(()) }
    /// ```
    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError>;

    /// As [`store`](Self::store), for a value that supersedes what is being computed elsewhere: the stamp is replaced in
    /// any case, and an entry that may not be written is removed.
    ///
    /// ```
    /// # use cache_core::{Bytes, backend::{CacheBackend, CacheId, FenceScope, NewEntry}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// # let entry = cache.entry("42");
    /// # let new = |fence| NewEntry { bytes: Bytes::from_static(b"2990"), ttl: None, fence, scope: FenceScope::Entry };
    /// let fence = backend.load(entry).await?.fence.unwrap();
    /// assert!(backend.put(entry, new(fence)).await?);
    /// assert!(!backend.store(entry, new(fence)).await?); // it was computed before the put
    /// assert!(backend.load(entry).await?.bytes.is_some());
    ///
    /// assert!(!backend.put(entry, new(fence)).await?); // nobody knows which of two is newer: none stays
    /// assert_eq!(backend.load(entry).await?.bytes, None);
    /// # Ok(()) }
    /// ```
    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError>;

    /// The tokens to hold for a [`put`](Self::put) whose key is known only afterwards: its `stamp` is one that every
    /// [`invalidate`](Self::invalidate) and [`put`](Self::put) of any entry of the cache replaces, by any process.
    ///
    /// `None`, which is what it gives unless overridden: there is no such stamp; such a put removes the entry, and the next
    /// reader stores it.
    ///
    /// ```
    /// # use cache_core::{backend::{CacheBackend, CacheId}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// let fence = backend.load_cache_fence(&cache).await?.expect("this backend has such a stamp");
    /// backend.invalidate(cache.entry("57")).await?;
    /// assert_ne!(backend.load_cache_fence(&cache).await?, Some(fence));
    /// # Ok(()) }
    /// ```
    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        let _ = cache;
        Ok(None)
    }

    /// Removes the entry and replaces its stamp, in one atomic step; says whether there was one. One that is left behind by
    /// [`invalidate_all`](Self::invalidate_all) may count as there.
    ///
    /// ```
    /// # use cache_core::{Bytes, backend::{CacheBackend, CacheId, FenceScope, NewEntry}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// # let entry = cache.entry("42");
    /// # let new = |fence| NewEntry { bytes: Bytes::from_static(b"2990"), ttl: None, fence, scope: FenceScope::Entry };
    /// let fence = backend.load(entry).await?.fence.unwrap();
    /// backend.store(entry, new(fence)).await?;
    /// assert!(backend.invalidate(entry).await?);
    /// assert!(!backend.invalidate(entry).await?); // there is none, but a new stamp again
    /// # Ok(()) }
    /// ```
    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError>;

    /// Replaces the epoch of the cache: no entry of it counts any more, at the same cost for ten entries and ten
    /// million. What is left behind may be removed later, in the background.
    ///
    /// ```
    /// # use cache_core::{Bytes, backend::{CacheBackend, CacheId, FenceScope, NewEntry}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// # let entry = cache.entry("42");
    /// # let new = |fence| NewEntry { bytes: Bytes::from_static(b"2990"), ttl: None, fence, scope: FenceScope::Entry };
    /// let fence = backend.load(entry).await?.fence.unwrap();
    /// backend.store(entry, new(fence)).await?;
    /// backend.invalidate_all(&cache).await?;
    /// // Bytes that are left over do no harm: the cache sees that they belong to another epoch.
    /// assert_ne!(backend.load(entry).await?.fence.unwrap().epoch, fence.epoch);
    /// # Ok(()) }
    /// ```
    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError>;

    /// Invalidates every entry whose key text the predicate accepts, and says how many there were: those that have expired
    /// are not counted, those that [`invalidate_all`](Self::invalidate_all) has left behind may be.
    ///
    /// Entries that are being computed are not in the store yet: to reach them too, the stamps of *all* entries of the cache
    /// are replaced first.
    ///
    /// ```
    /// # use cache_core::{Bytes, backend::{CacheBackend, CacheId, FenceScope, NewEntry}, testing::MapBackend};
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::BackendError> {
    /// # let (backend, cache) = (MapBackend::new(), CacheId::new("price", "cache:price"));
    /// # let new = |fence| NewEntry { bytes: Bytes::from_static(b"2990"), ttl: None, fence, scope: FenceScope::Entry };
    /// for key in ["42", "43", "57"] {
    ///     let fence = backend.load(cache.entry(key)).await?.fence.unwrap();
    ///     backend.store(cache.entry(key), new(fence)).await?;
    /// }
    /// let computing = backend.load(cache.entry("44")).await?.fence.unwrap();
    /// assert_eq!(backend.invalidate_if(&cache, &|key| key.starts_with('4')).await?, 2);
    /// assert!(!backend.store(cache.entry("44"), new(computing)).await?);
    /// # Ok(()) }
    /// ```
    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError>;

    /// Finds out whether the backend works again, after it was given up. Asked in the background, at most a few times a second,
    /// within the read budget; callers come back when it succeeds.
    ///
    /// Unless overridden it looks up an entry. Override it where reading may work although writing does not.
    ///
    /// ```
    /// use cache_core::{backend::{CacheBackend, CacheId}, testing::{FaultyBackend, MapBackend, Operation}};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let backend = FaultyBackend::new(MapBackend::new());
    /// let cache = CacheId::new("price", "cache:price");
    /// backend.fail(&[Operation::Load]);
    /// assert!(backend.probe(&cache).await.is_err());
    /// backend.heal();
    /// assert!(backend.probe(&cache).await.is_ok());
    /// # }
    /// ```
    async fn probe(&self, cache: &CacheId) -> Result<(), BackendError> {
        // Any entry will do, and of this one it is known that no long key text is made up for it.
        self.load(cache.entry("default-cache-key")).await.map(drop)
    }

    /// How many stores have found, in place of an entry of this cache, something of another kind that a look-up reports as absent: in
    /// Redis a list, say. The cache counts it among its [`decode_failures`](crate::CacheStats::decode_failures). 0 unless overridden.
    fn foreign_entries(&self, cache: &CacheId) -> u64 {
        let _ = cache;
        0
    }

    /// What tells this backend from others: the same for each of its handles. The caches of a manager that are on one backend
    /// give it up together when it fails, and come back to it together.
    ///
    /// `None`, which is what it gives unless overridden: handles that were passed to
    /// [`CacheConfig::on`](crate::CacheConfig::on) one by one are taken for several backends.
    ///
    /// ```
    /// use cache_core::{CacheBackend, testing::MapBackend};
    ///
    /// let backend = MapBackend::new();
    /// assert_eq!(backend.instance(), backend.clone().instance());
    /// assert_ne!(backend.instance(), MapBackend::new().instance());
    /// ```
    fn instance(&self) -> Option<BackendInstance> {
        None
    }

    /// How long a caller waits for this backend before it goes on without it: for a read, and for the
    /// acknowledgement of a put or an invalidation. 100 ms unless overridden.
    fn read_budget(&self) -> Duration {
        Duration::from_millis(100)
    }

    /// Whether [`load`](Self::load) and [`revalidate`](Self::revalidate) end within the read budget, whatever happens. Then the
    /// cache sets look-ups no limit of its own, which spares a timer for each. `false` unless overridden.
    ///
    /// One that ends for want of time gives [`BackendErrorKind::Timeout`]. A backend around another one that may wait by
    /// itself, to delay or to try again, does not pass this on.
    fn keeps_read_budget(&self) -> bool {
        false
    }

    /// How long a store, a put or an invalidation may go on in the background. One second unless overridden.
    /// [`invalidate_if`](Self::invalidate_if) has no limit.
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
