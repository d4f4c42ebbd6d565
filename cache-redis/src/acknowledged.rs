//! What the server has acknowledged lately, to be said again to another one.
//!
//! Redis acknowledges a write before its replicas have it. If the master is lost then, one of them takes its place
//! without the last invalidations, and serves what they had ended; the same goes for a server that is restarted with
//! data of a moment ago. So invalidations are remembered for a while after they were acknowledged. Each connection begins with
//! the question which server it leads to, and what was not said to that one is said again before anything is read.
//!
//! - A server is told by its run id and its replication id: the one changes when it is restarted, the other when it becomes a
//!   replica or a master. Who may not ask (`INFO` refused) cannot tell, and says everything again on every connection.
//! - When a connection has met another server than the others know, those are replaced too.
//! - An invalidation counts as acknowledged only if the server was the same before it was sent and after. Otherwise it is
//!   sent once more: nobody knows whether it came before or after what was said again.
//! - To say it again is to remove entry and stamp: an absent stamp refuses a store as well as another one does, and a
//!   server that is full does it too. An invalidation too many is harmless.
//!
//! What this does not cover: the process ends before the other server is met. The time to live ends both.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use cache_core::backend::{BackendError, BackendErrorKind, CacheId, EntryId};
use redis::Pipeline;
use tokio::time::Instant;

use crate::layout::{self, Keys};

/// Longer than a replica lags behind that is fit to take over.
const REMEMBERED: Duration = Duration::from_secs(10);
/// Beyond that, those of single entries become one of each cache.
const MOST: usize = 4096;

/// Which server it was, in the order in which servers were met.
pub(crate) type ServerNumber = u64;

/// What tells one server from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerId {
    pub(crate) run: String,
    pub(crate) replication: String,
}

/// Something that was invalidated.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))] // it has keys in it
pub(crate) enum Ended {
    Entry(CacheId, String),
    Cache(CacheId),
}

#[derive(Default)]
pub(crate) struct Acknowledged {
    /// As in `state`; read for every request.
    server: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Whether any was.
    met: bool,
    server: ServerNumber,
    /// `None` if it cannot be told from others.
    id: Option<ServerId>,
    /// In the order in which they were acknowledged.
    remembered: VecDeque<Remembered>,
    /// How many have ever been.
    count: u64,
}

#[derive(Clone)]
struct Remembered {
    ended: Ended,
    server: ServerNumber,
    at: Instant,
    number: u64,
}

/// What a connection has to do before it is used.
pub(crate) struct Meeting {
    pub(crate) server: ServerNumber,
    /// What is to be said to this server.
    pub(crate) again: Vec<Ended>,
    until: u64,
}

impl Acknowledged {
    /// The server that is known now.
    pub(crate) fn server(&self) -> ServerNumber {
        self.server.load(Ordering::Acquire)
    }

    /// A new connection leads to that server.
    pub(crate) fn meet(&self, id: Option<ServerId>) -> Meeting {
        let mut state = self.lock();
        if state.met && state.id != id {
            state.server += 1;
            self.server.store(state.server, Ordering::Release);
        }
        (state.met, state.id) = (true, id);
        let server = state.server;
        let unsaid = state
            .remembered
            .iter()
            .filter(|remembered| remembered.server != server || state.id.is_none());
        Meeting {
            server,
            again: unsaid.map(|remembered| remembered.ended.clone()).collect(),
            until: state.count,
        }
    }

    /// The server has heard what there was to say.
    pub(crate) fn said_again(&self, meeting: &Meeting) {
        let mut state = self.lock();
        for remembered in &mut state.remembered {
            if remembered.number < meeting.until {
                remembered.server = meeting.server;
            }
        }
    }

    /// Something is about to be sent that is to be remembered.
    pub(crate) fn telling(&self) -> Telling<'_> {
        Telling {
            acknowledged: self,
            server: self.server(),
            attempts: 3,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something that is sent until the server that has acknowledged it is the one it was when it was sent.
pub(crate) struct Telling<'a> {
    acknowledged: &'a Acknowledged,
    server: ServerNumber,
    attempts: u32,
}

impl Telling<'_> {
    /// The server has acknowledged this. `false`: it is to be sent once more.
    pub(crate) fn heard(&mut self, ended: Ended) -> Result<bool, BackendError> {
        let mut state = self.acknowledged.lock();
        if state.server == self.server {
            state.push(ended, Instant::now());
            return Ok(true);
        }
        self.server = state.server;
        self.attempts -= 1;
        if self.attempts > 0 {
            return Ok(false);
        }
        Err(BackendError::new(
            BackendErrorKind::Role,
            "one server after the other takes over",
        ))
    }
}

impl State {
    fn push(&mut self, ended: Ended, at: Instant) {
        // Only here: while nothing is acknowledged, the last that were may be what another server has not heard of.
        while self
            .remembered
            .front()
            .is_some_and(|oldest| at.duration_since(oldest.at) > REMEMBERED)
        {
            self.remembered.pop_front();
        }
        if self.remembered.len() >= MOST {
            self.collapse(at);
        }
        self.remembered.push_back(Remembered {
            ended,
            server: self.server,
            at,
            number: self.count,
        });
        self.count += 1;
    }

