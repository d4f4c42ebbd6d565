//! One fault after the other.

use std::{
    collections::BTreeMap,
    fmt,
    ops::AddAssign,
    sync::mpsc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use super::{Fault, Station};
use crate::stress::{Enough, Rng};

/// Faults that happen to a station on a thread of their own until it is over. Every fault comes once before any comes again.
#[derive(Debug)]
pub struct Weather {
    over: mpsc::Sender<()>,
    enough: Enough,
    thread: JoinHandle<(Station, Record)>,
}

/// At most so long nothing is wrong.
const CALM: Duration = Duration::from_millis(100);
/// At most so long a fault lasts. Together these are short enough for all of them to come soon.
const FAULT: Duration = Duration::from_millis(250);

/// What has happened.
#[derive(Debug, Default)]
pub struct Record {
    faults: BTreeMap<Fault, u64>,
    /// The last ones, and when they began.
    recent: Vec<(Duration, Fault)>,
}

impl Weather {
    /// Begins.
    #[must_use]
    pub fn start(mut station: Station, faults: &[Fault], mut dice: Rng) -> Self {
        let faults = faults.to_vec();
        let (over, is_over) = mpsc::channel();
        let enough = Enough::not_yet();
        let all_came = enough.clone();
        let thread = thread::spawn(move || {
            let (mut record, began) = (Record::default(), Instant::now());
            let mut coming = Vec::new();
            let mut ended = false;
            while !ended {
                let mut wait = |time| ended = ended || wait(&is_over, time);
                wait(CALM.mul_f64(dice.f64()));
                let fault = coming.pop().unwrap_or_else(|| {
                    coming.clone_from(&faults);
                    dice.shuffle(&mut coming);
                    coming.pop().expect("there are faults")
                });
                record.add(began.elapsed(), fault);
                let length = FAULT.mul_f64(0.1 + 0.9 * dice.f64());
                fault.strike(&mut station, &mut dice, length, &mut wait);
                if coming.is_empty() {
                    all_came.now();
                }
            }
            (station, record)
        });
        Self {
            over,
            enough,
            thread,
        }
    }

    /// It is when every fault has come once.
    #[must_use]
    pub const fn enough(&self) -> &Enough {
        &self.enough
    }

    /// Ends the fault that is under way, and the weather: nothing is wrong any more.
    ///
    /// # Panics
    /// If a server could not be restarted, or did not do what it was told to.
    pub async fn clear(self) -> (Station, Record) {
        drop(self.over);
        let ended = tokio::task::spawn_blocking(|| self.thread.join());
        ended
            .await
            .expect("it only waits")
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Whether it is over.
fn wait(is_over: &mpsc::Receiver<()>, time: Duration) -> bool {
    !matches!(
        is_over.recv_timeout(time),
        Err(mpsc::RecvTimeoutError::Timeout)
    )
}

impl Record {
    fn add(&mut self, when: Duration, fault: Fault) {
        *self.faults.entry(fault).or_default() += 1;
        self.recent.push((when, fault));
    }

    /// How many faults there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.faults.values().sum()
    }

    /// How often each of these happened at least.
    #[must_use]
    pub fn least(&self, of: &[Fault]) -> u64 {
        let times = |fault| self.faults.get(fault).copied().unwrap_or_default();
        of.iter().map(times).min().unwrap_or_default()
    }
}

impl AddAssign for Record {
    fn add_assign(&mut self, other: Self) {
        for (fault, times) in other.faults {
            *self.faults.entry(fault).or_default() += times;
        }
        self.recent = other.recent;
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} faults:", self.total())?;
        for (fault, times) in &self.faults {
            write!(f, " {times} {fault:?},")?;
        }
        let last: Vec<_> = self
            .recent
            .iter()
            .rev()
            .take(6)
            .map(|(when, fault)| format!("{fault:?} at {when:.1?}"))
            .collect();
        write!(f, " last {}", last.join(", "))
    }
}
