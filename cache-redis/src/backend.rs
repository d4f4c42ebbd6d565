//! The public face: settings, and the trait that caches know.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use cache_core::{
    BackendError, CacheBackend, CacheError,
    backend::{
        BackendHealth, BackendInstance, CacheId, EntryId, Fence, Loaded, NewEntry, Revalidated,
    },
};

use crate::{
    acknowledged::Ended,
    address::Address,
    connection::Patience,
    layout::Keys,
    link::Link,
    server::Server,
    sweep::{self, Sweeps},
    watched::ScriptsRefused,
};

/// A Redis server as the store of caches.
///
/// Cheap to clone; all clones share their connections. It needs Redis 6.0 or newer, or Valkey. Where it may
/// not use `EVAL`, a store takes two round trips on a connection of its own.
///
/// Nothing ever waits for the server but the calls themselves, and those no longer than their budget. Connections are
/// made when they are first needed, on the tokio runtime that needs them, and replaced when they are lost, when they
/// stop answering, and when that runtime has ended.
///
/// # Examples
///
/// ```
/// use cache_redis::RedisBackend;
///
/// // Never waits for the server: it need not even run yet.
/// let redis = RedisBackend::open("redis://127.0.0.1:6379/2")?;
/// # Ok::<(), cache_core::CacheError>(())
/// ```
#[derive(Clone)]
pub struct RedisBackend(Arc<Server>);

/// The settings of a [`RedisBackend`], see [`RedisBackend::builder`].
///
/// # Examples
///
/// ```
/// use cache_redis::RedisBackend;
/// use std::time::Duration;
///
/// let redis = RedisBackend::builder("redis://127.0.0.1")
///     .read_budget(Duration::from_millis(20)) // rather no cache than a slow one
///     .store_budget(Duration::from_secs(2))
///     .connections(4)
///     .max_value_bytes(8 << 20)
///     .build()?;
/// # Ok::<(), cache_core::CacheError>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct RedisBackendBuilder {
    url: String,
    read_budget: Duration,
    store_budget: Duration,
    connections: usize,
    max_value_bytes: usize,
}

impl RedisBackend {
    /// A server with the default settings: see [`builder`](Self::builder).
    ///
    /// The URL is `redis://[user:password@]host[:port][/database]` or `unix:///path/to/socket?db=database`. A user name or a
    /// password with special characters is percent-encoded. With the feature `tls` also `rediss://…`, once the program has
    /// installed a crypto provider for rustls; certificates are checked against those that the system trusts, as they are when
    /// the first such connection is made.
    ///
    /// # Errors
    ///
    /// [`CacheError::BackendUrl`] if the URL cannot be read, or asks for TLS without the feature or the crypto provider. It
    /// does not repeat the URL. Whether there is a server is not looked at.
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_redis::RedisBackend;
    ///
    /// RedisBackend::open("redis://cache:p%40ss@redis.internal:6380/2")?; // the password is p@ss
    /// RedisBackend::open("unix:///run/redis/redis.sock?db=2")?;
    ///
    /// let error = RedisBackend::open("http://:secret@localhost").unwrap_err();
    /// assert!(!error.to_string().contains("secret"));
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn open(url: &str) -> Result<Self, CacheError> {
        Self::builder(url).build()
    }

    /// A server with settings of its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use cache_redis::RedisBackend;
    ///
    /// let redis = RedisBackend::builder("redis://127.0.0.1")
    ///     .read_budget(Duration::from_millis(50))
    ///     .connections(2)
    ///     .build()?;
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn builder(url: &str) -> RedisBackendBuilder {
        RedisBackendBuilder {
            url: url.to_owned(),
            read_budget: Duration::from_millis(100),
            store_budget: Duration::from_secs(1),
            connections: 1,
            max_value_bytes: 1 << 20,
        }
    }
}

impl RedisBackendBuilder {
    /// How long a look-up waits for the server, connecting included, before the caller goes on without it; and how long the
    /// acknowledgement of a put or an invalidation is waited for. Default: 100 ms.
    ///
    /// # Examples
    ///
    /// ```
    /// # use cache_redis::RedisBackend;
    /// use cache_core::CacheBackend as _;
    /// use std::time::Duration;
    ///
    /// let redis = RedisBackend::builder("redis://127.0.0.1").read_budget(Duration::from_millis(20)).build()?;
    /// assert_eq!(redis.read_budget(), Duration::from_millis(20));
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub const fn read_budget(mut self, limit: Duration) -> Self {
        self.read_budget = limit;
        self
    }

    /// How long a store, a put or an invalidation may take in the background, and how long a silent connection is waited for before it is
    /// replaced (then never less than the read budget). Default: one second.
    ///
    /// # Examples
    ///
    /// ```
    /// # use cache_redis::RedisBackend;
    /// use cache_core::CacheBackend as _;
    /// use std::time::Duration;
    ///
    /// let redis = RedisBackend::builder("redis://127.0.0.1").store_budget(Duration::from_secs(2)).build()?;
    /// assert_eq!(redis.store_budget(), Duration::from_secs(2));
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub const fn store_budget(mut self, limit: Duration) -> Self {
        self.store_budget = limit;
        self
    }