    /// One of each cache in place of all of its entries.
    fn collapse(&mut self, at: Instant) {
        let mut caches = HashMap::new();
        for remembered in self.remembered.drain(..) {
            let (Ended::Entry(cache, _) | Ended::Cache(cache)) = remembered.ended;
            // What one of them has not been said to, the whole has not.
            let server = caches.entry(cache).or_insert(remembered.server);
            *server = remembered.server.min(*server);
        }
        for (cache, server) in caches {
            self.remembered.push_back(Remembered {
                ended: Ended::Cache(cache),
                server,
                at,
                number: self.count,
            });
            self.count += 1;
        }
    }
}

impl Ended {
    pub(crate) fn entry(entry: EntryId<'_>) -> Self {
        Self::Entry(entry.cache().clone(), entry.key_text().to_owned())
    }

    /// Adds what says it again.
    pub(crate) fn end(&self, pipeline: &mut Pipeline) {
        let cache = match self {
            Self::Entry(cache, key_text) => {
                let keys = Keys::of(cache.entry(key_text));
                pipeline.cmd("UNLINK").arg(keys.value).arg(keys.stamp);
                cache
            }
            Self::Cache(cache) => {
                pipeline.cmd("UNLINK").arg(layout::epoch_key(cache));
                cache
            }
        };
        pipeline.cmd("UNLINK").arg(layout::changes_key(cache));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(run: &str) -> Option<ServerId> {
        Some(ServerId {
            run: run.to_owned(),
            replication: "r".to_owned(),
        })
    }

    fn cache(name: &str) -> CacheId {
        CacheId::new(name, &format!("cache:{name}"))
    }

    fn entry(key: u32) -> Ended {
        Ended::Entry(cache("c"), key.to_string())
    }

    fn add(acknowledged: &Acknowledged, ended: Ended) {
        assert!(acknowledged.telling().heard(ended).is_ok_and(|heard| heard));
    }

    /// What a connection to that server has to say; it says it.
    fn meet(acknowledged: &Acknowledged, id: Option<ServerId>) -> Vec<Ended> {
        let meeting = acknowledged.meet(id);
        acknowledged.said_again(&meeting);
        meeting.again
    }

    #[tokio::test(start_paused = true)]
    async fn another_server_is_told_once() {
        let acknowledged = Acknowledged::default();
        assert_eq!(meet(&acknowledged, id("a")), []);
        add(&acknowledged, entry(1));
        assert_eq!(meet(&acknowledged, id("a")), [], "it knows");
        assert_eq!(meet(&acknowledged, id("b")), [entry(1)]);
        assert_eq!(meet(&acknowledged, id("b")), []);
        add(&acknowledged, entry(2));
        assert_eq!(
            meet(&acknowledged, id("a")),
            [entry(1), entry(2)],
            "the first may have lost it meanwhile"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_told_until_it_has_heard() {
        let acknowledged = Acknowledged::default();
        meet(&acknowledged, id("a"));
        add(&acknowledged, entry(1));
        assert_eq!(acknowledged.meet(id("b")).again, [entry(1)]);
        assert_eq!(acknowledged.meet(id("b")).again, [entry(1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_cannot_be_told_from_others_is_always_told() {
        let acknowledged = Acknowledged::default();
        meet(&acknowledged, None);
        add(&acknowledged, entry(1));
        let before = acknowledged.server();
        assert_eq!(meet(&acknowledged, None), [entry(1)]);
        assert_eq!(meet(&acknowledged, None), [entry(1)]);
        assert_eq!(
            acknowledged.server(),
            before,
            "several connections do not replace each other"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_one_server_acknowledged_does_not_count_for_another() {
        let acknowledged = Acknowledged::default();
        meet(&acknowledged, id("a"));
        let mut telling = acknowledged.telling();
        meet(&acknowledged, id("b"));
        assert!(!telling.heard(entry(1)).expect("it may be tried again"));
        assert!(telling.heard(entry(1)).expect("it was"));
        assert_eq!(meet(&acknowledged, id("a")), [entry(1)]);
    }

    #[tokio::test(start_paused = true)]
    async fn it_is_remembered_for_ten_seconds_before_the_last_one() {
        let acknowledged = Acknowledged::default();
        meet(&acknowledged, id("a"));
        for key in 0..30 {
            add(&acknowledged, entry(key));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        tokio::time::advance(Duration::from_secs(3600)).await;
        let again = meet(&acknowledged, id("b"));
        assert_eq!(again, (19..30).map(entry).collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn too_many_become_one_of_each_cache() {
        let acknowledged = Acknowledged::default();
        meet(&acknowledged, id("a"));
        add(&acknowledged, Ended::Entry(cache("d"), "1".to_owned()));
        for key in 0..100_000 {
            add(&acknowledged, entry(key));
        }
        let again = meet(&acknowledged, id("b"));
        assert!(again.len() <= MOST, "{}", again.len());
        for cache in [cache("c"), cache("d")] {
            assert!(again.contains(&Ended::Cache(cache)));
        }
        assert_eq!(meet(&acknowledged, id("b")), []);
    }
}
