//! Random schedules that can be repeated exactly: one thread polls callers in an order that a seed decides, drops some, and
//! polls nobody who was not woken. So a wake-up that is lost is found as well as an answer that is stale.
//!
//! `STRESS_SEED=…` runs one schedule alone.

mod schedule;
mod wandering;

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use cache_core::CacheConfig;

use schedule::{Calls, Schedule};
use wandering::Wandering;

#[test]
fn in_memory() {
    each_seed(0..1_500, |seed| {
        Schedule::new(seed, vec![CacheConfig::memory()], Calls::All)
    });
}

#[test]
fn through_a_backend_that_two_processes_share() {
    each_seed(0..700, |seed| {
        let backend = Wandering::new(seed);
        let configs = vec![CacheConfig::on(backend.clone()), CacheConfig::on(backend)];
        Schedule::new(seed, configs, Calls::All)
    });
}

#[test]
fn nothing_is_loaded_twice_in_memory() {
    each_seed(0..500, |seed| {
        Schedule::new(seed, vec![CacheConfig::memory()], Calls::Reads)
    });
}

/// Not even by a caller who read the backend before the value was there, and looked for the load when it was over.
#[test]
fn nothing_is_loaded_twice_through_a_backend() {
    each_seed(0..500, |seed| {
        let backend = Wandering::new(seed);
        Schedule::new(seed, vec![CacheConfig::on(backend)], Calls::Reads)
    });
}

fn each_seed(seeds: Range<u64>, schedule: impl Fn(u64) -> Schedule) {
    let seeds = match std::env::var("STRESS_SEED") {
        Ok(seed) => {
            let seed = seed.parse().expect("STRESS_SEED is a number");
            seed..seed + 1
        }
        Err(_) => seeds,
    };
    for seed in seeds {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            // Time stands still while anybody has something to do.
            .start_paused(true)
            .build()
            .expect("a runtime without I/O needs nothing");
        let run = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(schedule(seed).run());
        }));
        if let Err(failure) = run {
            eprintln!("STRESS_SEED={seed}");
            resume_unwind(failure);
        }
    }
}
