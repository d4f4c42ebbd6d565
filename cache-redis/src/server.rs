//! The steps of the protocol as commands of one server.
//!
//! Whatever a step is, it is one write and one reply; only the first use of a stamp or an epoch, the first use of a script, a
//! full server and a copy that is no longer true take a second one. An invalidation by predicate is no such step: it
//! walks through the database.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use cache_core::backend::{
    BackendError, CacheId, EntryId, FenceScope, Loaded, NewEntry, Revalidated, Token,
};
use redis::{Cmd, Pipeline, ServerError, Value};
use tokio::time::Instant;

use crate::{
    error,
    layout::{self, Keys},
    link::Link,
    reply::{self, Ending, Read},
    request::{self, Request},
    scripts::{PUT, STORE, Script},
    sweep::Sweeps,
    walk::Walk,
    watched::{ScriptsRefused, Write},
};

/// How long stamps and epochs live, in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;
/// The longest time to live, in milliseconds.
const CENTURY: u64 = 100 * 365 * DAY;
/// How many entries are invalidated in one transaction.
const BATCH: usize = 100;

/// What the clones of a backend share.
pub(crate) struct Server {
    pub(crate) link: Link,
    pub(crate) sweeps: Sweeps,
    /// Where something else than a string was found in place of an entry.
    pub(crate) foreign: Mutex<HashMap<CacheId, u64>>,
    /// Of scripts, by the server.
    pub(crate) scripts: ScriptsRefused,
    pub(crate) read_budget: Duration,
    pub(crate) store_budget: Duration,
    pub(crate) max_value_bytes: usize,
}

impl Server {
    pub(crate) fn store_deadline(&self) -> Instant {
        Instant::now() + self.store_budget
    }

    /// Finds out whether the server does what caches need.
    pub(crate) async fn probe(&self) -> Result<(), BackendError> {
        let probe = set_token(layout::PROBE_KEY, None);
        let deadline = Instant::now() + self.read_budget;
        match self.link.request(Request::One(&probe), deadline).await? {
            Value::ServerError(failure) if !error::is_out_of_memory(&failure) => {
                Err(error::of_reply(&failure))
            }
            _ => Ok(()),
        }
    }

    /// Reads an entry and the tokens in force, and creates the tokens if there are none.
    pub(crate) async fn load(&self, entry: EntryId<'_>) -> Result<Loaded, BackendError> {
        self.load_before(Instant::now() + self.read_budget, entry)
            .await
    }

    async fn load_before(
        &self,
        deadline: Instant,
        entry: EntryId<'_>,
    ) -> Result<Loaded, BackendError> {
        let look = request::pack_read(entry);
        let found = match self.link.look(&look, deadline, Read::in_place).await? {
            Ok(found) => found,
            Err(mut replies) => Read::from(replies.pop().ok_or_else(error::unexpected)?)?,
        };
        if found.stamp.is_some() && found.epoch.is_some() {
            return Ok(found.into());
        }
        // Apart, so that what is needed for it is not carried along by all others.
        Box::pin(async move { self.establish(&Keys::of(entry), found, deadline).await }).await
    }

    /// Creates the tokens that were not found.
    async fn establish(
        &self,
        keys: &Keys,
        mut found: Read,
        deadline: Instant,
    ) -> Result<Loaded, BackendError> {
        let read = read_of(keys);
        // First use, or a token was evicted. Others may create it at the same time, so what counts is what is there after.
        // If that is no token, somebody else wrote it: it stands for nothing and would stay for ever, so it is overwritten.
        for condition in [Some("NX"), None] {
            if found.stamp.is_some() && found.epoch.is_some() {
                break;
            }
            let mut create = Pipeline::new();
            if found.stamp.is_none() {
                create.add_command(set_token(&keys.stamp, condition));
            }
            if found.epoch.is_none() {
                create.add_command(set_token(&keys.epoch, condition));
            }
            create.add_command(read.clone());
            let mut replies =
                reply::array(self.link.request(Request::Many(&create), deadline).await?)?;
            let last = replies.pop().ok_or_else(error::unexpected)?;
            let failure = reply::take_error(&mut replies);
            found = match failure {
                None => Read::from(last)?,
                // A full server creates nothing, so nothing can be stored now; which is no reason to call it down.
                Some(failure) if error::is_out_of_memory(&failure) => {
                    return Ok(Read::from(last)?.into());
                }
                Some(failure) => return Err(error::of_reply(&failure)),
            };
        }
        Ok(found.into())
    }

