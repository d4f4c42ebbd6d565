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

use super::Told;

/// Rows with a version each, and the versions that are acknowledged. Every operation is atomic, and in one order for all.
///
/// The databases here take an annotated function that has returned for an acknowledgement, which it is while the backend answers.
pub trait Database: Clone + Send + Sync + 'static {
    /// The version of a row.
    fn version(&self, key: u64) -> impl Future<Output = u64> + Send;
    /// Writes a row, and gives the new version.
    fn write(&self, key: u64) -> impl Future<Output = u64> + Send;
    /// What has to be answered from now on, or something newer.
    fn acknowledged(&self, key: u64) -> impl Future<Output = Acknowledged> + Send;
    /// Takes note of what somebody was told who has written that version.
    fn told(&self, key: u64, version: u64, told: Told) -> impl Future<Output = ()> + Send;
}

/// The highest version of a row that was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// To somebody anywhere.
    pub everywhere: u64,
    /// To somebody in this process, where an invalidation is final also if the backend has not heard of it.
    pub here: u64,
}

impl From<u64> for Acknowledged {
    fn from(version: u64) -> Self {
        Self {
            everywhere: version,
            here: version,
        }
    }
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

    async fn acknowledged(&self, key: u64) -> Acknowledged {
        self.row(key).acknowledged.load(Ordering::SeqCst).into()
    }

    async fn told(&self, key: u64, version: u64, told: Told) {
        if told != Told::Failed {
            self.row(key)
                .acknowledged
                .fetch_max(version, Ordering::SeqCst);
        }
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

    /// Returns when as many processes as that have come to the point of that name.
    ///
    /// # Panics
    /// If they do not come, and if the server does not answer.
    pub async fn meet(&self, point: &str, processes: u64) {
        let all_come = async {
            let mut come = self.command("INCR", point).await;
            while come < Some(processes) {
                tokio::time::sleep(Duration::from_millis(2)).await;
                come = self.command("GET", point).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(240), all_come)
            .await
            .expect("the other processes come here too");
    }

    /// Passes something on to the other processes.
    ///
    /// # Panics
    /// If the server does not answer.
    pub async fn say(&self, what: &str) {
        self.command("INCR", what).await;
    }

    /// Returns when somebody has [said](Self::say) that.
    ///
    /// # Panics
    /// If the server does not answer.
    pub async fn hear(&self, what: &str) {
        while self.command("GET", what).await.is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
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

    async fn acknowledged(&self, key: u64) -> Acknowledged {
        let version = self.command("GET", &format!("acknowledged:{key}")).await;
        version.unwrap_or(0).into()
    }

    async fn told(&self, key: u64, version: u64, told: Told) {
        if told == Told::Failed {
            return;
        }
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
