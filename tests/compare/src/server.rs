//! The Redis server, which is started for the comparison and ends with it.

use std::{io, process::Command, sync::OnceLock, thread::available_parallelism};

use cache_redis::dev::RedisServer;
use redis::aio::MultiplexedConnection;

static SERVER: OnceLock<RedisServer> = OnceLock::new();

/// Starts it on a free port.
pub fn start() -> io::Result<()> {
    let server = RedisServer::start()?;
    let _ = SERVER.set(server);
    Ok(())
}

pub fn url() -> &'static str {
    static URL: OnceLock<String> = OnceLock::new();
    URL.get_or_init(|| SERVER.get().expect("it was started").url())
}

pub async fn connect() -> MultiplexedConnection {
    let client = redis::Client::open(url()).expect("the address is valid");
    client
        .get_multiplexed_async_connection()
        .await
        .expect("the server answers")
}

/// Where client and server run.
#[derive(Clone, Copy)]
pub enum Place {
    /// Both on one processor. Where few ask, it is luck whether each answer has to wake another processor, which takes longer
    /// than all else; here none has to.
    OneProcessor,
    /// On all there are.
    Anywhere,
}

/// Has all threads of both processes run there.
pub async fn pin(place: Place) -> io::Result<()> {
    // Asked once: later the answer would be where this thread may run then.
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    let all = *PROCESSORS.get_or_init(|| available_parallelism().map_or(1, usize::from));
    let processors = match place {
        Place::OneProcessor => "0".to_owned(),
        Place::Anywhere => format!("0-{}", all - 1),
    };
    for process in [std::process::id().to_string(), process_id().await] {
        let placed = Command::new("taskset")
            .args(["-acp", &processors, &process])
            .output()
            .map_err(|error| io::Error::other(format!("`taskset` of util-linux: {error}")))?;
        if !placed.status.success() {
            return Err(io::Error::other("`taskset` failed"));
        }
    }
    Ok(())
}

/// The number of the server's process.
async fn process_id() -> String {
    let info: String = redis::cmd("INFO")
        .arg("server")
        .query_async(&mut connect().await)
        .await
        .expect("the server answers");
    let mut lines = info.lines();
    let process = lines.find_map(|line| line.strip_prefix("process_id:"));
    process.expect("it says so").to_owned()
}

/// How many keys there are.
pub async fn size(connection: &mut MultiplexedConnection) -> u64 {
    redis::cmd("DBSIZE")
        .query_async(connection)
        .await
        .expect("the server answers")
}

/// Adds keys that belong to nobody who is compared, up to a number.
pub async fn add_foreign_keys(connection: &mut MultiplexedConnection, how_many: u64) {
    for first in (0..how_many).step_by(10_000) {
        let mut pipeline = redis::pipe();
        for id in first..how_many.min(first + 10_000) {
            pipeline
                .set(format!("foreign:{id}"), "x".repeat(100))
                .ignore();
        }
        pipeline
            .exec_async(connection)
            .await
            .expect("the server answers");
    }
}

/// Its version.
pub async fn version(connection: &mut MultiplexedConnection) -> String {
    let info: String = redis::cmd("INFO")
        .arg("server")
        .query_async(connection)
        .await
        .expect("the server answers");
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("redis_version:"));
    line.unwrap_or("unknown").to_owned()
}
