//! The command line.

use std::time::Duration;

use clap::{Parser, ValueEnum, builder::NonEmptyStringValueParser, value_parser};

use crate::store::Database;

/// A small shop that shows annotation caching: its catalog is read far more often than it changes
#[derive(Parser)]
#[command(name = "catalog", version)]
pub(crate) struct Args {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,

    /// Where the shop's data is: `sqlite:FILE` or `postgres://USER@HOST/DATABASE`. A new database is filled with the
    /// example's products. Without this option the data is in memory
    #[arg(
        long,
        value_name = "URL",
        default_value = "sqlite::memory:",
        hide_default_value = true
    )]
    pub(crate) database: Database,

    /// Where the caches are [default: memory, or redis if --redis is given]
    #[arg(long, value_enum)]
    pub(crate) backend: Option<Backend>,

    /// The Redis that holds the caches: `redis://HOST:PORT`, or `dev` for a private server that ends with the service
    #[arg(long, value_name = "URL|dev")]
    pub(crate) redis: Option<String>,

    /// Puts memory in front of Redis. In this version there is no memory yet: it works as it does without
    #[arg(long)]
    pub(crate) tiered: bool,

    /// How long an answer waits for Redis before it is computed without it, in milliseconds
    #[arg(long, value_name = "MILLISECONDS", default_value = "100", value_parser = value_parser!(u64).range(1..=60_000))]
    redis_budget: u64,

    /// Lets whoever sends `authorization: Bearer TOKEN` clear caches, and nobody else. Without it everybody may, but
    /// only if the service listens on a loopback address
    #[arg(long, value_name = "TOKEN", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) admin_token: Option<String>,

    /// `GET /store-products` serialises what it read at the start: what no cache can beat, for `load`
    #[arg(long, hide = true)]
    pub(crate) constant: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Backend {
    /// No caching at all, for comparison
    None,
    /// In this process
    Memory,
    /// In Redis
    Redis,
}

/// Where the caches are to be.
pub(crate) enum Caching {
    Off,
    Memory,
    /// In a Redis of our own.
    DevRedis,
    /// In the Redis at a URL.
    Redis(String),
}

impl Args {
    pub(crate) const fn redis_budget(&self) -> Duration {
        Duration::from_millis(self.redis_budget)
    }

    /// Brings `--backend`, `--redis` and `--tiered` together.
    ///
    /// # Errors
    ///
    /// If they contradict each other.
    pub(crate) fn caching(&self) -> Result<Caching, &'static str> {
        if self.tiered && self.redis.is_none() {
            return Err("--tiered puts memory in front of Redis: add --redis URL or --redis dev");
        }
        match (self.backend, self.redis.as_deref()) {
            (Some(Backend::None), None) => Ok(Caching::Off),
            (Some(Backend::Memory) | None, None) => Ok(Caching::Memory),
            (Some(Backend::Redis), None) => Err("--backend redis needs --redis URL or --redis dev"),
            (Some(Backend::Redis) | None, Some("dev")) => Ok(Caching::DevRedis),
            (Some(Backend::Redis) | None, Some(url)) => Ok(Caching::Redis(url.to_owned())),
            (Some(_), Some(_)) => {
                Err("--redis puts the caches in Redis: leave out --backend or one of the two")
            }
        }
    }
}