    /// Reads the tokens in force and as much of the end of an entry as the caller knows; all of it if that is not what it knows.
    ///
    /// The two commands are not one step, and need not be. An entry that ends like that when the second is carried out was
    /// there then, and an epoch that it belongs to was in force when the first was: both after the caller asked.
    pub(crate) async fn revalidate(
        &self,
        entry: EntryId<'_>,
        end: &[u8],
    ) -> Result<Revalidated, BackendError> {
        // An offset of zero from the end would be the beginning.
        if end.is_empty() {
            return Box::pin(self.load(entry)).await.map(Revalidated::Changed);
        }
        let deadline = Instant::now() + self.read_budget;
        let look = request::pack_revalidation(entry, end.len());
        let found = match self.link.look(&look, deadline, Ending::in_place).await? {
            Ok(found) => found,
            Err(replies) => Ending::from(replies)?,
        };
        let Ending { fence, end: there } = found;
        match (fence, there.as_deref()) {
            (Some(fence), Some(there)) if there == end => Ok(Revalidated::Same(fence)),
            // Expired, invalidated or evicted.
            (Some(_), Some([])) => Ok(Revalidated::Changed(Loaded { bytes: None, fence })),
            // Another entry, or a token is missing. Apart, so that what is needed for it is not carried along by all others.
            _ => Box::pin(self.load_before(deadline, entry))
                .await
                .map(Revalidated::Changed),
        }
    }

    /// The tokens for a put whose key is not known yet: in place of a stamp, the token that every change replaces.
    pub(crate) async fn load_cache_fence(&self, cache: &CacheId) -> Result<Loaded, BackendError> {
        let changes = layout::changes_key(cache);
        let keys = Keys {
            value: changes.clone(),
            stamp: changes,
            epoch: layout::epoch_key(cache),
        };
        let deadline = Instant::now() + self.read_budget;
        let read = read_of(&keys);
        let found = Read::from(self.link.request(Request::One(&read), deadline).await?)?;
        self.establish(&keys, found, deadline).await
    }

    /// Writes an entry if its tokens are still in force; says whether they were.
    pub(crate) async fn store(
        &self,
        entry: EntryId<'_>,
        new: &NewEntry,
    ) -> Result<bool, BackendError> {
        let keys = Keys::of(entry);
        let touched = [&keys.value, &keys.stamp, &keys.epoch];
        let written = reply::count(self.write(&STORE, &touched, new, &[]).await?)?;
        if written == 2 {
            let mut foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
            *foreign.entry(entry.cache().clone()).or_default() += 1;
        }
        Ok(written > 0)
    }

    /// As [`store`](Self::store), and ends what is being computed elsewhere.
    pub(crate) async fn put(
        &self,
        entry: EntryId<'_>,
        new: &NewEntry,
    ) -> Result<bool, BackendError> {
        let (keys, changes) = (Keys::of(entry), layout::changes_key(entry.cache()));
        let guard = match new.scope {
            FenceScope::Entry => &keys.stamp,
            FenceScope::Cache => &changes,
        };
        let touched = [&keys.value, guard, &keys.epoch, &keys.stamp, &changes];
        let (stamp, life) = (Token::random(), DAY.to_string());
        let fresh = [stamp.as_bytes(), life.as_bytes()];
        match self.write(&PUT, &touched, new, &fresh).await? {
            // The value could not be written, but what it supersedes must go all the same.
            Value::ServerError(failure) if error::is_out_of_memory(&failure) => {
                self.remove(entry.cache(), &[keys]).await?;
                Ok(false)
            }
            written => Ok(reply::count(written)? > 0),
        }
    }