    /// How many connections are used in turn; 0 is taken for 1. Default: 1, which all callers share. Requests that come at about
    /// the same time go out in one write, and the more share one the less each costs; so more than one is for programs with more
    /// processors and very many callers.
    ///
    /// Values of more than 64 KiB have one more connection for themselves, so that nobody waits behind them; it is made when the
    /// first turns up.
    ///
    /// # Examples
    ///
    /// ```
    /// # use cache_redis::RedisBackend;
    /// let redis = RedisBackend::builder("redis://127.0.0.1").connections(4).build()?;
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// The largest entry that caches store here, in bytes. Default: 1 MiB. A server sends one reply after the other: larger ones
    /// hold up all who read large ones, and take the server's time from everybody.
    ///
    /// # Examples
    ///
    /// ```
    /// # use cache_redis::RedisBackend;
    /// use cache_core::CacheBackend as _;
    ///
    /// let redis = RedisBackend::builder("redis://127.0.0.1").max_value_bytes(8 << 20).build()?;
    /// assert_eq!(redis.max_value_bytes(), 8 * 1024 * 1024);
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub const fn max_value_bytes(mut self, bytes: usize) -> Self {
        self.max_value_bytes = bytes;
        self
    }

    /// The backend. Does not connect yet.
    ///
    /// # Errors
    ///
    /// [`CacheError::BackendUrl`] if the URL cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// # use cache_redis::RedisBackend;
    /// assert!(RedisBackend::builder("redis://127.0.0.1:1").build().is_ok()); // nobody listens there, yet
    /// assert!(RedisBackend::builder("127.0.0.1").build().is_err()); // not a URL
    /// ```
    pub fn build(self) -> Result<RedisBackend, CacheError> {
        let patience = Patience {
            connecting: self.read_budget,
            // Not longer, however patient the requests are: a server that is back would be found that much later.
            attempt: self
                .read_budget
                .max(self.store_budget.min(Duration::from_secs(1))),
            silence: self.read_budget.max(self.store_budget),
        };
        let address = Address::parse(&self.url, patience.silence)?;
        Ok(RedisBackend(Arc::new(Server {
            link: Link::new(address, self.connections, patience),
            sweeps: Sweeps::default(),
            foreign: Mutex::default(),
            scripts: ScriptsRefused::default(),
            read_budget: self.read_budget,
            store_budget: self.store_budget,
            max_value_bytes: self.max_value_bytes,
        })))
    }
}

#[async_trait]
impl CacheBackend for RedisBackend {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.0.load(entry).await
    }

    /// Two commands in one write, whose answer is as small as the end that is asked for; a plain look-up after it if the entry is
    /// another one.
    async fn revalidate(
        &self,
        entry: EntryId<'_>,
        end: &[u8],
    ) -> Result<Revalidated, BackendError> {
        self.0.revalidate(entry, end).await
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        self.0.store(entry, &new).await
    }

    /// A server that is full writes nothing, but the entry goes and the stamp with it: that is `Ok(false)` too.
    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let mut telling = self.0.link.acknowledged.telling();
        loop {
            let written = self.0.put(entry, &new).await?;
            if telling.heard(Ended::entry(entry))? {
                return Ok(written);
            }
        }
    }

    async fn load_cache_fence(&self, cache: &CacheId) -> Result<Option<Fence>, BackendError> {
        Ok(self.0.load_cache_fence(cache).await?.fence)
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        let mut telling = self.0.link.acknowledged.telling();
        loop {
            let removed = self.0.invalidate(entry.cache(), &[Keys::of(entry)]).await?;
            if telling.heard(Ended::entry(entry))? {
                return Ok(removed == 1);
            }
        }
    }

    /// One command; three on a server before 6.2, and on one that is full. What is left behind is removed by a sweep in the background, as far as it surely belongs to this cache,
    /// and otherwise expires by itself.
    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        let mut telling = self.0.link.acknowledged.telling();
        loop {
            if let Some(ended) = self.0.replace_epoch(cache).await? {
                sweep::start(&self.0, cache, ended);
            }
            if telling.heard(Ended::Cache(cache.clone()))? {
                return Ok(());
            }
        }
    }

    /// Walks through the whole database in small steps. It has no time limit as a whole, each step has the store budget;
    /// if one fails, some entries have been invalidated and others have not. If the prefix of another cache begins with
    /// this one's and a colon, the predicate is asked about the entries of that cache too.
    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        let mut telling = self.0.link.acknowledged.telling();
        loop {
            let ended = self.0.invalidate_if(cache, predicate).await?;
            // Loads under way are to be refused, also by a server that has not seen their stamps replaced: there only ending the
            // whole cache does that.
            if telling.heard(Ended::Cache(cache.clone()))? {
                return Ok(ended);
            }
        }
    }

    /// Writes, because a server that lost its role can still be read. One that is full works as far as a cache is concerned.
    async fn probe(&self, _cache: &CacheId) -> Result<(), BackendError> {
        self.0.probe().await
    }

    fn instance(&self) -> Option<BackendInstance> {
        Some(BackendInstance::of(&self.0))
    }

    /// What is not a string is not seen by a look-up; a store finds it in its way.
    fn foreign_entries(&self, cache: &CacheId) -> u64 {
        self.0.foreign(cache)
    }

    fn read_budget(&self) -> Duration {
        self.0.read_budget
    }

    fn keeps_read_budget(&self) -> bool {
        true
    }

    fn store_budget(&self) -> Duration {
        self.0.store_budget
    }

    fn max_value_bytes(&self) -> usize {
        self.0.max_value_bytes
    }

    fn health(&self) -> BackendHealth {
        self.0.link.health()
    }
}

impl fmt::Debug for RedisBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBackend")
            .field("address", self.0.link.address())
            .field("read_budget", &self.0.read_budget)
            .field("store_budget", &self.0.store_budget)
            .field("max_value_bytes", &self.0.max_value_bytes)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for RedisBackendBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the URL: it may hold a password, and may not even be one yet.
        f.debug_struct("RedisBackendBuilder")
            .field("read_budget", &self.read_budget)
            .field("store_budget", &self.store_budget)
            .field("connections", &self.connections)
            .field("max_value_bytes", &self.max_value_bytes)
            .finish_non_exhaustive()
    }
}
