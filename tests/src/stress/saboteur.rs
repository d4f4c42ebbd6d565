//! Somebody who deletes things from a Redis server.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use tokio::task::JoinHandle;

use super::{Annotated, Rng};

/// Deletes entries, stamps, the epoch, everything at once and the server's scripts, until it is stopped: what evictions and an
/// empty restart do, only more often.
#[derive(Debug)]
pub struct Saboteur(JoinHandle<u64>);

impl Saboteur {
    /// Sets to work on the first database of that server.
    ///
    /// # Panics
    /// If the server does not answer.
    pub async fn start(url: &str, mut dice: Rng) -> Self {
        let mut connection = crate::connect(url).await;
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_millis(1 + dice.u64(..8))).await;
                strike(&mut connection, &mut dice).await;
            }
        }))
    }

    /// Stops.
    ///
    /// # Panics
    /// If it had stopped by itself, because the server did not answer.
    pub async fn stop(self) {
        self.0.abort();
        let ended = self.0.await;
        assert!(
            ended.is_err_and(|error| error.is_cancelled()),
            "the saboteur lost its server"
        );
    }
}

async fn strike(connection: &mut MultiplexedConnection, dice: &mut Rng) {
    let cache = Annotated::CACHE;
    let command = match dice.u64(..24) {
        0 => redis::cmd("FLUSHDB"),
        1 => redis::cmd("SCRIPT").arg("FLUSH").to_owned(),
        2 | 3 => redis::cmd("DEL").arg(format!("cs:{cache}:e")).to_owned(),
        number => {
            // Stamps and entries are named alike to whoever evicts.
            let pattern = if number % 2 == 0 {
                format!("cs:{cache}:*")
            } else {
                format!("cache:{cache}:*")
            };
            let found: Vec<String> = redis::cmd("KEYS")
                .arg(pattern)
                .query_async(connection)
                .await
                .expect("the server answers");
            let Some(victim) = dice.choice(&found) else {
                return;
            };
            redis::cmd("DEL").arg(victim).to_owned()
        }
    };
    command
        .exec_async(connection)
        .await
        .expect("the server answers");
}
