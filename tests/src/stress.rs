//! A stress run with an oracle.
//!
//! A [`Database`] has rows, each with a version. Readers ask a [`Keeper`] for rows; on a miss it runs their body, which reads
//! the version, with pauses before and after. Writers raise the version, tell the keeper, and once it says that it has
//! been told they **acknowledge** the version. Every reader notes the acknowledged version before it asks. An older version
//! in the answer is a **stale** one, whoever computed it and whichever way it came.
//!
//! In between callers are dropped or left unpolled, bodies fail and panic. When all is over, and nobody was told anything
//! any more, every row must be read as it is: what an interrupted writer has changed counts too.
//!
//! The oracle is only worth something if it finds what is wrong: the same runs against keepers without a fence must
//! find stale answers.

mod credulous;
mod database;
mod fate;
mod keeper;
mod processes;
mod run;
mod saboteur;
mod unfenced;

pub use credulous::Credulous;
pub use database::{Acknowledged, Database, InProcess, OnServer};
/// Chance that can be repeated: its seed decides it.
pub use fastrand::Rng;
pub use keeper::{Annotated, Keeper, Look, Told, Way};
pub use processes::processes;
pub use run::{Enough, Plan, left_behind, run, run_at};
pub use saboteur::Saboteur;
pub use unfenced::Unfenced;

use std::{fmt, ops::AddAssign, time::Duration};

use serde::{Deserialize, Serialize};

/// What is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Which row this is: an answer for another one is as wrong as an old one.
    pub key: u64,
    /// How often it was written.
    pub version: u64,
}

/// A body that has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable;

/// What a body returns.
pub type Loaded = Result<Row, Unavailable>;

/// What happened in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Readers that asked.
    pub calls: u64,
    /// Answers that came without running the caller's own body.
    pub hits: u64,
    /// Bodies of readers that were begun.
    pub loads: u64,
    /// Bodies of readers, and callers who shared their end, that failed.
    pub failures: u64,
    /// Readers and writers that were dropped half-way.
    pub cancelled: u64,
    /// Readers and writers whose body panicked.
    pub panicked: u64,
    /// Readers and writers that were left unpolled for a while.
    pub stalled: u64,
    /// Writers whose change was acknowledged: invalidations and puts.
    pub invalidations: u64,
    /// Writers whom the keeper told that it has failed.
    pub not_acknowledged: u64,
    /// Answers older than what was acknowledged before the question.
    pub stale: u64,
    /// Answers to another question.
    pub foreign: u64,
    /// Calls that panicked though their body did not.
    pub failed: u64,
    /// Calls that began their body twice, or ran it to its end and were given something else than what it gave.
    pub doubled: u64,
    /// Rows that were not read as they are when all was over.
    pub left_behind: u64,
    /// Invalidations that were still pending long after nothing was wrong any more.
    pub lost: u64,
    /// Keys that a cache thought somebody was busy with when nobody was.
    pub busy: u64,
    /// The longest time a call took that was left alone and only asked.
    pub slowest: Duration,
}

impl AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.hits += other.hits;
        self.loads += other.loads;
        self.failures += other.failures;
        self.cancelled += other.cancelled;
        self.panicked += other.panicked;
        self.stalled += other.stalled;
        self.invalidations += other.invalidations;
        self.not_acknowledged += other.not_acknowledged;
        self.stale += other.stale;
        self.foreign += other.foreign;
        self.failed += other.failed;
        self.doubled += other.doubled;
        self.left_behind += other.left_behind;
        self.lost += other.lost;
        self.busy += other.busy;
        self.slowest = self.slowest.max(other.slowest);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} stale of {} calls: {} hits, {} loads, {} failures, {} cancelled, {} panicked, {} stalled, {} invalidations, \
             {} not acknowledged, {} foreign, {} failed and {} doubled by the cache, {} left behind, {} lost, \
             {} keys still busy, slowest {:.1?}",
            self.stale,
            self.calls,
            self.hits,
            self.loads,
            self.failures,
            self.cancelled,
            self.panicked,
            self.stalled,
            self.invalidations,
            self.not_acknowledged,
            self.foreign,
            self.failed,
            self.doubled,
            self.left_behind,
            self.lost,
            self.busy,
            self.slowest,
        )
    }
}
