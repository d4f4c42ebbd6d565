//! One turn of a contender, and what came of it.

use std::time::{Duration, Instant};

use crate::{
    contenders::Contender,
    machine::{Counts, cpu_here},
};

/// Measures the calls of one caller.
pub(crate) struct Watch {
    until: Instant,
    since: Option<Instant>,
    times: Vec<u32>,
}

impl Watch {
    fn until(until: Instant) -> Self {
        Self {
            until,
            since: None,
            times: Vec::with_capacity(1 << 12),
        }
    }

    /// A call is over, unless this is the first time: whether there is to be another one.
    pub(crate) fn goes_on(&mut self) -> bool {
        let now = Instant::now();
        if let Some(since) = self.since.replace(now) {
            let nanos = (now - since).as_nanos();
            self.times.push(u32::try_from(nanos).unwrap_or(u32::MAX));
        }
        now < self.until
    }

    /// How long each call took, in nanoseconds.
    pub(crate) fn times(self) -> Vec<u32> {
        self.times
    }
}

/// What happened in a turn.
pub(crate) struct Round {
    /// In order.
    times: Vec<u32>,
    took: Duration,
    cpu: Duration,
}

impl Round {
    pub(crate) async fn run(contender: &dyn Contender, callers: usize, turn: Duration) -> Self {
        let (cpu, began) = (cpu_here(), Instant::now());
        let tasks: Vec<_> = (0..callers as u64)
            .map(|seed| contender.calls(seed, Watch::until(began + turn)))
            .collect();
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await.expect("every call is a hit"));
        }
        let took = began.elapsed();
        times.sort_unstable();
        Self {
            times,
            took,
            cpu: cpu_here() - cpu,
        }
    }

    fn of_thousand(&self, number: usize) -> f64 {
        f64::from(self.times[(self.times.len() - 1) * number / 1000]) / 1e3
    }
}

/// The figures of a turn: calls in a second, then microseconds, then counts for each call.
#[derive(Clone, Copy)]
pub(crate) struct Figures([f64; 8]);

const PER_SECOND: usize = 0;
const P99: usize = 2;

impl Figures {
    pub(crate) fn of(round: &Round, before: &Counts, after: &Counts) -> Self {
        let calls = round.times.len() as f64;
        let [reads, commands, bytes, cpu] = after.since(before).map(|count| count / calls);
        Self([
            calls / round.took.as_secs_f64(),
            round.of_thousand(500),
            round.of_thousand(990),
            round.cpu.as_secs_f64() * 1e6 / calls,
            cpu,
            reads,
            commands,
            bytes,
        ])
    }

    /// As a line of the table.
    pub(crate) fn beside(&self, by_hand: &Self) -> String {
        let Self([hits, p50, p99, here, there, reads, commands, bytes]) = self;
        let ratio = |index: usize| self.0[index] / by_hand.0[index];
        format!(
            "| {hits:7.0} | {:5.2} | {p50:7.1} | {p99:7.1} | {:5.2} | {here:5.1} | {there:5.1} | {reads:5.2} | {commands:4.1} | {bytes:6.0}",
            ratio(PER_SECOND),
            ratio(P99),
        )
    }
}

/// The median of each figure.
pub(crate) fn median(rounds: &[Figures]) -> Figures {
    Figures(std::array::from_fn(|index| {
        let mut figures: Vec<_> = rounds.iter().map(|round| round.0[index]).collect();
        figures.sort_unstable_by(f64::total_cmp);
        figures[figures.len() / 2]
    }))
}
