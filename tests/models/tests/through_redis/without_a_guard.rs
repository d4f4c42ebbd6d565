//! What each guard is for: without it there is a sequence of steps that goes wrong.

use models::{
    fails, holds,
    through_redis::{
        PAID, R1, R2, Rules, Stamps, ThroughRedis, Weather,
        Write::{self, Invalidate, InvalidateAll, Put, PutByValue},
    },
};

use crate::CALM;

/// Without one guard: the checker finds what goes wrong.
struct Without {
    reads: &'static [usize],
    looks: &'static [usize],
    writes: &'static [(usize, Write)],
    warm: bool,
    weather: Weather,
}

impl Without {
    fn model(&self, take: impl FnOnce(&mut Rules)) -> ThroughRedis {
        let mut rules = Rules::ALL;
        take(&mut rules);
        ThroughRedis {
            reads: self.reads.to_vec(),
            looks: self.looks.to_vec(),
            writes: self.writes.to_vec(),
            warm: self.warm,
            weather: self.weather,
            rules,
        }
    }

    fn fails(&self, guard: &str, property: &'static str, take: impl FnOnce(&mut Rules)) {
        // What it is for is the guard's alone: with it the same model holds.
        holds(&format!("with {guard}"), self.model(|_| ()));
        fails(&format!("without {guard}"), property, self.model(take));
    }
}

#[test]
fn what_the_guards_of_a_store_are_for() {
    let a_read = Without {
        reads: &[0],
        looks: &[],
        writes: &[(1, Invalidate)],
        warm: false,
        weather: CALM,
    };
    a_read.fails("the fence at the store", R1, |rules| rules.fence = false);
    a_read.fails("reading the tokens before the body", R1, |rules| {
        rules.tokens_before_body = false
    });
    let evicted = Without {
        weather: Weather {
            evictions: 1,
            ..CALM
        },
        ..a_read
    };
    evicted.fails("tokens in place of tombstones", R1, |rules| {
        rules.stamps = Stamps::Tombstones
    });
    let two_reads = Without {
        reads: &[0, 1],
        ..evicted
    };
    two_reads.fails("random tokens in place of counters", R1, |rules| {
        rules.stamps = Stamps::Counted
    });
    let in_one_process = Without {
        reads: &[0, 0],
        weather: CALM,
        ..two_reads
    };
    in_one_process.fails("tokens per attempt and not per client", R1, |rules| {
        rules.stamps = Stamps::PerClient
    });
}

#[test]
fn what_a_full_server_has_to_do() {
    let full = Without {
        reads: &[0],
        looks: &[],
        writes: &[(1, Invalidate)],
        warm: false,
        weather: Weather { floods: 2, ..CALM },
    };
    full.fails("removing what cannot be replaced", R1, |rules| {
        rules.full_removes_tokens = false
    });
}

#[test]
fn what_the_guards_of_an_epoch_are_for() {
    let entry = Without {
        reads: &[],
        looks: &[],
        writes: &[(1, InvalidateAll)],
        warm: true,
        weather: CALM,
    };
    entry.fails("the epoch in the trailer", R1, |rules| {
        rules.epoch_in_trailer = false
    });
    let evicted = Without {
        reads: &[0, 1],
        warm: false,
        weather: Weather {
            evictions: 1,
            ..CALM
        },
        ..entry
    };
    evicted.fails("a random epoch", R1, |rules| rules.random_epochs = false);
}

#[test]
fn what_the_guards_of_a_copy_are_for() {
    let copy = Without {
        reads: &[],
        looks: &[0],
        writes: &[(1, Invalidate)],
        warm: true,
        weather: CALM,
    };
    copy.fails("comparing the trailer", R1, |rules| {
        rules.compare_trailer = false
    });
    let cleared = Without {
        writes: &[(1, InvalidateAll)],
        ..copy
    };
    cleared.fails("comparing the epoch of a copy", R1, |rules| {
        rules.compare_epoch_of_copy = false
    });
    // Not only where the entry is gone: where there is another one, too.
    let put = Without {
        writes: &[(1, Put)],
        ..copy
    };
    put.fails("comparing the trailer with that of a put", R1, |rules| {
        rules.compare_trailer = false
    });
}

