//! What an outage costs in memory.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use cache_core::{Cache, CacheConfig, CacheManager, cache_invalidate, cache_result};
use cache_redis::RedisBackend;
use tokio::task::JoinSet;

use super::{Station, resident};
use crate::{Trouble, stress::Rng};

const CALLERS: u64 = 64;
/// More than there may be owed invalidations of single keys, and few enough for all to have stamps soon.
const KEYS: u64 = 8192;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Outage {
    /// Calls made meanwhile.
    pub calls: u64,
    /// The memory of the process under the same load before, in bytes.
    pub before: u64,
    /// The most it had meanwhile.
    pub most: u64,
    /// How long it took until nothing was pending after all was well.
    pub recovered: Duration,
}

impl Outage {
    /// By how much the memory grew, in bytes.
    #[must_use]
    pub const fn growth(&self) -> u64 {
        self.most.saturating_sub(self.before)
    }
}

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mebibytes = |bytes: u64| bytes >> 20;
        write!(
            f,
            "memory grew by {} MiB from {} MiB, {} calls, nothing pending {:.1?} after it",
            mebibytes(self.growth()),
            mebibytes(self.before),
            self.calls,
            self.recovered
        )
    }
}

/// What does not work in an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nobody listens: calls go on at full speed.
    Down,
    /// Nothing is answered.
    Silent,
}

impl Loss {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Down, Self::Silent];
}

/// An outage of that kind and length at full load, which has lasted for `warm` before.
///
/// # Panics
/// If there is no Redis server, and if it is not used again within a minute.
pub async fn outage(loss: Loss, warm: Duration, time: Duration) -> Outage {
    let station = Station::open(1).await;
    let redis = RedisBackend::open(&station.urls()[0]).expect("the address is valid");
    let caches = CacheManager::builder()
        .cache("pages", CacheConfig::on(redis).ttl(Duration::from_secs(1)))
        .build()
        .expect("the configuration is valid");
    let site = Site {
        pages: caches.cache("pages").expect("the only type there is"),
        caches,
    };
    let load = Load::start(&site);
    tokio::time::sleep(warm).await;
    let (before, calls) = (resident(), load.calls());
    let trouble = match loss {
        Loss::Down => Trouble::Refuse,
        Loss::Silent => Trouble::Blackhole,
    };
    station.trouble(None, trouble);
    let (until, mut most) = (Instant::now() + time, before);
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(50)).await;
        most = most.max(resident());
    }
    let calls = load.calls() - calls;
    load.stop().await;
    station.trouble(None, Trouble::None);
    let ended = Instant::now();
    while site.pages.stats().pending_invalidations > 0 {
        assert!(
            ended.elapsed() < Duration::from_secs(60),
            "invalidations stay pending"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let recovered = ended.elapsed();
    station.close().await;
    Outage {
        calls,
        before,
        most,
        recovered,
    }
}

#[derive(Clone, Debug)]
struct Site {
    pages: Cache<String>,
    caches: CacheManager,
}

impl Site {
    #[cache_result(cache = "pages", manager = self.caches)]
    async fn page(&self, #[cache_key] number: u64) -> String {
        tokio::task::yield_now().await;
        format!("{number:04096}")
    }

    #[cache_invalidate(cache = "pages", manager = self.caches)]
    async fn edit(&self, #[cache_key] number: u64) {
        let _ = number;
    }
}

/// Callers that call as fast as they can.
struct Load {
    callers: JoinSet<()>,
    shared: Arc<(AtomicU64, AtomicBool)>,
}

impl Load {
    fn start(site: &Site) -> Self {
        let (mut callers, shared) = (JoinSet::new(), Arc::<(AtomicU64, AtomicBool)>::default());
        for caller in 0..CALLERS {
            let (site, shared) = (site.clone(), Arc::clone(&shared));
            callers.spawn(async move {
                let (calls, over) = &*shared;
                let mut dice = Rng::with_seed(caller);
                while !over.load(Ordering::Relaxed) {
                    site.page(dice.u64(..KEYS)).await;
                    if dice.u64(..32) == 0 {
                        site.edit(dice.u64(..KEYS)).await;
                    }
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        Self { callers, shared }
    }

    fn calls(&self) -> u64 {
        self.shared.0.load(Ordering::Relaxed)
    }

    async fn stop(self) {
        self.shared.1.store(true, Ordering::Relaxed);
        self.callers.join_all().await;
    }
}