    async fn write(
        &self,
        script: &Script,
        keys: &[&String],
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
        let deadline = self.store_deadline();
        self.link
            .note_size(layout::slot(keys[0].as_bytes()), new.bytes.len());
        if !self.scripts.holds() {
            let [ttl, needed, given] = [ttl, needed, given].map(|number| number.to_string());
            let words: Vec<_> = keys.iter().map(|key| key.as_bytes()).collect();
            let mut arguments: Vec<&[u8]> = vec![
                new.fence.stamp.as_bytes(),
                new.fence.epoch.as_bytes(),
                &new.bytes,
                ttl.as_bytes(),
                needed.as_bytes(),
                given.as_bytes(),
            ];
            arguments.extend_from_slice(more);
            let reply = script.run(&self.link, &words, &arguments, deadline).await?;
            match &reply {
                Value::ServerError(failure) if error::is_scripts_refused(failure) => {
                    self.scripts.note();
                }
                _ => {
                    self.scripts.forget();
                    return Ok(reply);
                }
            }
        }
        let write = Write {
            key: keys[0],
            guard: keys[1],
            epoch: keys[2],
            supersedes: keys
                .get(3..5)
                .map(|tokens| [tokens[0].as_str(), tokens[1].as_str()]),
            bytes: &new.bytes,
            fence: [new.fence.stamp, new.fence.epoch],
            ttl,
            epoch_life: [needed, given],
        };
        let written = write.run(&self.link, deadline).await?;
        Ok(written.map_or_else(Value::ServerError, Value::Int))
    }

    /// How often there was something else than a string in place of an entry of the cache.
    pub(crate) fn foreign(&self, cache: &CacheId) -> u64 {
        let foreign = self.foreign.lock().unwrap_or_else(PoisonError::into_inner);
        foreign.get(cache).copied().unwrap_or(0)
    }

    /// Removes these entries of a cache and replaces their stamps, in one transaction; says how many entries there were.
    pub(crate) async fn invalidate(
        &self,
        cache: &CacheId,
        batch: &[Keys],
    ) -> Result<u64, BackendError> {
        let removals = batch
            .iter()
            .flat_map(|keys| [set_token(&keys.stamp, None), unlink(&keys.value)]);
        // Only where somebody holds it: a cache without puts of unknown keys does not have it.
        let change = set_token(layout::changes_key(cache), Some("XX"));
        match self.transaction(removals.chain([change])).await? {
            Ok(replies) => reply::sum(replies.into_iter().skip(1).step_by(2).take(batch.len())),
            Err(failure) if error::is_out_of_memory(&failure) => self.remove(cache, batch).await,
            Err(failure) => Err(error::of_reply(&failure)),
        }
    }

    /// The same for a server that is full and refuses transactions: each entry is removed together with its stamp, in one
    /// command. An absent stamp refuses a store as well as another one does.
    async fn remove(&self, cache: &CacheId, batch: &[Keys]) -> Result<u64, BackendError> {
        let mut pipeline = Pipeline::new();
        pipeline.add_command(unlink(layout::changes_key(cache)));
        for keys in batch {
            pipeline.cmd("EXISTS").arg(&keys.value);
            pipeline.cmd("UNLINK").arg(&keys.value).arg(&keys.stamp);
        }
        let replies = reply::array(
            self.link
                .request(Request::Many(&pipeline), self.store_deadline())
                .await?,
        )?;
        let mut existed = 0;
        for (index, reply) in replies.into_iter().enumerate() {
            let number = reply::count(reply)?;
            existed += if index % 2 == 1 { number } else { 0 };
        }
        Ok(existed)
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
        let replies = self
            .link
            .request(Request::Many(&pipeline), self.store_deadline())
            .await?;
        let mut replies = reply::array(replies)?;
        if let Some(refused) = reply::take_error(&mut replies) {
            return Ok(Err(refused));
        }
        let mut executed = reply::array(replies.pop().ok_or_else(error::unexpected)?)?;
        Ok(reply::take_error(&mut executed).map_or(Ok(executed), Err))
    }

