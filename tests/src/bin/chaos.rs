//! Prints what the caches are worth in bad weather, and fails if it is not what is promised.
//!
//! `cargo run --release -p tests --bin chaos`; `STRESS_SEED=…` repeats the choices of a run.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use cache_core::CacheConfig;
use tests::{
    Trouble,
    chaos::{
        Careless, Fault, Forgetful, Loss, READ_BUDGET, Record, Silence, hanging, late, on, open,
        outage, sail, starting, validated,
    },
    stress::{Plan, Report, Unfenced, Way},
};

#[tokio::main]
async fn main() -> ExitCode {
    let seed = Plan::seed(fastrand::u64(..1 << 32));
    println!("STRESS_SEED={seed}");
    let mut kept = Kept(true);
    weather("in bad weather", on, seed, &mut kept).await;
    weather("with copies", validated, seed, &mut kept).await;
    ablations(seed, &mut kept).await;
    silence(&mut kept).await;
    let seen = late(100_000, seed).await;
    println!("late replies: {seen}");
    kept.check(seen.foreign + seen.refused == 0, "no answer is another's");
    for loss in Loss::ALL {
        let outage = outage(*loss, Duration::from_secs(5), Duration::from_secs(20)).await;
        println!("20 s without ({loss:?}): {outage}");
        kept.check(outage.growth() <= 32 << 20, "at most 32 MiB more");
    }
    kept.code()
}

/// Whether all that is promised was kept so far.
struct Kept(bool);

impl Kept {
    fn check(&mut self, holds: bool, promise: &str) {
        if !holds {
            println!("NOT KEPT: {promise}");
            self.0 = false;
        }
    }

    fn code(&self) -> ExitCode {
        if self.0 {
            println!("everything was kept");
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

fn plan(seed: u64, calls: u64, ways: &'static [Way]) -> Plan {
    Plan {
        seed,
        calls,
        tasks: 64,
        keys: 256,
        ways,
        disturbed: true,
        readers: 8,
    }
}

async fn weather(what: &str, store: fn(&str) -> CacheConfig, seed: u64, kept: &mut Kept) {
    let (mut all, mut faults) = (Report::default(), Record::default());
    let began = Instant::now();
    for seed in seed.. {
        let plan = plan(seed, 200_000, Way::ALL);
        let (report, record) = sail(plan, Fault::LOSSLESS, store).await;
        println!("seed {seed}: {report}; {record}");
        all += report;
        faults += record;
        if all.calls >= 1_000_000
            && all.invalidations >= 100_000
            && faults.least(Fault::LOSSLESS) >= 4
        {
            break;
        }
    }
    println!("{what}, {:.0?}: {all}; {faults}", began.elapsed());
    kept.check(all.stale == 0, "nothing is stale");
    kept.check(all.failed + all.doubled == 0, "no call fails or is doubled");
    kept.check(all.foreign == 0, "no answer is another's");
    kept.check(all.lost + all.left_behind == 0, "no invalidation is lost");
    kept.check(all.busy == 0, "nobody is busy when all is over");
}

async fn ablations(seed: u64, kept: &mut Kept) {
    let plan = plan(seed, 50_000, Way::ONE_ENTRY);
    let (report, _) = sail(plan, Fault::LOSSLESS, |url| {
        CacheConfig::on(Unfenced(open(url)))
    })
    .await;
    println!("without the fence: {report}");
    kept.check(report.stale > 0, "it is seen that the fence is missing");
    let (report, _) = sail(plan, &[Fault::NoWrites], |url| {
        CacheConfig::on(Careless(open(url)))
    })
    .await;
    println!("with nothing owed: {report}");
    kept.check(report.stale > 0, "it is seen that nothing is owed");
    let (report, _) = sail(plan, &[Fault::OldData], |url| {
        CacheConfig::on(Forgetful::open(url))
    })
    .await;
    println!("old data, without a replay: {report}");
    kept.check(report.stale > 0, "it is seen that the replay is missing");
}

async fn silence(kept: &mut Kept) {
    for silence in Silence::ALL {
        let times = hanging(*silence, Duration::from_secs(10)).await;
        println!(
            "{silence:?}: reads: {}; invalidations: {}; puts: {}; the machine was late by {:.1?}; hits again after {:.1?}",
            times.reads, times.invalidations, times.puts, times.lateness, times.back
        );
        let strict = READ_BUDGET + Duration::from_millis(10);
        println!(
            "{silence:?}: {} reads, {} invalidations and {} puts took more than {strict:?}",
            times.reads.over(strict),
            times.invalidations.over(strict),
            times.puts.over(strict)
        );
        let longest = times.reads.longest().max(times.invalidations.longest());
        kept.check(
            longest <= times.allowed(),
            "the read budget and ten milliseconds",
        );
        kept.check(
            times.back <= Duration::from_millis(2500),
            "hits within 2.5 s",
        );
    }
    let times = starting(Trouble::Refuse, 200).await;
    println!("build and first call without Redis: {times}");
    kept.check(
        times.of_thousand(990) < Duration::from_millis(5),
        "5 ms to start",
    );
}
