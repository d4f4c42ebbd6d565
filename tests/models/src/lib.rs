//! Models of how invalidation stays true, each small enough to go through all of its states.
//!
//! | module | is a model of |
//! |---|---|
//! | [`in_process`] | the flight table of one process, `cache-core/src/flight.rs` |
//! | [`through_redis`] | tokens and entries in Redis, what each process owes it, and failovers: `cache-redis/src/server.rs`, `cache-core/src/owed.rs` |
//!
//! A model is a state, the steps that are possible in it, and properties that must hold in every state that can be reached.
//! A step is what happens under one lock, or in one command or script at the server: between any two steps anybody else
//! may take any number of theirs. So a model says less than the code, and about that little it says everything.
//!
//! Every guard that the protocol relies on is a field of the model's `Rules`. With all of them the properties hold; the tests
//! take away one at a time, and the checker has to find the sequence of steps that goes wrong. A guard that could be taken
//! away unnoticed would be a superfluous guard, or too weak a model.
//!
//! What is cached is the *version* of the data: each write makes it one more. A write and the call of its invalidation are one step
//! in the models, since what reads in between reads what is new already.
//!
//! `cargo test -p models -- --nocapture` prints how many states each model has, and how many steps each counterexample takes.

use std::{fmt::Debug, hash::Hash};

use stateright::{Checker, HasDiscoveries, Model};

pub mod in_process;
pub mod through_redis;

/// A model that has more is no model: it is to be gone through in seconds.
const MAX_STATES: usize = 20_000_000;

/// Asserts that all properties hold in every state.
///
/// # Panics
/// If one does not: the message has the steps that lead there.
pub fn holds<M>(name: &str, model: M)
where
    M: Model<
            State: Debug + Hash + Clone + PartialEq + Send + Sync,
            Action: Debug + Clone + PartialEq,
        > + Send
        + Sync
        + 'static,
{
    let checker = model
        .checker()
        .threads(2)
        .target_state_count(MAX_STATES)
        .spawn_bfs()
        .join();
    let states = checker.unique_state_count();
    println!("{name}: {states} states");
    if let Some((property, path)) = checker.discoveries().into_iter().next() {
        panic!("{name}: not so: {property}\n{:#?}", path.into_actions());
    }
    assert!(
        checker.state_count() < MAX_STATES,
        "{name}: too many states"
    );
}

/// Asserts that a property does *not* hold.
///
/// # Panics
/// If it does.
pub fn fails<M>(name: &str, property: &'static str, model: M)
where
    M: Model<
            State: Debug + Hash + Clone + PartialEq + Send + Sync,
            Action: Debug + Clone + PartialEq,
        > + Send
        + Sync
        + 'static,
{
    let checker = model
        .checker()
        .threads(2)
        .target_state_count(MAX_STATES)
        .finish_when(HasDiscoveries::AnyOf([property].into()))
        .spawn_bfs()
        .join();
    let states = checker.unique_state_count();
    let path = checker
        .discovery(property)
        .unwrap_or_else(|| panic!("{name}: held in {states} states: {property}"));
    let steps = path.into_actions();
    println!("{name}: after {} steps not so: {property}", steps.len());
    if std::env::var_os("STEPS").is_some() {
        println!("{steps:#?}");
    }
}
