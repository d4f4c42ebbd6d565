//! Every schedule of the flight table, the real one: `cache-core/src/flight.rs` is compiled here a second time, with loom's
//! locks and atomics in place of the real ones (`sync`), and small stand-ins for the few things it knows of its crate.
//!
//! **Why loom, and not shuttle.** What is in doubt in this file is small and sharp: a handful of steps under a lock, two
//! atomics outside of it, a wake-up. For that loom tries *all* orders (up to the number of preemptions a scenario names),
//! and all values that Rust's memory model lets an atomic load return; shuttle tries random orders, and takes every atomic for
//! sequentially consistent. Random orders of whole calls are tried elsewhere, by the thousand (`tests/tests/schedules`).
//!
//! Loom is a plain dependency here: the substitution is made by module, not by `--cfg loom`, so it needs no flags and no build
//! of its own.
//!
//! The scenarios (`scenarios`) play the part of `cache.rs` in a few lines (`world`). Those in `without_a_rule` break one rule of
//! that part, and loom has to find what comes of it.
//!
//! `cargo test -p models --test flight_table -- --nocapture` prints how many schedules each has;
//! `LOOM_MAX_PREEMPTIONS=4` before it goes further, for minutes.

#[path = "../../../../cache-core/src/flight.rs"]
#[allow(dead_code)] // what `Cache::get` asks is no step of its own
mod flight;

mod scenario;
mod scenarios;
mod sync;
mod without_a_rule;
mod world;

/// What `flight.rs` knows of its crate.
mod backend {
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Fence(pub(crate) u64);
}

mod later {
    /// Values have no `Drop` here that could call the cache.
    pub(crate) struct Hold;

    impl Hold {
        pub(crate) fn new() -> Self {
            Self
        }
    }
}

mod limit {
    pub(crate) use crate::sync::has_timer;
}

mod memory {
    /// A value: the version of the data it was computed from.
    #[derive(Debug)]
    pub(crate) struct Held {
        pub(crate) epoch: u64,
        pub(crate) version: u64,
    }
}
