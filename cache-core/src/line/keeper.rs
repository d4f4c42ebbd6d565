//! Finds out that a backend answers again, and makes good what is owed to it: in the background, with nobody's time but its
//! own.

use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    runtime::Handle,
    time::{Instant, sleep},
};

use super::Line;
use crate::{
    backend::{BackendError, BackendErrorKind},
    limit, random,
};

/// How long it is waited before the backend is tried again: at random up to this at first, up to `MAX_PAUSE` in the end. At
/// random, so that processes that lost the same server do not all come back at once.
const MIN_PAUSE: Duration = Duration::from_millis(50);
/// Callers are to have hits again soon after the backend is back.
const MAX_PAUSE: Duration = Duration::from_millis(500);
/// Who is late by that much will not come: its runtime is alive, but nobody drives it.
const GRACE: Duration = Duration::from_secs(2);

/// Who keeps a line, and until when that is to be believed.
#[derive(Debug)]
pub(super) struct Watch {
    origin: Instant,
    /// In milliseconds since `origin`; 0: nobody.
    until: AtomicU64,
    /// Counts the keepers. One who was taken for lost sees by it that another has come.
    turn: AtomicU64,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            origin: Instant::now(),
            until: AtomicU64::new(0),
            turn: AtomicU64::new(0),
        }
    }

    fn millis(&self, from_now: Duration) -> u64 {
        let until = self.origin.elapsed() + from_now;
        u64::try_from(until.as_millis()).unwrap_or(u64::MAX).max(1)
    }

    /// The turn of the caller, if there is to be another keeper.
    fn claim(&self) -> Option<u64> {
        let until = self.until.load(Ordering::Acquire);
        if until != 0 && self.millis(Duration::ZERO) <= until {
            return None;
        }
        self.until
            .compare_exchange(
                until,
                self.millis(GRACE),
                Ordering::AcqRel,
                Ordering::Acquire,
            )
            .ok()
            .map(|_| self.turn.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// The keeper of that turn is heard of again within that time. `false`: somebody else is it.
    fn goes_on(&self, turn: u64, within: Duration) -> bool {
        let mine = self.turn.load(Ordering::Acquire) == turn;
        if mine {
            self.until
                .store(self.millis(within + GRACE), Ordering::Release);
        }
        mine
    }

    fn ends(&self, turn: u64) {
        if self.turn.load(Ordering::Acquire) == turn {
            self.until.store(0, Ordering::Release);
        }
    }
}

impl Line {
    /// Sees to it that somebody tries the backend until it answers and nothing is owed. Returns at once.
    ///
    /// The work ends with its runtime; whoever meets something that is to be done after that begins it anew.
    pub(crate) fn keep(self: &Arc<Self>) {
        if !limit::has_timer() {
            return;
        }
        if let Some(turn) = self.watch.claim() {
            let keeper = Keeper {
                line: Arc::downgrade(self),
                turn,
            };
            // Not counted as work under way: nobody is to wait for a backend that is down.
            Handle::current().spawn(keeper.run());
        }
    }

    fn is_to_be_kept(&self) -> bool {
        self.breaker.is_open() || self.caches().iter().any(|cache| cache.owes())
    }

    /// Asks the backend whether it answers, if it was given up; pays what is owed; and then has it asked again by everybody.
    ///
    /// What is owed only since the payment began is not waited for: as long as somebody invalidates there is always
    /// something, and each key that is owed is neither read nor stored.
    async fn make_good(&self) -> Result<(), BackendError> {
        let caches = self.caches();
        let open = self.breaker.is_open();
        if let Some(cache) = caches.first().filter(|_| open) {
            let probe = self.backend.probe(cache.id());
            limit::ask(self.backend.read_budget(), probe)
                .await
                .inspect_err(|error| self.still_fails(error))?;
        }
        let mut outcome = Ok(());
        // What it refuses this program for one cache is no reason to keep the others from it: the keys that are owed are left alone
        // anyway.
        let mut answers = true;
        for cache in caches {
            // Not held against the backend: it is the same invalidation again and again, and that it failed was.
            let Err(error) = cache.pay(&*self.backend).await else {
                continue;
            };
            self.still_fails(&error);
            let gone = matches!(
                error.kind(),
                BackendErrorKind::Unavailable | BackendErrorKind::Timeout
            );
            answers &= error.kind() == BackendErrorKind::Refused;
            outcome = Err(error);
            // Otherwise it has answered, and may do for another cache what it did not do for this one.
            if gone {
                break;
            }
        }
        self.release();
        if open && answers {
            self.answers_again();
        }
        outcome
    }
}

/// Who keeps a line. It does not keep the caches alive; what they owe does.
struct Keeper {
    line: Weak<Line>,
    turn: u64,
}

impl Keeper {
    async fn run(self) {
        let mut pause = MIN_PAUSE;
        loop {
            let wait = pause.mul_f64(random::fraction());
            let Some(line) = self.line.upgrade() else {
                return;
            };
            // Each payment takes no longer than its budget; all of them together may, and then a second keeper does no harm.
            let work = line.backend.read_budget() + 2 * line.backend.store_budget();
            if !line.watch.goes_on(self.turn, wait + work) {
                return;
            }
            drop(line);
            sleep(wait).await;
            let Some(line) = self.line.upgrade() else {
                return;
            };
            match line.make_good().await {
                Err(_) => pause = MAX_PAUSE.min(pause * 2),
                Ok(()) if line.is_to_be_kept() => pause = MIN_PAUSE,
                Ok(()) => {
                    line.watch.ends(self.turn);
                    // Somebody may have relied on this keeper a moment ago.
                    if line.is_to_be_kept() {
                        line.keep();
                    }
                    return;
                }
            }
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(line) = self.line.upgrade() {
            line.watch.ends(self.turn);
        }
    }
}
