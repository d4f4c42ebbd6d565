//! One of several processes on one Redis server: the stress tests start them.
//!
//! Arguments: the address of the server, that of the server the database is on, the seed, the number of calls, of rows and of
//! processes, and what kind of run it is: `fenced`, `validated`, `unfenced` or `weather`. Output: the report, as JSON.

use std::time::Duration;

use cache_core::CacheConfig;
use tests::{
    chaos::{Side, look_around, on, recover, settings},
    stress::{Annotated, Enough, OnServer, Plan, Report, Unfenced, Way, run, run_at},
};

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, database, numbers @ .., kind] = arguments.as_slice() else {
        panic!("arguments are missing");
    };
    let numbers: Vec<u64> = numbers
        .iter()
        .map(|number| number.parse().expect("a number"))
        .collect();
    let [seed, calls, keys, processes] = numbers[..] else {
        panic!("numbers are missing");
    };
    let plan = Plan {
        seed,
        calls,
        tasks: 32,
        keys,
        ways: Way::LOCK_FREE,
        disturbed: true,
        readers: 12,
    };
    let database = OnServer::open(database).await;
    database.meet("begin", processes).await;
    let report = match kind.as_str() {
        "fenced" | "validated" => {
            let backend = tests::backend(url);
            let config = match kind.as_str() {
                "fenced" => CacheConfig::on(backend),
                _ => CacheConfig::validated(backend),
            };
            let keeper = Annotated::new(config.lock_timeout(Duration::from_millis(20)), keys);
            run(plan, &database, &[keeper]).await
        }
        "unfenced" => {
            let plan = Plan {
                ways: Way::ONE_ENTRY,
                disturbed: false,
                ..plan
            };
            let keeper = Annotated::new(CacheConfig::on(Unfenced(tests::backend(url))), keys);
            run(plan, &database, &[keeper]).await
        }
        _ => in_bad_weather(plan, url, database, processes).await,
    };
    println!(
        "{}",
        serde_json::to_string(&report).expect("numbers are JSON")
    );
}

/// Whoever makes the weather is one of those who meet.
async fn in_bad_weather(plan: Plan, url: &str, database: OnServer, processes: u64) -> Report {
    let plan = Plan { readers: 8, ..plan };
    let keeper = Annotated::new(settings(on(url)), plan.keys);
    let side = Side::new(database.clone(), plan.keys, keeper.caches(), true);
    let sides = [(side, keeper)];
    let enough = Enough::not_yet();
    let heard = async {
        database.hear("enough").await;
        enough.now();
    };
    let (mut report, ()) = tokio::join!(run_at(plan, &sides, &enough), heard);
    database.meet("over", processes + 1).await;
    database.meet("clear", processes + 1).await;
    report.lost = recover(&sides).await;
    database.meet("nothing pending", processes).await;
    report += look_around(plan.keys, &sides).await;
    report
}
