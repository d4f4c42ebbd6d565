//! What the machine and the server say of themselves.

use std::{fs, time::Duration};

use cache_redis::dev::RedisServer;
use redis::aio::MultiplexedConnection;

/// The processor time this process has used.
pub(crate) fn cpu_here() -> Duration {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let nanos = threads.flatten().filter_map(|thread| {
        let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// Asks a server what it has done.
pub(crate) struct Asked(MultiplexedConnection);

/// What a server has done so far: how often it has read from a connection, carried out a command; how many bytes it has sent; and
/// how many microseconds of processor time that took.
pub(crate) struct Counts([f64; 4]);

impl Asked {
    pub(crate) async fn open(server: &RedisServer) -> Self {
        let client = redis::Client::open(server.url()).expect("the address is valid");
        let connection = client.get_multiplexed_async_connection().await;
        Self(connection.expect("the server answers"))
    }

    pub(crate) async fn now(&mut self) -> Counts {
        let mut ask = redis::cmd("INFO");
        ask.arg("all");
        let info: String = ask
            .query_async(&mut self.0)
            .await
            .expect("the server answers");
        let figure = |name: &str| -> f64 {
            let line = info.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|figure| figure.parse().ok()).unwrap_or(0.0)
        };
        let cpu = figure("used_cpu_sys:") + figure("used_cpu_user:");
        Counts([
            figure("total_reads_processed:"),
            figure("total_commands_processed:"),
            figure("total_net_output_bytes:"),
            cpu * 1e6,
        ])
    }
}

impl Counts {
    pub(crate) fn since(&self, before: &Self) -> [f64; 4] {
        std::array::from_fn(|index| self.0[index] - before.0[index])
    }
}
