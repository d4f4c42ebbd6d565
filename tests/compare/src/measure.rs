//! Rounds in which each contender has its turn, and medians of them.

use std::{
    fs,
    future::Future,
    time::{Duration, Instant},
};

use crate::contenders::Column;

/// How long a turn is, and how often each contender has one.
#[derive(Clone, Copy)]
pub struct Plan {
    pub turn: Duration,
    pub rounds: usize,
}

impl Plan {
    pub const fn new(quick: bool) -> Self {
        if quick {
            Self {
                turn: Duration::from_millis(20),
                rounds: 3,
            }
        } else {
            Self {
                turn: Duration::from_millis(150),
                rounds: 11,
            }
        }
    }

    /// Fewer rounds, of what takes long in each.
    pub const fn fewer(self) -> Self {
        Self {
            turn: self.turn,
            rounds: self.rounds.div_ceil(3),
        }
    }
}

/// Has each contender measured by turns, forwards and backwards, so that whatever else the machine does happens to all of
/// them; the median of each figure.
pub async fn by_turns<C, const N: usize>(
    rounds: usize,
    contenders: &[(Column, C)],
    measure: impl AsyncFn(&C) -> [f64; N],
) -> [Vec<(Column, f64)>; N] {
    let mut figures = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let whose = if round % 2 == 0 {
                turn
            } else {
                contenders.len() - 1 - turn
            };
            figures[whose].push(measure(&contenders[whose].1).await);
        }
    }
    std::array::from_fn(|which| {
        let medians = figures
            .iter()
            .map(|rounds| median(rounds.iter().map(|round| round[which])));
        contenders
            .iter()
            .map(|(column, _)| *column)
            .zip(medians)
            .collect()
    })
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures[figures.len() / 2]
}

pub async fn time(what: impl Future<Output = ()>) -> Duration {
    let began = Instant::now();
    what.await;
    began.elapsed()
}

/// Measures the calls of one caller.
pub struct Watch {
    until: Instant,
    since: Option<Instant>,
    times: Vec<u32>,
}

impl Watch {
    pub fn until(until: Instant) -> Self {
        Self {
            until,
            since: None,
            times: Vec::with_capacity(1 << 12),
        }
    }

    /// A call is over, unless this is the first time: whether there is to be another one.
    pub fn goes_on(&mut self) -> bool {
        let now = Instant::now();
        if let Some(since) = self.since.replace(now) {
            let nanos = (now - since).as_nanos();
            self.times.push(u32::try_from(nanos).unwrap_or(u32::MAX));
        }
        now < self.until
    }

    /// How long each call took, in nanoseconds.
    pub fn times(self) -> Vec<u32> {
        self.times
    }
}

/// The processor time that this process has used.
pub fn processor_time() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanos = threads.flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}
