//! In all weather, for every pair of writes.

use models::{
    holds,
    through_redis::{
        Rules, ThroughRedis, Weather,
        Write::{self, Invalidate, InvalidateAll, Put, PutByValue},
    },
};

use crate::CALM;

const ALONE: [&[Write]; 4] = [&[Invalidate], &[InvalidateAll], &[Put], &[PutByValue]];

const PAIRS: [&[Write]; 9] = [
    &[Invalidate, Invalidate],
    &[InvalidateAll, Invalidate],
    &[InvalidateAll, InvalidateAll],
    &[Put, Invalidate],
    &[Put, InvalidateAll],
    &[Put, Put],
    &[PutByValue, Invalidate],
    &[PutByValue, InvalidateAll],
    &[PutByValue, Put],
];

/// Reads, and writes.
struct Calls {
    /// How many of the reads there are.
    reads: usize,
    writes: &'static [&'static [Write]],
    /// The processes of the reads, and of the writes.
    reads_in: [usize; 2],
    /// The process of a call that has a copy confirmed.
    looks_in: &'static [usize],
    writes_in: [usize; 2],
    /// Whether there is an entry in the beginning.
    warm: bool,
}

/// In a cold cache, every process with a read and a write.
const APART: Calls = Calls {
    reads: 2,
    writes: &PAIRS,
    reads_in: [0, 1],
    looks_in: &[],
    writes_in: [0, 1],
    warm: false,
};

/// In a warm cache, both reads beside the first write.
const TOGETHER: Calls = Calls {
    reads_in: [0, 0],
    warm: true,
    ..APART
};

impl Calls {
    /// All must hold.
    fn hold_in(&self, name: &str, weather: Weather) {
        for writes in self.writes {
            let processes = self.writes_in.into_iter();
            let model = ThroughRedis {
                reads: self.reads_in[..self.reads].to_vec(),
                looks: self.looks_in.to_vec(),
                writes: processes.zip(writes.iter().copied()).collect(),
                warm: self.warm,
                weather,
                rules: Rules::ALL,
            };
            let (reads, writes) = (&model.reads, &model.writes);
            holds(
                &format!("{name}, reads {reads:?}, writes {writes:?}"),
                model,
            );
        }
    }
}

/// In a warm cache, a read that may store while a copy is confirmed.
const COPIED: Calls = Calls {
    reads: 1,
    looks_in: &[0],
    warm: true,
    ..APART
};

#[test]
fn copies_are_confirmed() {
    let evictions = Weather {
        evictions: 1,
        ..CALM
    };
    let losses = Weather { losses: 1, ..CALM };
    let flushes = Weather { flushes: 1, ..CALM };
    let floods = Weather { floods: 2, ..CALM };
    COPIED.hold_in("copies, an eviction", evictions);
    COPIED.hold_in("copies, a flush", flushes);
    COPIED.hold_in("copies, full for a while", floods);
    let alone = Calls {
        writes: &ALONE,
        ..COPIED
    };
    alone.hold_in("copies, a loss", losses);
    // A process that has a copy of what another one has read and ended.
    let elsewhere = Calls {
        looks_in: &[0, 1],
        ..alone
    };
    elsewhere.hold_in("copies in both processes", CALM);
    let failovers = Weather {
        failovers: 1,
        ..CALM
    };
    alone.hold_in("copies, a failover", failovers);
}

#[test]
fn tokens_and_values_are_evicted() {
    let weather = Weather {
        evictions: 2,
        ..CALM
    };
    APART.hold_in("two evictions", weather);
    TOGETHER.hold_in("two evictions", weather);
}

#[test]
fn everything_is_gone() {
    let weather = Weather {
        flushes: 1,
        evictions: 1,
        ..CALM
    };
    Calls {
        warm: true,
        ..APART
    }
    .hold_in("a flush, an eviction", weather);
}

#[test]
fn the_server_is_full() {
    let weather = Weather { floods: 2, ..CALM };
    APART.hold_in("full for a while", weather);
    TOGETHER.hold_in("full for a while", weather);
}

#[test]
fn reads_are_not_answered() {
    let weather = Weather {
        silences: 2,
        ..CALM
    };
    APART.hold_in("reads without an answer", weather);
    TOGETHER.hold_in("reads without an answer", weather);
}

#[test]
fn requests_and_replies_are_lost() {
    let weather = Weather { losses: 1, ..CALM };
    Calls {
        warm: true,
        ..APART
    }
    .hold_in("a loss", weather);
    let one_process = Calls {
        writes: &PAIRS[..4],
        writes_in: [0, 0],
        ..TOGETHER
    };
    one_process.hold_in("a loss", weather);
    let weather = Weather {
        losses: 2,
        evictions: 1,
        ..CALM
    };
    Calls {
        writes: &ALONE,
        ..APART
    }
    .hold_in("two losses, an eviction", weather);
}

#[test]
fn a_replica_takes_over() {
    let weather = Weather {
        failovers: 1,
        ..CALM
    };
    TOGETHER.hold_in("a failover", weather);
    let alone = Calls {
        writes: &ALONE,
        ..APART
    };
    alone.hold_in("a failover", weather);
    let weather = Weather {
        losses: 1,
        ..weather
    };
    alone.hold_in("a failover, a loss", weather);
}
