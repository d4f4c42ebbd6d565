//! The steps of the protocol as commands of Redis.
//!
//! Whatever a step is, it is one write and one reply; only the first use of a stamp or an epoch and the first use of a script
//! take a second one.

use std::{fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use cache_core::{
    BackendError, CacheBackend, CacheError,
    backend::{BackendHealth, CacheId, EntryId, Fence, Loaded, NewEntry, Token},
};
use redis::{Cmd, Pipeline, ServerError, Value};
use tokio::time::Instant;

use crate::{
    address::Address,
    connection::{Link, Patience, Request},
    error,
    layout::{self, Keys},
    scripts::{PUT, STORE, Script},
    sweep::{self, Sweeps},
};

/// How long stamps and epochs live, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;
/// The longest time to live, in milliseconds.
const CENTURY: u64 = 100 * 365 * DAY;
/// How many entries are invalidated in one transaction.
const BATCH: usize = 100;

/// A Redis server as the store of caches.
///
/// Cheap to clone; all clones share their connections. It needs Redis 6.2 or newer, or Valkey, with `EVAL`.
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
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct RedisBackendBuilder {
    url: String,
    read_budget: Duration,
    store_budget: Duration,
    connections: usize,
    max_value_bytes: usize,
}

/// What the clones of a backend share.
pub(crate) struct Server {
    pub(crate) link: Link,
    pub(crate) sweeps: Sweeps,
    read_budget: Duration,
    store_budget: Duration,
    max_value_bytes: usize,
}

impl RedisBackend {
    /// A server with the default settings: see [`builder`](Self::builder).
    ///
    /// The URL is `redis://[user:password@]host[:port][/database]` or `unix:///path/to/socket?db=database`. A user name or a
    /// password with special characters is percent-encoded.
    ///
    /// # Errors
    ///
    /// [`CacheError::BackendUrl`] if the URL cannot be read. It does not repeat the URL. Whether there is a server is not
    /// looked at.
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
    /// How long a lookup waits for the server, connecting included, before the caller goes on without it. Default: 100 ms.
    pub const fn read_budget(mut self, limit: Duration) -> Self {
        self.read_budget = limit;
        self
    }

    /// How long a store or an invalidation may take, and how long a silent connection is waited for before it is
    /// replaced (then never less than the read budget). Default: one second.
    pub const fn store_budget(mut self, limit: Duration) -> Self {
        self.store_budget = limit;
        self
    }

    /// How many connections are used in turn; 0 is taken for 1. Default: 1, which all callers share without waiting for
    /// each other's replies. More are worth it when the values are large.
    pub const fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// The largest entry that caches store here, in bytes. Default: 1 MiB. Larger ones hold up everybody else's replies.
    pub const fn max_value_bytes(mut self, bytes: usize) -> Self {
        self.max_value_bytes = bytes;
        self
    }

    /// The backend. Does not connect yet.
    ///
    /// # Errors
    ///
    /// [`CacheError::BackendUrl`] if the URL cannot be read.
    pub fn build(self) -> Result<RedisBackend, CacheError> {
        let patience = Patience {
            connecting: self.read_budget,
            silence: self.read_budget.max(self.store_budget),
        };
        let address = Address::parse(&self.url, patience.silence)?;
        Ok(RedisBackend(Arc::new(Server {
            link: Link::new(address, self.connections, patience),
            sweeps: Sweeps::default(),
            read_budget: self.read_budget,
            store_budget: self.store_budget,
            max_value_bytes: self.max_value_bytes,
        })))
    }
}

#[async_trait]
impl CacheBackend for RedisBackend {
    async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.0.load(&Keys::of(entry)).await
    }

    async fn store(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        match self.0.write(&STORE, &Keys::of(entry), &new, &[]).await? {
            Value::ServerError(failure) => Err(error::of_reply(&failure)),
            reply => Ok(count(reply)? == 1),
        }
    }

    async fn put(&self, entry: EntryId<'_>, new: NewEntry) -> Result<bool, BackendError> {
        let keys = Keys::of(entry);
        let stamp = Token::random();
        match self
            .0
            .write(
                &PUT,
                &keys,
                &new,
                &[stamp.as_bytes(), DAY.to_string().as_bytes()],
            )
            .await?
        {
            // The value could not be written, but what it supersedes must go all the same.
            Value::ServerError(failure) if error::is_out_of_memory(&failure) => {
                self.0.remove(std::slice::from_ref(&keys)).await?;
                Ok(false)
            }
            Value::ServerError(failure) => Err(error::of_reply(&failure)),
            reply => Ok(count(reply)? == 1),
        }
    }

    async fn invalidate(&self, entry: EntryId<'_>) -> Result<bool, BackendError> {
        Ok(self.0.invalidate(&[Keys::of(entry)]).await? == 1)
    }

    /// One command. What is left behind is removed by a sweep in the background, as far as it surely belongs to this cache,
    /// and otherwise expires by itself.
    async fn invalidate_all(&self, cache: &CacheId) -> Result<(), BackendError> {
        if let Some(ended) = self.0.replace_epoch(cache).await? {
            sweep::start(&self.0, cache, ended);
        }
        Ok(())
    }

    /// Walks through the whole database in small steps. It has no time limit as a whole, each step has the store budget;
    /// if one fails, some entries have been invalidated and others have not. If the prefix of another cache begins with
    /// this one's and a colon, the predicate is asked about the entries of that cache too.
    async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        // A value that is being computed right now has no entry to be found. It holds a stamp, though; so first all
        // stamps are replaced. What is stored before that is found by the walk after it.
        self.0.replace_stamps(cache).await?;
        let pattern = layout::entry_pattern(cache);
        let mut removed = 0;
        let mut cursor = 0;
        loop {
            let (next, found) = self.0.scan(cursor, &pattern).await?;
            let chosen = found
                .iter()
                .filter_map(|key| layout::key_text(cache, key))
                .filter(|key_text| predicate(key_text))
                .map(|key_text| Keys::of(cache.entry(key_text)))
                .collect::<Vec<_>>();
            for batch in chosen.chunks(BATCH) {
                removed += self.0.invalidate(batch).await?;
            }
            if next == 0 {
                return Ok(removed);
            }
            cursor = next;
        }
    }

    fn read_budget(&self) -> Duration {
        self.0.read_budget
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

impl Server {
    pub(crate) fn store_deadline(&self) -> Instant {
        Instant::now() + self.store_budget
    }

    async fn load(&self, keys: &Keys) -> Result<Loaded, BackendError> {
        let deadline = Instant::now() + self.read_budget;
        let mut read = redis::cmd("MGET");
        read.arg(&keys.value).arg(&keys.stamp).arg(&keys.epoch);
        let (bytes, stamp, epoch) =
            entry_and_tokens(self.link.request(Request::One(&read), deadline).await?)?;
        if let (Some(stamp), Some(epoch)) = (stamp, epoch) {
            return Ok(Loaded {
                bytes,
                fence: Some(Fence { stamp, epoch }),
            });
        }

        // First use, or a token was evicted. Others may create it at the same time, so what counts is what is there after.
        let mut create = Pipeline::new();
        for key in [
            stamp.is_none().then_some(&keys.stamp),
            epoch.is_none().then_some(&keys.epoch),
        ]
        .into_iter()
        .flatten()
        {
            create.add_command(set_token(key, "NX"));
        }
        create.add_command(read);
        let mut replies = array(self.link.request(Request::Many(&create), deadline).await?)?;
        let last = replies.pop().ok_or_else(error::unexpected)?;
        for reply in &replies {
            match reply {
                // Nothing can be stored now, which is no reason to call the server down.
                Value::ServerError(failure) if !error::is_out_of_memory(failure) => {
                    return Err(error::of_reply(failure));
                }
                _ => {}
            }
        }
        let (bytes, stamp, epoch) = entry_and_tokens(last)?;
        Ok(Loaded {
            bytes,
            fence: stamp
                .zip(epoch)
                .map(|(stamp, epoch)| Fence { stamp, epoch }),
        })
    }

    /// Runs [`STORE`] or [`PUT`].
    async fn write(
        &self,
        script: &Script,
        keys: &Keys,
        new: &NewEntry,
        more: &[&[u8]],
    ) -> Result<Value, BackendError> {
        let (ttl, needed, given) = match new.ttl {
            Some(ttl) => {
                let ttl = u64::try_from(ttl.as_millis())
                    .unwrap_or(u64::MAX)
                    .clamp(1, CENTURY);
                (ttl, ttl, DAY.max(2 * ttl))
            }
            None => (0, CENTURY, 2 * CENTURY),
        };
        let (ttl, needed, given) = (ttl.to_string(), needed.to_string(), given.to_string());
        let keys = [
            keys.value.as_bytes(),
            keys.stamp.as_bytes(),
            keys.epoch.as_bytes(),
        ];
        let mut arguments: Vec<&[u8]> = vec![
            new.fence.stamp.as_bytes(),
            new.fence.epoch.as_bytes(),
            &new.bytes,
            ttl.as_bytes(),
            needed.as_bytes(),
            given.as_bytes(),
        ];
        arguments.extend_from_slice(more);
        script
            .run(&self.link, &keys, &arguments, self.store_deadline())
            .await
    }

    /// Removes these entries and replaces their stamps, in one transaction; says how many entries there were.
    async fn invalidate(&self, batch: &[Keys]) -> Result<u64, BackendError> {
        let removals = batch
            .iter()
            .flat_map(|keys| [set_token(&keys.stamp, ""), unlink(&keys.value)]);
        match self.transaction(removals).await? {
            Ok(replies) => sum(replies.into_iter().skip(1).step_by(2)),
            Err(failure) if error::is_out_of_memory(&failure) => self.remove(batch).await,
            Err(failure) => Err(error::of_reply(&failure)),
        }
    }

    /// The same without writing anything: an absent stamp refuses as well as another one does.
    async fn remove(&self, batch: &[Keys]) -> Result<u64, BackendError> {
        let removals = batch
            .iter()
            .flat_map(|keys| [unlink(&keys.stamp), unlink(&keys.value)]);
        match self.transaction(removals).await? {
            Ok(replies) => sum(replies.into_iter().skip(1).step_by(2)),
            Err(failure) => Err(error::of_reply(&failure)),
        }
    }

    /// Sends the commands as one transaction in one write. The inner error is the reply that refused it: the first one
    /// says why, where the last one only says that something did.
    async fn transaction(
        &self,
        commands: impl Iterator<Item = Cmd> + Send,
    ) -> Result<Result<Vec<Value>, ServerError>, BackendError> {
        let mut pipeline = Pipeline::new();
        pipeline.cmd("MULTI");
        for command in commands {
            pipeline.add_command(command);
        }
        pipeline.cmd("EXEC");
        let mut replies = array(
            self.link
                .request(Request::Many(&pipeline), self.store_deadline())
                .await?,
        )?;
        if let Some(index) = replies
            .iter()
            .position(|reply| matches!(reply, Value::ServerError(_)))
            && let Value::ServerError(failure) = replies.swap_remove(index)
        {
            return Ok(Err(failure));
        }
        let mut executed = array(replies.pop().ok_or_else(error::unexpected)?)?;
        if let Some(index) = executed
            .iter()
            .position(|reply| matches!(reply, Value::ServerError(_)))
            && let Value::ServerError(failure) = executed.swap_remove(index)
        {
            return Ok(Err(failure));
        }
        Ok(Ok(executed))
    }

    /// Ends the epoch of a cache and says which one that was. An absent one needs no replacing: nothing can have been
    /// stored under it that would still count.
    async fn replace_epoch(&self, cache: &CacheId) -> Result<Option<Token>, BackendError> {
        let key = layout::epoch_key(cache);
        let mut replace = set_token(&key, "XX");
        replace.arg("GET");
        let deadline = self.store_deadline();
        let ended = match self.link.request(Request::One(&replace), deadline).await? {
            Value::ServerError(failure) if error::is_out_of_memory(&failure) => {
                self.link
                    .request(Request::One(redis::cmd("GETDEL").arg(&key)), deadline)
                    .await?
            }
            reply => reply,
        };
        match ended {
            Value::ServerError(failure) => Err(error::of_reply(&failure)),
            reply => Ok(token(&reply)),
        }
    }

    /// Replaces every stamp of a cache.
    async fn replace_stamps(&self, cache: &CacheId) -> Result<(), BackendError> {
        let pattern = layout::stamp_pattern(cache);
        let mut cursor = 0;
        loop {
            let (next, stamps) = self.scan(cursor, &pattern).await?;
            for batch in stamps.chunks(BATCH) {
                let replaced = self
                    .transaction(batch.iter().map(|stamp| set_token(stamp, "XX")))
                    .await?;
                match replaced {
                    Err(failure) if error::is_out_of_memory(&failure) => {
                        if let Err(failure) = self.transaction(batch.iter().map(unlink)).await? {
                            return Err(error::of_reply(&failure));
                        }
                    }
                    Err(failure) => return Err(error::of_reply(&failure)),
                    Ok(_) => {}
                }
            }
            if next == 0 {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// One step of a walk through the database: where to go on (0: nowhere) and some of the keys that match.
    pub(crate) async fn scan(
        &self,
        cursor: u64,
        pattern: &str,
    ) -> Result<(u64, Vec<Vec<u8>>), BackendError> {
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor)
            .arg("MATCH")
            .arg(pattern)
            .arg("COUNT")
            .arg(500);
        match self
            .link
            .request(Request::One(&scan), self.store_deadline())
            .await?
        {
            Value::ServerError(failure) => Err(error::of_reply(&failure)),
            reply => redis::from_redis_value(reply).map_err(|_| error::unexpected()),
        }
    }
}

fn set_token(key: impl AsRef<[u8]>, condition: &str) -> Cmd {
    let mut set = redis::cmd("SET");
    set.arg(key.as_ref())
        .arg(Token::random().as_bytes().as_slice());
    if !condition.is_empty() {
        set.arg(condition);
    }
    set.arg("PX").arg(DAY);
    set
}

fn unlink(key: impl AsRef<[u8]>) -> Cmd {
    let mut unlink = redis::cmd("UNLINK");
    unlink.arg(key.as_ref());
    unlink
}

fn array(reply: Value) -> Result<Vec<Value>, BackendError> {
    match reply {
        Value::Array(values) => Ok(values),
        Value::ServerError(failure) => Err(error::of_reply(&failure)),
        _ => Err(error::unexpected()),
    }
}

/// The reply to `MGET entry stamp epoch`. What is not a string, or not a token, counts as absent.
fn entry_and_tokens(
    reply: Value,
) -> Result<(Option<Bytes>, Option<Token>, Option<Token>), BackendError> {
    let [entry, stamp, epoch] =
        <[Value; 3]>::try_from(array(reply)?).map_err(|_| error::unexpected())?;
    let bytes = match entry {
        Value::BulkString(bytes) => Some(Bytes::from(bytes)),
        Value::Nil => None,
        _ => return Err(error::unexpected()),
    };
    Ok((bytes, token(&stamp), token(&epoch)))
}

fn token(reply: &Value) -> Option<Token> {
    match reply {
        Value::BulkString(bytes) => bytes.as_slice().try_into().ok().map(Token::from_bytes),
        _ => None,
    }
}

/// A number of things done.
pub(crate) fn count(reply: Value) -> Result<u64, BackendError> {
    match reply {
        Value::Int(number) => u64::try_from(number).map_err(|_| error::unexpected()),
        Value::ServerError(failure) => Err(error::of_reply(&failure)),
        _ => Err(error::unexpected()),
    }
}

fn sum(replies: impl Iterator<Item = Value>) -> Result<u64, BackendError> {
    replies.map(count).sum()
}

impl fmt::Debug for RedisBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisBackend")
            .field("link", &self.0.link)
            .field("read_budget", &self.0.read_budget)
            .field("store_budget", &self.0.store_budget)
            .field("max_value_bytes", &self.0.max_value_bytes)
            .finish()
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
