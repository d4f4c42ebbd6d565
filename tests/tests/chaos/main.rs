//! Everything that can happen to a Redis server and to the way to it, while callers call and writers write: no stale answer, no
//! failed call, no invalidation lost.
//!
//! `STRESS_SEED=…` repeats the choices of a run. `cargo run --release -p tests --bin chaos` does the same for longer.

use std::time::{Duration, Instant};

use cache_core::CacheConfig;
use cache_redis::dev::RedisServer;
use tests::{
    chaos::{Careless, Fault, Forgetful, Record, Station, Weather, on, open, sail, validated},
    stress::{OnServer, Plan, Report, Rng, Unfenced, Way, processes},
};

const KEYS: u64 = 256;

fn plan(seed: u64, calls: u64, ways: &'static [Way]) -> Plan {
    Plan {
        seed: Plan::seed(seed),
        calls,
        tasks: 48,
        keys: KEYS,
        ways,
        disturbed: true,
        readers: 8,
    }
}

fn show(what: &str, seed: u64, report: &Report, record: &Record, began: Instant) {
    let time = began.elapsed();
    println!("{what}, seed {seed}, {time:.1?}: {report}; {record}");
}

/// What is asked of the framework; and that there was weather, and that it was used all the same.
fn assert_true(report: &Report, record: &Record, seed: u64, calls: u64) {
    assert_eq!(report.stale, 0, "stale answers, STRESS_SEED={seed}");
    let wrong = [
        report.foreign,
        report.failed,
        report.doubled,
        report.left_behind,
        report.lost,
        report.busy,
    ];
    assert_eq!(wrong, [0; 6], "STRESS_SEED={seed}: {report}");
    assert!(report.calls >= calls - 64, "{report}");
    assert!(report.hits > calls / 50, "{report}");
    assert!(report.loads > calls / 50, "{report}");
    assert!(report.invalidations > calls / 50, "{report}");
    assert!(report.not_acknowledged > 0, "{report}");
    assert!(record.least(Fault::LOSSLESS) > 0, "{record}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_any_weather_nothing_is_stale_and_nothing_lost() {
    let (began, plan) = (Instant::now(), plan(0x5EED, 40_000, Way::ALL));
    let (report, record) = sail(plan, Fault::LOSSLESS, on).await;
    show("in bad weather", plan.seed, &report, &record, began);
    assert_true(&report, &record, plan.seed, plan.calls);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_copies_in_any_weather_nothing_is_stale_and_nothing_lost() {
    let (began, plan) = (Instant::now(), plan(0xC0B1, 40_000, Way::ALL));
    let (report, record) = sail(plan, Fault::LOSSLESS, validated).await;
    show(
        "in bad weather, with copies",
        plan.seed,
        &report,
        &record,
        began,
    );
    assert_true(&report, &record, plan.seed, plan.calls);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_processes_in_any_weather_nothing_is_stale_and_nothing_lost() {
    let (began, seed) = (Instant::now(), Plan::seed(0xF00D));
    let (report, record) = between_processes(seed, 10_000).await;
    show(
        "in bad weather, two processes",
        seed,
        &report,
        &record,
        began,
    );
    assert_true(&report, &record, seed, 20_000);
}

/// Two processes, whose database is on a server that nothing happens to.
async fn between_processes(seed: u64, calls: u64) -> (Report, Record) {
    let calm = RedisServer::start().expect("a Redis server is needed");
    let station = Station::open(2).await;
    let urls = station.urls();
    let weather = Weather::start(station, Fault::LOSSLESS, Rng::with_seed(seed));
    let database = OnServer::open(&calm.url()).await;
    let clear = async {
        while weather.enough().missing() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        database.say("enough").await;
        database.meet("over", 3).await;
        let cleared = weather.clear().await;
        database.meet("clear", 3).await;
        cleared
    };
    let (program, url) = (env!("CARGO_BIN_EXE_stress_process"), calm.url());
    let processes = processes(program, &urls, &url, (seed, calls, KEYS), "weather");
    let (reports, (station, record)) = tokio::join!(processes, clear);
    station.close().await;
    let mut report = Report::default();
    for part in reports {
        report += part;
    }
    (report, record)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_fence_there_are_stale_answers() {
    let (began, plan) = (Instant::now(), plan(0xBAD, 20_000, Way::ONE_ENTRY));
    let weather = [Fault::Delayed, Fault::Reset, Fault::Flushed];
    let (report, record) = sail(plan, &weather, |url| CacheConfig::on(Unfenced(open(url)))).await;
    show(
        "in bad weather, no fence",
        plan.seed,
        &report,
        &record,
        began,
    );
    assert!(report.stale > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_failed_invalidations_are_not_owed_there_are_stale_answers() {
    let (began, plan) = (Instant::now(), plan(0xBAD, 20_000, Way::ONE_ENTRY));
    let (report, record) = sail(plan, &[Fault::NoWrites], |url| {
        CacheConfig::on(Careless(open(url)))
    })
    .await;
    show("nothing owed", plan.seed, &report, &record, began);
    assert!(report.stale > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_old_data_nothing_is_stale_that_was_acknowledged_lately() {
    let (began, plan) = (Instant::now(), plan(0x01D, 20_000, Way::ONE_ENTRY));
    let (report, record) = sail(plan, &[Fault::OldData], on).await;
    show("old data", plan.seed, &report, &record, began);
    assert_eq!((report.stale, report.left_behind), (0, 0), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_old_data_and_copies_nothing_is_stale_that_was_acknowledged_lately() {
    let (began, plan) = (Instant::now(), plan(0x01D, 20_000, Way::ONE_ENTRY));
    let (report, record) = sail(plan, &[Fault::OldData], validated).await;
    show("old data, copies", plan.seed, &report, &record, began);
    assert_eq!((report.stale, report.left_behind), (0, 0), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_replay_there_are_stale_answers() {
    let (began, plan) = (Instant::now(), plan(0xBAD, 20_000, Way::ONE_ENTRY));
    let (report, record) = sail(plan, &[Fault::OldData], |url| {
        CacheConfig::on(Forgetful::open(url))
    })
    .await;
    show("old data, no replay", plan.seed, &report, &record, began);
    assert!(report.stale > 0, "{report}");
}
