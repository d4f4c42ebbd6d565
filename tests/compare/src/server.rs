//! The Redis server, which is started for the comparison and ends with it.

use std::sync::OnceLock;

use cache_redis::dev::RedisServer;
use redis::aio::MultiplexedConnection;

static SERVER: OnceLock<RedisServer> = OnceLock::new();

/// Starts it on a free port.
pub fn start() -> Result<(), std::io::Error> {
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