    /// Ends the epoch of a cache and says which one that was. An absent one needs no replacing: nothing can have been
    /// stored under it that would still count.
    pub(crate) async fn replace_epoch(
        &self,
        cache: &CacheId,
    ) -> Result<Option<Token>, BackendError> {
        let key = layout::epoch_key(cache);
        let mut exchange = set_token(&key, Some("XX"));
        exchange.arg("GET");
        let deadline = self.store_deadline();
        let failure = match self.link.request(Request::One(&exchange), deadline).await? {
            Value::ServerError(failure) => failure,
            before => return Ok(reply::token(&before)),
        };
        if error::is_wrong_type(&failure) {
            // What somebody else wrote there is no epoch, so nothing was stored under it.
            let set = set_token(&key, None);
            return match self.link.request(Request::One(&set), deadline).await? {
                Value::ServerError(failure) => Err(error::of_reply(&failure)),
                _ => Ok(None),
            };
        }
        // A full server writes nothing, but removes: absent refuses as well. One before 6.2 knows no `GET` there.
        let end = if error::is_out_of_memory(&failure) {
            unlink(&key)
        } else if error::is_syntax(&failure) {
            set_token(&key, Some("XX"))
        } else {
            return Err(error::of_reply(&failure));
        };
        let mut both = Pipeline::new();
        both.cmd("GET").arg(&key);
        both.add_command(end);
        let mut replies = reply::array(self.link.request(Request::Many(&both), deadline).await?)?;
        match reply::take_error(&mut replies) {
            Some(failure) => Err(error::of_reply(&failure)),
            None => Ok(replies.first().and_then(reply::token)),
        }
    }

    /// Invalidates the entries whose key text the predicate accepts, and says how many there were.
    ///
    /// A value that is being computed right now has no entry to be found. It holds a stamp, though; so first all stamps are
    /// replaced. What is stored before that is found by the walk after it.
    pub(crate) async fn invalidate_if(
        &self,
        cache: &CacheId,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) -> Result<u64, BackendError> {
        self.replace_changes_token(cache).await?;
        self.replace_stamps(cache).await?;
        let mut removed = 0;
        let mut walk = Walk::new(layout::entry_pattern(cache));
        while let Some(found) = self.next_page(&mut walk).await? {
            let chosen = found
                .iter()
                .filter_map(|key| layout::key_text(cache, key))
                .filter(|key_text| predicate(key_text))
                .map(|key_text| Keys::of(cache.entry(key_text)))
                .collect::<Vec<_>>();
            for batch in chosen.chunks(BATCH) {
                removed += self.invalidate(cache, batch).await?;
            }
        }
        Ok(removed)
    }

    /// Replaces the token that every change of a cache replaces, where somebody holds one.
    async fn replace_changes_token(&self, cache: &CacheId) -> Result<(), BackendError> {
        self.replace_tokens(&[layout::changes_key(cache)]).await
    }

    /// Replaces every stamp of a cache.
    async fn replace_stamps(&self, cache: &CacheId) -> Result<(), BackendError> {
        let mut walk = Walk::new(layout::stamp_pattern(cache));
        while let Some(stamps) = self.next_page(&mut walk).await? {
            for batch in stamps.chunks(BATCH) {
                self.replace_tokens(batch).await?;
            }
        }
        Ok(())
    }

    /// Replaces those of these tokens that exist, in one transaction. A full server refuses it and removes them instead.
    async fn replace_tokens(&self, keys: &[impl AsRef<[u8]> + Sync]) -> Result<(), BackendError> {
        let exchanges = keys.iter().map(|key| set_token(key, Some("XX")));
        match self.transaction(exchanges).await? {
            Ok(_) => Ok(()),
            Err(failure) if error::is_out_of_memory(&failure) => {
                let mut unlink = redis::cmd("UNLINK");
                for key in keys {
                    unlink.arg(key.as_ref());
                }
                let deadline = self.store_deadline();
                reply::count(self.link.request(Request::One(&unlink), deadline).await?)?;
                Ok(())
            }
            Err(failure) => Err(error::of_reply(&failure)),
        }
    }
}

pub(crate) fn set_token(key: impl AsRef<[u8]>, condition: Option<&str>) -> Cmd {
    let mut set = redis::cmd("SET");
    set.arg(key.as_ref())
        .arg(Token::random().as_bytes().as_slice());
    set.arg(condition).arg("PX").arg(DAY);
    set
}

fn unlink(key: impl AsRef<[u8]>) -> Cmd {
    let mut unlink = redis::cmd("UNLINK");
    unlink.arg(key.as_ref());
    unlink
}

/// `MGET entry stamp epoch`.
fn read_of(keys: &Keys) -> Cmd {
    let mut read = redis::cmd("MGET");
    read.arg(&keys.value).arg(&keys.stamp).arg(&keys.epoch);
    read
}
