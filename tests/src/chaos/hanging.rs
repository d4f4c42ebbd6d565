//! What calls cost while Redis does not answer, and how soon it is used again.

use std::{
    future::pending,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use cache_core::{Cache, CacheConfig, CacheManager};
use cache_redis::RedisBackend;
use tokio::{task::JoinSet, time::timeout};

use super::{Station, Times};
use crate::{Proxy, Trouble};

/// The default of `RedisBackend`.
pub const READ_BUDGET: Duration = Duration::from_millis(100);
/// How many call at the same time.
const CALLERS: u64 = 16;

/// Three seconds for a request and its reply.
const SLOW: Trouble = Trouble::Delay {
    there: Duration::from_millis(1500),
    back: Duration::from_millis(1500),
};

/// A way not to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// SIGSTOP.
    Stopped,
    /// [`Trouble::Blackhole`].
    Blackholed,
    /// [`Trouble::HalfOpen`]: what was connected is silent.
    HalfOpen,
    /// [`Trouble::Delay`] of three seconds: all answers come, and all too late.
    Slow,
    /// `kill -9`, until it is started again.
    Down,
}

impl Silence {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Stopped,
        Self::Blackholed,
        Self::HalfOpen,
        Self::Slow,
        Self::Down,
    ];

    fn begin(self, station: &mut Station) {
        match self {
            Self::Stopped => station.server().pause().expect("the server runs"),
            Self::Down => station.server().stop(),
            Self::Blackholed => station.trouble(None, Trouble::Blackhole),
            Self::HalfOpen => station.trouble(None, Trouble::HalfOpen),
            Self::Slow => station.trouble(None, SLOW),
        }
    }

    fn end(self, station: &mut Station) {
        match self {
            Self::Stopped => station.server().resume().expect("the server runs"),
            Self::Down => station.restart(),
            Self::Blackholed | Self::HalfOpen | Self::Slow => station.trouble(None, Trouble::None),
        }
    }
}

/// What was measured.
#[derive(Clone, Debug, Default)]
pub struct Hanging {
    /// Calls that ask, with bodies that take no time.
    pub reads: Times,
    /// Calls that invalidate.
    pub invalidations: Times,
    /// Calls that put.
    pub puts: Times,
    /// By how much the machine was late, at most, to wake somebody who had a read budget to wait for.
    pub lateness: Duration,
    /// How long it took until there was a hit again after all was well.
    pub back: Duration,
}

impl Hanging {
    /// What a call may take: the read budget and ten milliseconds. A machine that was late for those who looked at it may have
    /// been twice as late for somebody else.
    #[must_use]
    pub fn allowed(&self) -> Duration {
        READ_BUDGET + Duration::from_millis(10) + 2 * self.lateness
    }
}

/// Has callers call for so long while Redis is silent.
///
/// # Panics
/// If there is no Redis server, and if there is no hit within a minute after all is well.
pub async fn hanging(silence: Silence, time: Duration) -> Hanging {
    let mut station = Station::open(1).await;
    let cache = cache(&station.urls()[0]);
    // On a busy machine even a connection takes more than the read budget.
    while cache.insert(&0, 0).await.is_err() {
        tokio::time::sleep(READ_BUDGET).await;
    }
    let mut station = tokio::task::spawn_blocking(move || {
        silence.begin(&mut station);
        station
    })
    .await
    .expect("it can be silenced");

    let (until, mut callers) = (Instant::now() + time, JoinSet::new());
    for caller in 0..CALLERS {
        callers.spawn(calls(cache.clone(), caller, until));
    }
    for _ in 0..4 {
        callers.spawn(lateness(until));
    }
    let mut all = Hanging::default();
    for part in callers.join_all().await {
        all.reads.add_all(part.reads);
        all.invalidations.add_all(part.invalidations);
        all.puts.add_all(part.puts);
        all.lateness = all.lateness.max(part.lateness);
    }

    let station = tokio::task::spawn_blocking(move || {
        silence.end(&mut station);
        station
    })
    .await
    .expect("it can go on");
    all.back = until_hit(&cache).await;
    station.close().await;
    all
}

fn cache(url: &str) -> Cache<u64> {
    let redis = RedisBackend::open(url).expect("the address is valid");
    let caches = CacheManager::builder()
        .defaults(CacheConfig::on(redis))
        .build()
        .expect("the configuration is valid");
    caches.cache("hanging").expect("the only type there is")
}

async fn calls(cache: Cache<u64>, caller: u64, until: Instant) -> Hanging {
    let mut all = Hanging::default();
    let mut key = caller;
    while Instant::now() < until {
        key += CALLERS;
        let began = Instant::now();
        cache.get_or_load(&key, async { key }).await;
        all.reads.add(began.elapsed());
        // The first ones put, the last ones invalidate, those in between do neither: a key that is owed is read in another way.
        let began = Instant::now();
        if caller < 2 {
            let _ = cache.insert(&key, key).await;
            all.puts.add(began.elapsed());
        } else if caller >= CALLERS - 4 {
            let _ = cache.invalidate(&key).await;
            all.invalidations.add(began.elapsed());
        }
        tokio::task::yield_now().await;
    }
    all
}

async fn lateness(until: Instant) -> Hanging {
    let mut all = Hanging::default();
    while Instant::now() < until {
        let began = Instant::now();
        let _ = timeout(READ_BUDGET, pending::<()>()).await;
        let late = began.elapsed().saturating_sub(READ_BUDGET);
        all.lateness = all.lateness.max(late);
    }
    all
}

async fn until_hit(cache: &Cache<u64>) -> Duration {
    let began = Instant::now();
    loop {
        let ran = AtomicU64::new(0);
        let load = async {
            ran.fetch_add(1, Ordering::Relaxed);
            0
        };
        cache.get_or_load(&u64::MAX, load).await;
        if ran.into_inner() == 0 {
            return began.elapsed();
        }
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "there is no hit any more"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What it takes to build a manager and make its first call where there is that trouble from the beginning, measured so often.
pub async fn starting(trouble: Trouble, times: u32) -> Times {
    // Where the server would be, nobody listens. With a blackhole that is not found out.
    let proxy = Proxy::start(1);
    proxy.set(trouble);
    let mut all = Times::default();
    for _ in 0..times {
        let began = Instant::now();
        let cache = cache(&proxy.url());
        cache.get_or_load(&0, async { 0 }).await;
        all.add(began.elapsed());
    }
    all
}
