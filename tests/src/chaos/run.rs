//! The run, and what is true when the weather has cleared.

use std::time::{Duration, Instant};

use cache_core::{CacheConfig, testing};
use cache_redis::RedisBackend;

use super::{Fault, Record, Side, Station, Weather};
use crate::stress::{
    Annotated, Database, InProcess, Keeper, Plan, Report, Rng, left_behind, run_at,
};

/// How long it may take until nothing is pending when nothing is wrong any more.
const RECOVERY: Duration = Duration::from_secs(30);

/// The server with that address, with the settings of everybody.
///
/// # Panics
/// If the address is none.
#[must_use]
pub fn open(url: &str) -> RedisBackend {
    RedisBackend::open(url).expect("the address is valid")
}

/// A cache there.
pub fn on(url: &str) -> CacheConfig {
    CacheConfig::on(open(url))
}

/// A cache there, with copies here.
pub fn validated(url: &str) -> CacheConfig {
    CacheConfig::validated(open(url))
}

/// The cache of a process in bad weather: callers and entries are less patient than usual.
pub fn settings(config: CacheConfig) -> CacheConfig {
    config
        .ttl(Duration::from_secs(5))
        .ttl_jitter(0.5)
        .lock_timeout(Duration::from_millis(20))
}

/// Two managers, which are to Redis what two processes are, each with a cache that `store` makes for an address, in that weather.
///
/// # Panics
/// If the run hangs, and if there is no Redis server.
pub async fn sail(
    plan: Plan,
    faults: &[Fault],
    store: impl Fn(&str) -> CacheConfig,
) -> (Report, Record) {
    let station = Station::open(2).await;
    let urls = station.urls();
    let one = Annotated::new(settings(store(&urls[0])), plan.keys);
    let other = one.other(settings(store(&urls[1])));
    let database = InProcess::new(plan.keys);
    let hears = !faults.contains(&Fault::OldData);
    let side = |keeper: &Annotated| {
        let side = Side::new(database.clone(), plan.keys, keeper.caches(), hears);
        (side, keeper.clone())
    };
    let sides = [side(&one), side(&other)];

    let weather = Weather::start(station, faults, Rng::with_seed(plan.seed));
    let mut report = run_at(plan, &sides, weather.enough()).await;
    let (station, record) = weather.clear().await;
    report.lost = recover(&sides).await;
    if !hears {
        // A process repeats to another server what it knows when it comes to it. Until both have, what one reads may be old.
        look_around(plan.keys, &sides).await;
    }
    report += look_around(plan.keys, &sides).await;
    station.close().await;
    (report, record)
}

/// To be called when nothing is wrong any more: waits until nothing is pending, and says how much still is.
pub async fn recover<D: Database>(sides: &[(Side<D>, Annotated)]) -> u64 {
    let deadline = Instant::now() + RECOVERY;
    let pending = || sides.iter().map(|(side, _)| side.pending()).sum::<u64>();
    while pending() > 0 && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    pending()
}

/// To be called when nothing is pending anywhere: reads every row, and reports only what is wrong with them, and who is busy
/// when all is over.
///
/// # Panics
/// If the backend does not come back.
pub async fn look_around<D: Database>(keys: u64, sides: &[(Side<D>, Annotated)]) -> Report {
    let deadline = Instant::now() + RECOVERY;
    let mut report = Report::default();
    // Until the backend has answered all calls: one that it did not answer says nothing about what is there. And until it
    // has answered with values: those that this stores are of no interest, but show that what was there was read.
    loop {
        let (errors, hits) = counted(sides);
        report.left_behind += left_behind(keys, sides).await;
        for (_, keeper) in sides {
            keeper.settle().await;
        }
        let (errors_then, hits_then) = counted(sides);
        if errors == errors_then && hits < hits_then {
            break;
        }
        assert!(Instant::now() < deadline, "the backend does not come back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let busy = |keeper: &Annotated| testing::busy_keys(keeper.caches()) as u64;
    report.busy = sides.iter().map(|(_, keeper)| busy(keeper)).sum();
    report
}

/// Errors of the backends, and hits.
fn counted<D>(sides: &[(Side<D>, Annotated)]) -> (u64, u64) {
    let all = sides.iter().map(|(_, keeper)| keeper.stats());
    all.fold((0, 0), |(errors, hits), stats| {
        (errors + stats.backend_errors, hits + stats.backend_hits)
    })
}
