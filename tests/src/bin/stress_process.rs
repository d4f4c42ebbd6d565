//! One of several processes on one Redis server: the stress tests start them.
//!
//! Arguments: the address of the server, the seed, the number of calls, of rows and of processes, and `fenced` or `unfenced`.
//! Output: the report, as JSON.

use std::time::Duration;

use cache_core::CacheConfig;
use tests::stress::{Annotated, OnServer, Plan, Unfenced, Way, run};

#[tokio::main(worker_threads = 2)]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, numbers @ .., fence] = arguments.as_slice() else {
        panic!("arguments are missing");
    };
    let numbers: Vec<u64> = numbers
        .iter()
        .map(|number| number.parse().expect("a number"))
        .collect();
    let [seed, calls, keys, processes] = numbers[..] else {
        panic!("numbers are missing");
    };
    let redis = tests::backend(url);
    let (config, ways, disturbed) = match fence.as_str() {
        "fenced" => {
            let config = CacheConfig::on(redis).lock_timeout(Duration::from_millis(20));
            (config, Way::LOCK_FREE, true)
        }
        _ => (CacheConfig::on(Unfenced(redis)), Way::ONE_ENTRY, false),
    };
    let database = OnServer::open(url).await;
    database.meet(processes).await;
    let plan = Plan {
        seed,
        calls,
        tasks: 32,
        keys,
        ways,
        disturbed,
    };
    let report = run(plan, &database, &[Annotated::new(config, keys)]).await;
    println!(
        "{}",
        serde_json::to_string(&report).expect("numbers are JSON")
    );
}
