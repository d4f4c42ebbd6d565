//! Bad weather for as long as one likes: `cargo run --release -p tests --bin soak -- --minutes 10`.
//!
//! Half of the time the weather of `chaos`, with the same oracle, in rounds with a seed each; the other half outages at full
//! load. Every round prints its numbers. `STRESS_SEED=…` is the seed of the first round.
//!
//! `soak --outage 10` is one outage of ten minutes and nothing else.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use tests::{
    chaos::{Fault, Loss, on, outage, resident, sail, validated},
    stress::{Plan, Way},
};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let time = |number: &str| Some(Duration::from_secs(60) * number.parse().ok()?);
    let asked = match &arguments[..] {
        [] => Some((Duration::from_secs(600), false)),
        [what, number] if what == "--minutes" => time(number).map(|time| (time, false)),
        [what, number] if what == "--outage" => time(number).map(|time| (time, true)),
        _ => None,
    };
    let kept = match asked {
        None => {
            eprintln!("usage: soak [--minutes NUMBER | --outage NUMBER]");
            return ExitCode::FAILURE;
        }
        Some((time, true)) => no_growth(Loss::Down, time).await,
        Some((time, false)) => weather(time / 2).await & outages(time / 2).await,
    };
    println!(
        "{}",
        if kept {
            "everything was kept"
        } else {
            "NOT KEPT"
        }
    );
    if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

async fn weather(time: Duration) -> bool {
    let (began, mut kept) = (Instant::now(), true);
    let mut seed = Plan::seed(fastrand::u64(..1 << 32));
    while began.elapsed() < time {
        let plan = Plan {
            seed,
            calls: 100_000,
            tasks: 64,
            keys: 256,
            ways: Way::ALL,
            disturbed: true,
            readers: 8,
        };
        // By turns.
        let store = if seed % 2 == 0 { on } else { validated };
        let (report, record) = sail(plan, Fault::LOSSLESS, store).await;
        let mebibytes = resident() >> 20;
        println!("seed {seed}, {mebibytes} MiB: {report}; {record}");
        let wrong = [
            report.stale,
            report.failed,
            report.doubled,
            report.foreign,
            report.lost,
            report.left_behind,
            report.busy,
        ];
        kept &= wrong == [0; 7];
        seed += 1;
    }
    kept
}

/// One outage of each kind.
async fn outages(time: Duration) -> bool {
    let mut kept = true;
    let each = time / u32::try_from(Loss::ALL.len()).unwrap_or(1);
    for loss in Loss::ALL {
        kept &= no_growth(*loss, each).await;
    }
    kept
}

async fn no_growth(loss: Loss, time: Duration) -> bool {
    let outage = outage(loss, Duration::from_secs(10), time).await;
    println!("{time:.0?} without ({loss:?}): {outage}");
    outage.growth() <= 32 << 20
}
