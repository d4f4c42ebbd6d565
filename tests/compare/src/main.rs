//! The framework beside what it stands on, moka and redis-rs by hand, and beside crates of its kind.
//!
//! `cargo run --release --manifest-path tests/compare/Cargo.toml` prints one table in Markdown. `-- --only memory` does part of
//! it (more parts with commas), `--quick` has short rounds. In every round each contender has its turn; a figure is
//! the median of the rounds. Figures of one line compare, those of different runs do not.

mod contenders;
mod measure;
mod parts;
mod server;
mod table;
mod work;

use std::{error::Error, process::ExitCode};

use crate::{
    contenders::ours,
    measure::Plan,
    parts::{invalidation, memory, redis, stampede},
    table::Table,
};

const PARTS: [&str; 6] = [
    "memory",
    "misses",
    "futures",
    "stampede",
    "invalidation",
    "redis",
];
const USAGE: &str = "usage: compare [--quick] [--only PART,…]
parts: memory, misses, futures, stampede, invalidation, redis";

struct Arguments {
    quick: bool,
    only: Option<Vec<String>>,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut arguments = Self {
            quick: false,
            only: None,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--quick" => arguments.quick = true,
                "--only" => {
                    let parts: Vec<_> = words.next()?.split(',').map(str::to_owned).collect();
                    if !parts.iter().all(|part| PARTS.contains(&part.as_str())) {
                        return None;
                    }
                    arguments.only = Some(parts);
                }
                _ => return None,
            }
        }
        Some(arguments)
    }

    fn wants(&self, part: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| only.iter().any(|wanted| wanted == part))
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match compare(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("compare: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn compare(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let plan = Plan::new(arguments.quick);
    let with_redis = ["misses", "stampede", "invalidation", "redis"]
        .iter()
        .any(|part| arguments.wants(part));
    if with_redis {
        server::start()?;
    }
    let caches = ours::install(with_redis.then(server::url))?;

    print_what(plan, with_redis).await;
    let table = Table::new();
    if arguments.wants("memory") {
        memory::hits(plan, &table).await;
    }
    if arguments.wants("misses") {
        memory::misses(plan, &table).await;
    }
    if arguments.wants("stampede") {
        stampede::memory(plan.fewer(), &table).await;
    }
    if arguments.wants("invalidation") {
        invalidation::memory(plan, &table).await;
    }
    if arguments.wants("redis") {
        redis::hits(plan, &table).await?;
    }
    if arguments.wants("misses") {
        redis::misses(plan, &table).await;
    }
    if arguments.wants("stampede") {
        stampede::redis(plan.fewer(), &table).await;
    }
    if arguments.wants("invalidation") {
        invalidation::redis(plan, &caches, &table).await;
    }
    if arguments.wants("futures") {
        memory::future_sizes(&table);
    }
    table.end();
    Ok(())
}

/// What is compared, and how.
async fn print_what(plan: Plan, with_redis: bool) {
    let threads = std::thread::available_parallelism().map_or(0, usize::from);
    let rounds = plan.rounds;
    let turn = plan.turn.as_millis();
    print!(
        "{} · {threads} processors · medians of {rounds} rounds of {turn} ms",
        versions()
    );
    if with_redis {
        print!(
            " · Redis {}",
            server::version(&mut server::connect().await).await
        );
    }
    println!("\n");
}

/// The versions in the lock file.
fn versions() -> String {
    let lock = include_str!("../Cargo.lock");
    let version = |name: &str| {
        let entry = format!("name = \"{name}\"\nversion = \"");
        let rest = lock.split_once(&entry).map_or("?", |(_, rest)| rest);
        let version = rest.split('"').next().unwrap_or("?");
        format!("{name} {version}")
    };
    let names = [
        "cache-core",
        "cache-redis",
        "moka",
        "redis",
        "cached",
        "hitbox",
        "hitbox-fn",
        "hitbox-moka",
        "hitbox-redis",
        "tokio",
    ];
    names.map(version).join(" · ")
}
