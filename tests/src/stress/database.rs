//! Where the truth is.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::aio::MultiplexedConnection;

/// Rows with a version each, and the versions that are acknowledged. Every operation is atomic, and in one order for all.
pub trait Database: Clone + Send + Sync + 'static {
    /// The version of a row.
    fn version(&self, key: u64) -> impl Future<Output = u64> + Send;
    /// Writes a row, and gives the new version.
    fn write(&self, key: u64) -> impl Future<Output = u64> + Send;
    /// The highest version of a row that was acknowledged.
    fn acknowledged(&self, key: u64) -> impl Future<Output = u64> + Send;
    /// Acknowledges a version.
    fn acknowledge(&self, key: u64, version: u64) -> impl Future<Output = ()> + Send;
}

/// A database in this process.
#[derive(Clone, Debug)]
pub struct InProcess(Arc<[Versions]>);

#[derive(Debug, Default)]
struct Versions {
    written: AtomicU64,
    acknowledged: AtomicU64,
}

impl InProcess {
    /// So many rows, none of them written yet.
    #[must_use]
    pub fn new(rows: u64) -> Self {
        Self((0..rows).map(|_| Versions::default()).collect())
    }

    fn row(&self, key: u64) -> &Versions {
        &self.0[usize::try_from(key).expect("a row that exists")]
    }
}

impl Database for InProcess {
    async fn version(&self, key: u64) -> u64 {
        self.row(key).written.load(Ordering::SeqCst)
    }

    async fn write(&self, key: u64) -> u64 {
        self.row(key).written.fetch_add(1, Ordering::SeqCst) + 1
    }

    async fn acknowledged(&self, key: u64) -> u64 {
        self.row(key).acknowledged.load(Ordering::SeqCst)
    }

    async fn acknowledge(&self, key: u64, version: u64) {
        self.row(key)
            .acknowledged
            .fetch_max(version, Ordering::SeqCst);
    }
}

/// A database that several processes share: on a Redis server, which carries out one command after another, but in another
/// of its databases than the one caches are in.
#[derive(Clone, Debug)]
pub struct OnServer {
    connection: MultiplexedConnection,
}

/// Sent as it is each time: somebody may have the server forget its scripts at any moment.
const RAISE: &str = "local now = tonumber(redis.call('GET', KEYS[1]) or '0')
if tonumber(ARGV[1]) > now then redis.call('SET', KEYS[1], ARGV[1]) end";

impl OnServer {
    /// The database on that server.
    ///
    /// # Panics
    /// If the server does not answer.
    pub async fn open(url: &str) -> Self {
        Self {
            connection: crate::connect(&format!("{url}/1")).await,
        }
    }

    /// Returns when as many processes as that have come here.
    ///
    /// # Panics
    /// If they do not come, and if the server does not answer.
    pub async fn meet(&self, processes: u64) {
        let all_come = async {
            let mut come = self.command("INCR", "come").await;
            while come < Some(processes) {
                tokio::time::sleep(Duration::from_millis(2)).await;
                come = self.command("GET", "come").await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), all_come)
            .await
            .expect("the other processes come here too");
    }

    async fn command(&self, command: &str, key: &str) -> Option<u64> {
        redis::cmd(command)
            .arg(key)
            .query_async(&mut self.connection.clone())
            .await
            .expect("the server answers")
    }
}

impl Database for OnServer {
    async fn version(&self, key: u64) -> u64 {
        self.command("GET", &format!("row:{key}"))
            .await
            .unwrap_or(0)
    }

    async fn write(&self, key: u64) -> u64 {
        self.command("INCR", &format!("row:{key}"))
            .await
            .unwrap_or(0)
    }

    async fn acknowledged(&self, key: u64) -> u64 {
        self.command("GET", &format!("acknowledged:{key}"))
            .await
            .unwrap_or(0)
    }

    async fn acknowledge(&self, key: u64, version: u64) {
        redis::cmd("EVAL")
            .arg(RAISE)
            .arg(1)
            .arg(format!("acknowledged:{key}"))
            .arg(version)
            .exec_async(&mut self.connection.clone())
            .await
            .expect("the server answers");
    }
}
