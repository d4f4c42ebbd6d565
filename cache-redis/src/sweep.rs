//! Giving back the memory of entries that a clear has left behind.
//!
//! Clearing a cache replaces its epoch, and with that no older entry counts any more; but they are still there. A sweep
//! walks through the database and removes them, in small steps with pauses, one sweep at a time for each cache.
//!
//! **What it may remove.** The prefix of one cache can be the beginning of another's (`shop` and `shop:x`), and anybody
//! may have put anything under such a key. So a key that looks right proves nothing. A clear learns from Redis which
//! epoch it has ended; epochs are random and never come back; so an entry that was stored under an epoch known to be ended
//! belongs to this cache and is of no use to anybody. Only those are removed. What a sweep has missed, because its
//! process ended or somebody else cleared the cache, is left to its time to live.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use cache_core::backend::{BackendError, CacheId, Token};
use tokio::time::{Instant, sleep, sleep_until};

use crate::{layout, reply, scripts::SWEEP, server::Server, walk::Walk};

/// How many keys are looked at in one step of the server.
const STEP: usize = 250;
/// How many ended epochs are remembered for a cache. Beyond that the oldest is left to its time to live.
const REMEMBERED: usize = 512;
/// Between two sweeps of one cache there is at least that much time, and four times what the first of them took.
const REST: Duration = Duration::from_secs(1);

/// The sweeps under way and what they still have to look for.
#[derive(Default)]
pub(crate) struct Sweeps(Mutex<HashMap<CacheId, Work>>);

#[derive(Default)]
struct Work {
    ended: Vec<Token>,
    running: bool,
    not_before: Option<Instant>,
}

impl Sweeps {
    fn lock(&self) -> MutexGuard<'_, HashMap<CacheId, Work>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an epoch of the cache has been ended, and says whether a sweep has to be started for it.
    fn note(&self, cache: &CacheId, ended: Token) -> bool {
        let mut all = self.lock();
        let work = all.entry(cache.clone()).or_default();
        if work.ended.len() == REMEMBERED {
            work.ended.remove(0);
        }
        work.ended.push(ended);
        !std::mem::replace(&mut work.running, true)
    }

    /// What the next sweep has to look for and when it may begin. `None` ends the sweeper.
    fn next(&self, cache: &CacheId) -> Option<(Vec<Token>, Option<Instant>)> {
        let mut all = self.lock();
        let work = all.get_mut(cache)?;
        if work.ended.is_empty() {
            work.running = false;
            return None;
        }
        Some((work.ended.clone(), work.not_before))
    }

    fn done(&self, cache: &CacheId, swept: &[Token], took: Duration) {
        if let Some(work) = self.lock().get_mut(cache) {
            work.ended.retain(|token| !swept.contains(token));
            work.not_before = Some(Instant::now() + REST.max(took * 4));
        }
    }

    fn stopped(&self, cache: &CacheId) {
        if let Some(work) = self.lock().get_mut(cache) {
            work.running = false;
        }
    }
}

/// Sees to it that what was stored under `ended` is removed. Returns at once.
pub(crate) fn start(server: &Arc<Server>, cache: &CacheId, ended: Token) {
    if server.sweeps.note(cache, ended) {
        tokio::spawn(sweep(Running {
            server: Arc::downgrade(server),
            cache: cache.clone(),
            stopped: false,
        }));
    }
}

/// A sweeper under way. It does not keep the backend alive; and if it is dropped with its runtime, the next clear starts
/// another one.
struct Running {
    server: Weak<Server>,
    cache: CacheId,
    stopped: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.stopped
            && let Some(server) = self.server.upgrade()
        {
            server.sweeps.stopped(&self.cache);
        }
    }
}

async fn sweep(mut running: Running) {
    loop {
        let Some(next) = running
            .server
            .upgrade()
            .map(|server| server.sweeps.next(&running.cache))
        else {
            return;
        };
        let Some((_, not_before)) = next else {
            running.stopped = true;
            return;
        };
        if let Some(not_before) = not_before {
            sleep_until(not_before).await;
        }
        let Some(Some((ended, _))) = running
            .server
            .upgrade()
            .map(|server| server.sweeps.next(&running.cache))
        else {
            return;
        };
        let began = Instant::now();
        match walk(&running, &ended).await {
            Ok(removed) => {
                tracing::debug!(
                    cache = running.cache.name(),
                    removed,
                    "swept what a clear left behind"
                );
                if let Some(server) = running.server.upgrade() {
                    server.sweeps.done(&running.cache, &ended, began.elapsed());
                }
            }
            Err(error) => {
                tracing::debug!(cache = running.cache.name(), %error, "gave up sweeping, the rest expires by itself");
                return;
            }
        }
    }
}

/// One walk through the database.
async fn walk(running: &Running, ended: &[Token]) -> Result<u64, BackendError> {
    let epochs = ended
        .iter()
        .map(|token| token.as_bytes().as_slice())
        .collect::<Vec<_>>();
    let mut removed = 0;
    let mut walk = Walk::new(layout::entry_pattern(&running.cache));
    loop {
        let began = Instant::now();
        let Some(server) = running.server.upgrade() else {
            return Ok(removed);
        };
        let Some(keys) = server.next_page(&mut walk).await? else {
            return Ok(removed);
        };
        for step in keys.chunks(STEP) {
            let step = step.iter().map(Vec::as_slice).collect::<Vec<_>>();
            let swept = SWEEP
                .run(&server.link, &step, &epochs, server.store_deadline())
                .await?;
            removed += reply::count(swept)?;
        }
        drop(server);
        // Half of the time is everybody else's.
        sleep(began.elapsed().max(Duration::from_millis(1))).await;
    }
}