#[test]
fn what_the_guards_of_sharing_are_for() {
    let shared = Without {
        reads: &[0, 0],
        looks: &[],
        writes: &[(1, Invalidate)],
        warm: false,
        weather: CALM,
    };
    shared.fails("comparing tokens", R2, |rules| rules.compare_tokens = false);
    let full = Without {
        weather: Weather { floods: 1, ..CALM },
        ..shared
    };
    full.fails("keeping loads without tokens apart", R2, |rules| {
        rules.missing_tokens_share_nothing = false
    });
    let owed = Without {
        writes: &[(0, Invalidate), (1, Invalidate)],
        weather: Weather { losses: 1, ..CALM },
        ..shared
    };
    // Either of the two would do.
    owed.fails("the tokens of what is owed", R2, |rules| {
        rules.tokens_while_owed = false;
        rules.unknown_tokens_share_what_is_later = false;
    });
}

#[test]
fn what_it_is_good_for_to_owe() {
    let lost = Without {
        reads: &[],
        looks: &[],
        writes: &[(0, Invalidate)],
        warm: true,
        weather: Weather { losses: 1, ..CALM },
    };
    lost.fails("the poison set", R1, |rules| rules.poison = false);
    lost.fails("owing from the beginning", R1, |rules| {
        rules.owed_from_the_beginning = false
    });
    lost.fails("recovery", PAID, |rules| rules.recovery = false);
    let two = Without {
        reads: &[1],
        writes: &[(0, Invalidate), (0, Invalidate)],
        ..lost
    };
    two.fails("paying in order", R1, |rules| rules.paid_in_order = false);
}

#[test]
fn what_the_replay_is_for() {
    let failover = Without {
        reads: &[],
        looks: &[],
        writes: &[(0, Invalidate)],
        warm: true,
        weather: Weather {
            failovers: 1,
            ..CALM
        },
    };
    failover.fails("the replay", R1, |rules| rules.replay = false);
    failover.fails("the replay before anything is read", R1, |rules| {
        rules.replay_first = false
    });
    failover.fails("an eye on whose acknowledgement it is", R1, |rules| {
        rules.acknowledged_by_this_connection = false
    });
}

#[test]
fn what_the_guards_of_a_put_are_for() {
    let invalidated = Without {
        reads: &[],
        looks: &[],
        writes: &[(0, Put), (1, Invalidate)],
        warm: false,
        weather: CALM,
    };
    invalidated.fails("comparing at the put", R1, |rules| {
        rules.put_compares = false
    });
    let read = Without {
        reads: &[0],
        writes: &[(1, Put)],
        ..invalidated
    };
    read.fails("a new stamp by a put", R1, |rules| {
        rules.put_replaces_stamp = false
    });
    let lost = Without {
        reads: &[],
        looks: &[],
        writes: &[(0, Put)],
        warm: true,
        weather: Weather { losses: 1, ..CALM },
    };
    lost.fails("owing a put", R1, |rules| rules.failed_put_is_owed = false);
    let by_value = Without {
        writes: &[(0, PutByValue), (1, Invalidate)],
        warm: false,
        weather: CALM,
        ..lost
    };
    by_value.fails("a new token of changes by an invalidation", R1, |rules| {
        rules.invalidation_replaces_changes = false
    });
    let two = Without {
        writes: &[(0, PutByValue), (1, Put)],
        ..by_value
    };
    two.fails("a new token of changes by a put", R1, |rules| {
        rules.put_replaces_changes = false
    });
}

/// Where this process gets no answer, another one may, and invalidate: a caller that joined a load which began before it came
/// would get what was ended since.
#[test]
fn a_load_that_began_before_a_caller_without_an_answer() {
    let unanswered = Without {
        reads: &[0, 0],
        looks: &[],
        writes: &[(1, Invalidate)],
        warm: false,
        weather: Weather {
            silences: 2,
            ..CALM
        },
    };
    unanswered.fails("loads that began later, without an answer", R2, |rules| {
        rules.unknown_tokens_share_what_is_later = false;
    });
}

/// Two things the code does that nothing promised rests on: a second look at the loads under way once an invalidation is
/// acknowledged, and storing nothing of a key that is owed, which spares other processes values that are about to be ended.
#[test]
fn what_would_hold_without() {
    for (name, take) in [
        (
            "forgetting loads again",
            (|rules| rules.forget_again = false) as fn(&mut Rules),
        ),
        ("storing nothing that is owed", |rules| {
            rules.store_nothing_owed = false
        }),
    ] {
        for writes in [
            &[(0, Invalidate), (0, Put)],
            &[(0, InvalidateAll), (1, Invalidate)],
        ] {
            let lost = Without {
                reads: &[0, 0],
                looks: &[],
                writes,
                warm: true,
                weather: Weather { losses: 1, ..CALM },
            };
            holds(&format!("without {name}"), lost.model(take));
        }
    }
}
