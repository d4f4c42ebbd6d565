//! What must hold, in every schedule: no value that is older than an invalidation which was over before the call began; one body
//! at a time; nobody waits for ever (loom finds a deadlock); the table is empty in the end.

use crate::{
    scenario::{Act, Scenario},
    sync::{advance, end_of_time},
    world::{Body, LOCK_TIMEOUT, World},
};

pub(crate) fn read(world: &World) {
    world.read().expect("its body ends well");
}

/// A call that finds itself the only one in a body.
fn read_alone(world: &World) {
    let version = world.read_with(|_| {
        world.is_alone();
        Body::Value
    });
    assert!(version.is_some());
}

fn nothing(_: &World) {}

pub(crate) fn loaded_once(world: &World) {
    read(world);
    world.has_run(1);
}

#[test]
fn who_comes_at_the_same_time_loads_once() {
    let acts: &[Act] = &[read_alone, read_alone, read_alone];
    Scenario::new("three callers").holds(acts, loaded_once);
}

/// Not even by a caller who read the backend before the value was there, and looked for the load when it was over.
#[test]
fn who_comes_at_the_same_time_loads_once_through_a_backend() {
    let acts: &[Act] = &[read_alone, read_alone, read_alone];
    Scenario::new("three callers, a backend")
        .backend()
        .holds(acts, loaded_once);
}

#[test]
fn an_invalidation_ends_loads_and_the_entry() {
    Scenario::new("two callers, an invalidation")
        .holds(&[read, read, World::write_and_invalidate], read);
}

#[test]
fn two_invalidations() {
    let acts: &[Act] = &[
        read,
        World::write_and_invalidate,
        World::write_and_invalidate,
    ];
    Scenario::new("a caller, two invalidations").holds(acts, read);
}

#[test]
fn an_invalidation_of_everything_meets_a_landing() {
    Scenario::new("two callers, an invalidation of everything")
        .holds(&[read, read, World::write_and_invalidate_all], read);
}

#[test]
fn an_invalidation_by_predicate() {
    Scenario::new("two callers, an invalidation by predicate")
        .holds(&[read, read, World::write_and_invalidate_if], read);
}

/// Two calls after another: the first loads, or brings to the front what it finds.
pub(crate) fn read_twice(world: &World) {
    read(world);
    read(world);
}

#[test]
fn what_is_brought_to_the_front_meets_an_invalidation() {
    let acts: &[Act] = &[read_twice, World::write_and_invalidate];
    Scenario::new("two calls, one to the front, an invalidation")
        .front()
        .holds(acts, read_twice);
    let acts: &[Act] = &[read_twice, World::write_and_invalidate_all];
    Scenario::new("two calls, one to the front, an invalidation of everything")
        .front()
        .holds(acts, read_twice);
    Scenario::new("two calls, one to the front, a put")
        .front()
        .holds(&[read_twice, put], read_twice);
    let acts: &[Act] = &[read_twice, read, World::write_and_invalidate];
    Scenario::new("three calls, two to the front, an invalidation")
        .front()
        .preemptions(2)
        .holds(acts, read);
}

#[test]
fn an_invalidation_by_another_process() {
    Scenario::new("two callers, another process")
        .backend()
        .holds(&[read, read, World::write_elsewhere], read);
}

pub(crate) fn put(world: &World) {
    world.put(true);
}

/// One whose key only its value gives.
pub(crate) fn put_by_value(world: &World) {
    world.put(false);
}

#[test]
fn a_put_meets_a_load() {
    Scenario::new("two callers, a put").holds(&[read, read, put], read);
    Scenario::new("two callers, a put by value").holds(&[read, read, put_by_value], read);
}

#[test]
fn puts_meet_each_other() {
    Scenario::new("a caller, two puts").holds(&[read, put, put], read);
    Scenario::new("two puts by value").holds(&[put_by_value, put_by_value], read);
    Scenario::new("a put, one by value").holds(&[put, put_by_value], read);
}

