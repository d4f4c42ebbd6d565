//! What a hit through Redis costs, beside the same look-up by hand.
//!
//! `cargo bench -p cache-redis --bench hits` starts a server of its own and prints a table. In every round each contender has its
//! turn, so that whatever else the machine does happens to all of them; a figure is the median of the rounds. Only what stands in
//! one table compares. Names of contenders (`-- "by hand" on`) leave out the others, and so do `--callers=50` and
//! `--values="8 KB"` (or `"200 B"`, `"4 MB"`); ratios are to the first.

mod contenders;
mod machine;
mod round;
mod values;

use std::time::Duration;

use cache_redis::{RedisBackend, dev::RedisServer};

use crate::{
    contenders::{Beside, Caches, Contender, Raw, Store},
    machine::Asked,
    round::{Figures, Round, median},
    values::{Huge, Large, Small, Value},
};

/// How long a contender has in a round, how often each has its turn, and how many call at a time.
struct Plan {
    turn: Duration,
    rounds: usize,
    callers: Vec<usize>,
    /// Of which values: of all, if there is none.
    values: Option<String>,
    /// Of whom: of all, if it is empty.
    names: Vec<String>,
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let (flags, names): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let given = |name: &str| {
        let given = flags.iter().find_map(|flag| flag.strip_prefix(name));
        given.map(str::to_owned)
    };
    let callers = given("--callers=").map(|number| vec![number.parse().expect("a number")]);
    let values = given("--values=");
    let measures = flags.iter().any(|flag| flag == "--bench");
    let plan = if measures {
        Plan {
            turn: Duration::from_millis(250),
            rounds: 15,
            callers: callers.unwrap_or_else(|| vec![1, 50, 500]),
            values,
            names,
        }
    } else {
        // As a test: that it works.
        Plan {
            turn: Duration::from_millis(5),
            rounds: 1,
            callers: vec![1],
            values,
            names,
        }
    };
    let server = RedisServer::start().expect("a Redis server is needed");
    println!(
        "medians of {} rounds of {:?}; µs; ratios to GET by hand and decode",
        plan.rounds, plan.turn
    );
    table::<Small>("200 B", &server, &plan).await;
    table::<Large>("8 KB", &server, &plan).await;
    beside(&server, &plan).await;
}

/// What large values do to those who read small ones. With a client library by hand they share a connection.
async fn beside(server: &RedisServer, plan: &Plan) {
    let what = "200 B, while two others read 4 MB";
    if plan.values.as_ref().is_some_and(|values| values != "4 MB") {
        return;
    }
    let raw = Beside(
        Raw::<Small>::open(server).await,
        Raw::<Huge>::open(server).await,
    );
    let redis = backend(server, 1);
    let small = Caches::<Small>::open(redis.clone(), "beside-").await;
    let huge = Caches::<Huge>::open(redis, "beside-").await;
    let on = Beside(small.store(Store::On), huge.store(Store::On));
    let contenders = vec![
        ("by hand", Box::new(raw) as Box<dyn Contender>),
        ("on", Box::new(on)),
    ];
    compare(what, contenders, &[52], server, plan).await;
}

async fn table<V: Value>(what: &str, server: &RedisServer, plan: &Plan) {
    if plan.values.as_ref().is_some_and(|values| values != what) {
        return;
    }
    let raw = Raw::<V>::open(server).await;
    let with_tokens = raw.with_tokens();
    let one = Caches::<V>::open(backend(server, 1), "").await;
    let two = Caches::<V>::open(backend(server, 2), "two-").await;
    let four = Caches::<V>::open(backend(server, 4), "four-").await;
    let contenders: Vec<(&str, Box<dyn Contender>)> = vec![
        ("by hand", Box::new(raw)),
        ("by hand, with tokens", Box::new(with_tokens)),
        ("on", Box::new(one.store(Store::On))),
        ("on, 2 connections", Box::new(two.store(Store::On))),
        ("on, 4 connections", Box::new(four.store(Store::On))),
        ("validated", Box::new(one.store(Store::Validated))),
        (
            "validated, 2 connections",
            Box::new(two.store(Store::Validated)),
        ),
    ];
    compare(what, contenders, &plan.callers, server, plan).await;
}

async fn compare(
    what: &str,
    mut contenders: Vec<(&str, Box<dyn Contender>)>,
    callers: &[usize],
    server: &RedisServer,
    plan: &Plan,
) {
    contenders.retain(|(name, _)| plan.names.is_empty() || plan.names.iter().any(|n| n == name));
    let mut asked = Asked::open(server).await;
    for &callers in callers {
        println!(
            "\n{what}, {callers} callers | hits/s | ratio | p50 | p99 | ratio | CPU here | CPU there | reads | commands | bytes"
        );
        let mut figures: Vec<Vec<Figures>> = vec![Vec::new(); contenders.len()];
        for _ in 0..plan.rounds {
            for ((_, contender), figures) in contenders.iter().zip(&mut figures) {
                let before = asked.now().await;
                let round = Round::run(&**contender, callers, plan.turn).await;
                let after = asked.now().await;
                figures.push(Figures::of(&round, &before, &after));
            }
        }
        let by_hand = median(&figures[0]);
        for ((name, _), figures) in contenders.iter().zip(&figures) {
            println!("{name:25} {}", median(figures).beside(&by_hand));
        }
    }
}

/// One that nothing makes give up: what is measured is a hit.
fn backend(server: &RedisServer, connections: usize) -> RedisBackend {
    RedisBackend::builder(&server.url())
        .read_budget(Duration::from_secs(5))
        .store_budget(Duration::from_secs(5))
        .connections(connections)
        .max_value_bytes(8 << 20)
        .build()
        .expect("the address is valid")
}
