//! The model of one process: what must hold, and what each guard is for.

use models::{
    fails, holds,
    in_process::{
        Caller::{
            self, Evict, Invalidate, InvalidateAll, InvalidateIf, Put, PutByValue, Read, ReadOften,
        },
        EMPTY, GOES_ON, IN_FRONT, InProcess, NEEDED, NO_WAIT, ONE_LOAD, R1, R2, Rules,
    },
};

fn model(callers: &[Caller]) -> InProcess {
    InProcess {
        callers: callers.to_vec(),
        drops: 0,
        failures: 0,
        timeouts: 0,
        rules: Rules::ALL,
    }
}

#[test]
fn reads_and_invalidations() {
    for change in [Invalidate, InvalidateAll, InvalidateIf] {
        let callers = [Read, Read, Read, change, Invalidate];
        holds(
            &format!("three reads, {change:?}, Invalidate"),
            model(&callers),
        );
    }
}

#[test]
fn reads_and_puts() {
    for (one, other) in [(Put, Put), (PutByValue, PutByValue), (Put, PutByValue)] {
        let callers = [Read, Read, one, other];
        holds(&format!("two reads, {one:?}, {other:?}"), model(&callers));
    }
}

#[test]
fn puts_and_invalidations() {
    for put in [Put, PutByValue] {
        for change in [Invalidate, InvalidateAll, InvalidateIf] {
            let model = InProcess {
                drops: 1,
                ..model(&[Read, Read, put, change])
            };
            holds(
                &format!("two reads, {put:?}, {change:?}, one dropped"),
                model,
            );
        }
    }
}

#[test]
fn callers_are_dropped_and_bodies_fail() {
    for change in [Invalidate, InvalidateAll] {
        let model = InProcess {
            drops: 1,
            failures: 1,
            ..model(&[Read, Read, Read, change])
        };
        holds(
            &format!("three reads, {change:?}, one dropped, one fails"),
            model,
        );
    }
}

#[test]
fn leaders_hang() {
    let model = InProcess {
        timeouts: 2,
        failures: 1,
        ..model(&[Read, Read, Read, Invalidate])
    };
    holds("three reads, Invalidate, two time-outs, one fails", model);
}

#[test]
fn what_is_hit_often_is_brought_to_the_front() {
    for change in [Invalidate, InvalidateAll, InvalidateIf, Put, PutByValue] {
        let callers = [Read, ReadOften, ReadOften, Evict, change];
        holds(
            &format!("a read, two often, Evict, {change:?}"),
            model(&callers),
        );
    }
}

fn without(name: &str, property: &'static str, callers: &[Caller], take: fn(&mut InProcess)) {
    let mut model = model(callers);
    take(&mut model);
    fails(&format!("without {name}"), property, model);
}

#[test]
fn what_each_guard_of_a_load_is_for() {
    without(
        "the fence at the store",
        R1,
        &[Read, Read, Invalidate],
        |m| m.rules.land_needs_flight = false,
    );
    without(
        "removal under the lock",
        R1,
        &[Read, Read, Invalidate],
        |m| m.rules.remove_under_lock = false,
    );
    let callers = [Read, Read, Invalidate];
    without("the end of loads (1)", R1, &callers, |m| {
        m.rules.invalidation_ends_loads = false
    });
    without("the end of loads (2)", R2, &callers, |m| {
        m.rules.invalidation_ends_loads = false
    });
    let callers = [Read, Read, InvalidateAll];
    without("forgetting the loads", R2, &callers, |m| {
        m.rules.all_forgets_loads = false
    });
    without("comparing epochs", R1, &callers, |m| {
        m.rules.compare_epochs = false
    });
    without("the epoch of its beginning", R1, &callers, |m| {
        m.rules.epoch_of_beginning = false
    });
    without("a second look", NEEDED, &[Read, Read], |m| {
        m.rules.look_again = false
    });
    without("a guard (1)", NO_WAIT, &[Read, Read], |m| {
        (m.drops, m.rules.guard) = (1, false)
    });
    without("a guard (2)", EMPTY, &[Read], |m| {
        (m.drops, m.rules.guard) = (1, false)
    });
    without("patience", ONE_LOAD, &[Read, Read], |m| {
        m.rules.patience = false
    });
    without("waiting for the last leader", GOES_ON, &[Read, Read], |m| {
        (m.timeouts, m.failures, m.rules.last_leader_ends) = (1, 1, false);
    });
}

#[test]
fn what_each_guard_of_the_front_is_for() {
    let callers = [Read, ReadOften, Read, Invalidate];
    without("looking under the lock", R1, &callers, |m| {
        m.rules.fill_under_lock = false
    });
    without("removal from the front (1)", R1, &callers, |m| {
        m.rules.front_goes_too = false
    });
    let callers = [Read, ReadOften, Read, Put];
    without("removal from the front (2)", R1, &callers, |m| {
        m.rules.front_goes_too = false
    });
    let callers = [Read, ReadOften, Evict];
    without("a look after filling", IN_FRONT, &callers, |m| {
        m.rules.look_after_filling = false
    });
    without("announced evictions", IN_FRONT, &callers, |m| {
        m.rules.evictions_are_announced = false
    });
    let callers = [Read, ReadOften, Evict, InvalidateIf, Read];
    without("a walk through the front", R1, &callers, |m| {
        m.rules.front_is_searched = false
    });
}

#[test]
fn what_each_guard_of_a_put_is_for() {
    without("the slot", R1, &[Read, Put, Invalidate], |m| {
        m.rules.put_needs_slot = false
    });
    without("counting puts", R1, &[Read, Put, Put], |m| {
        m.rules.put_counts_puts = false
    });
    without(
        "counting changes (1)",
        R1,
        &[Read, PutByValue, Invalidate],
        |m| m.rules.put_counts_changes = false,
    );
    without(
        "counting changes (2)",
        R1,
        &[Read, PutByValue, PutByValue],
        |m| m.rules.put_counts_changes = false,
    );
    without("its epoch", R1, &[Read, PutByValue, InvalidateAll], |m| {
        m.rules.put_keeps_epoch = false
    });
    without("ending loads", R1, &[Read, Read, Put], |m| {
        m.rules.put_ends_loads = false
    });
    without(
        "invalidating when interrupted",
        R1,
        &[Read, Read, Put],
        |m| {
            (m.drops, m.rules.interrupted_put_invalidates) = (1, false);
        },
    );
}