#[test]
fn a_put_meets_an_invalidation() {
    Scenario::new("a put, an invalidation").holds(&[read, put, World::write_and_invalidate], read);
    let acts: &[Act] = &[put, World::write_and_invalidate_all];
    Scenario::new("a put, an invalidation of everything").holds(acts, read);
    let acts: &[Act] = &[put_by_value, World::write_and_invalidate];
    Scenario::new("a put by value, an invalidation").holds(acts, read);
    let acts: &[Act] = &[put_by_value, World::write_and_invalidate_all];
    Scenario::new("a put by value, an invalidation of everything").holds(acts, read);
    let acts: &[Act] = &[put_by_value, World::write_and_invalidate_if];
    Scenario::new("a put by value, an invalidation by predicate").holds(acts, read);
}

/// A call whose body ends like that if it is the first of all.
pub(crate) fn first_ends(world: &World, how: Body) -> Option<u64> {
    world.read_with(|before| if before == 0 { how } else { Body::Value })
}

pub(crate) fn first_is_dropped(world: &World) {
    first_ends(world, Body::Dropped);
}

#[test]
fn a_leader_is_dropped() {
    let acts: &[Act] = &[first_is_dropped, first_is_dropped, first_is_dropped];
    Scenario::new("three callers, the first dropped").holds(acts, read);
    let acts: &[Act] = &[
        first_is_dropped,
        first_is_dropped,
        World::write_and_invalidate,
    ];
    Scenario::new("the first dropped, an invalidation").holds(acts, read);
}

#[test]
fn a_waiter_is_dropped() {
    Scenario::new("two callers, one that leaves").holds(&[read, read, World::glance], read);
    let acts: &[Act] = &[World::glance, World::glance, World::write_and_invalidate];
    Scenario::new("two that leave, an invalidation").holds(acts, nothing);
}

#[test]
fn a_leader_fails() {
    fn alone(world: &World) {
        first_ends(world, Body::Error { shared: false });
    }
    fn shared(world: &World) {
        first_ends(world, Body::Error { shared: true });
    }
    let acts: &[Act] = &[alone, alone, alone];
    Scenario::new("three callers, the first fails").holds(acts, read);
    let acts: &[Act] = &[shared, shared, shared];
    Scenario::new("three callers, the first fails for all").holds(acts, read);
}

#[test]
fn a_value_is_not_kept() {
    fn not_kept(world: &World) {
        assert!(world.read_with(|_| Body::NotKept).is_some());
    }
    let acts: &[Act] = &[not_kept, not_kept, World::write_and_invalidate];
    Scenario::new("two callers, nothing kept").holds(acts, read);
}

/// Its body hangs, if it is the first, until somebody else has a value.
fn first_hangs(world: &World) {
    let version = world.read_with(|before| {
        if before == 0 {
            world.wait_at_the_gate();
        }
        Body::Value
    });
    assert!(version.is_some());
    world.open();
    end_of_time();
}

fn time_passes(_: &World) {
    advance(LOCK_TIMEOUT);
}

#[test]
fn who_has_waited_long_enough_leads_beside() {
    Scenario::new("the first hangs")
        .timers()
        .holds(&[first_hangs, first_hangs, time_passes], read);
}

#[test]
fn one_more_body_for_each_lock_timeout() {
    fn two_bodies(world: &World) {
        world.has_run(2); // one that hangs, and one beside it
    }
    let acts: &[Act] = &[first_hangs, first_hangs, first_hangs, time_passes];
    Scenario::new("the first hangs, two wait")
        .timers()
        .preemptions(1)
        .holds(acts, two_bodies);
}

#[test]
fn a_leader_that_hung_meets_an_invalidation() {
    let acts: &[Act] = &[
        first_hangs,
        first_hangs,
        time_passes,
        World::write_and_invalidate,
    ];
    Scenario::new("the first hangs, an invalidation")
        .timers()
        .preemptions(1)
        .holds(acts, read);
}
