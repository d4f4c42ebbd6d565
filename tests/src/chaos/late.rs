//! Replies that come when nobody waits for them any more.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use cache_core::{
    Bytes, Cache, CacheBackend, CacheConfig, CacheManager,
    backend::{CacheId, FenceScope, NewEntry},
};
use cache_redis::RedisBackend;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::Station;
use crate::{Trouble, stress::Rng};

const KEYS: u64 = 512;
const CALLERS: u64 = 128;

/// What was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Late {
    /// Calls that were dropped before their answer.
    pub cancelled: u64,
    /// Calls that got an answer with a value.
    pub answered: u64,
    /// Answers that belong to another call.
    pub foreign: u64,
    /// Entries whose trailer said that they belong to another key: also answers to another call, seen by the cache.
    pub refused: u64,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cancelled,
            answered,
            foreign,
            refused,
        } = self;
        write!(
            f,
            "{foreign} foreign of {answered} answers, {refused} refused, {cancelled} calls cancelled"
        )
    }
}

/// Drops at least so many calls at random moments, while replies are delayed at random.
///
/// # Panics
/// If there is no Redis server.
pub async fn late(cancelled: u64, seed: u64) -> Late {
    let station = Station::open(1).await;
    let redis = crate::backend(&station.urls()[0]);
    let caches = CacheManager::builder()
        .cache("late", CacheConfig::on(redis.clone()).no_ttl())
        .build()
        .expect("the configuration is valid");
    let cache = caches.cache("late").expect("the only type there is");
    for key in 0..KEYS {
        fill(&redis, &cache, key).await;
    }

    let (mut dice, counted) = (Rng::with_seed(seed), Arc::<Counted>::default());
    let mut callers = JoinSet::new();
    for _ in 0..CALLERS {
        let caller = Caller {
            redis: redis.clone(),
            cache: cache.clone(),
            dice: dice.fork(),
            counted: Arc::clone(&counted),
        };
        callers.spawn(caller.run());
    }
    while counted.cancelled.load(Ordering::Relaxed) < cancelled {
        let mut delay = || Duration::from_micros(dice.u64(..3000));
        let trouble = match (delay(), delay()) {
            (hold, _) if hold < Duration::from_micros(300) => Trouble::Hold,
            (there, back) => Trouble::Delay { there, back },
        };
        station.trouble(None, trouble);
        sleep(Duration::from_millis(10)).await;
    }
    counted.over.store(true, Ordering::Relaxed);
    station.trouble(None, Trouble::None);
    callers.join_all().await;
    station.close().await;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    Late {
        cancelled: count(&counted.cancelled),
        answered: count(&counted.answered),
        foreign: count(&counted.foreign),
        refused: cache.stats().decode_failures,
    }
}

#[derive(Default)]
struct Counted {
    cancelled: AtomicU64,
    answered: AtomicU64,
    foreign: AtomicU64,
    over: AtomicBool,
}

/// A value that no other key has, nor of the same length as its neighbours.
fn value(key: u64) -> String {
    format!("{key},").repeat(1 + usize::try_from(key * 7 % 60).unwrap_or(0))
}

fn raw() -> CacheId {
    CacheId::new("raw", "cache:raw")
}

async fn fill(redis: &RedisBackend, cache: &Cache<String>, key: u64) {
    let (id, text) = (raw(), key.to_string());
    let entry = id.entry(&text);
    // On a busy machine even a connection takes more than the read budget.
    let fence = loop {
        match redis.load(entry).await {
            Ok(loaded) => break loaded.fence,
            Err(_) => sleep(Duration::from_millis(50)).await,
        }
    };
    let new = NewEntry {
        bytes: Bytes::from(value(key)),
        ttl: None,
        fence: fence.expect("tokens are created"),
        scope: FenceScope::Entry,
    };
    let stored = redis.store(entry, new).await.expect("nothing is wrong yet");
    assert!(stored, "nobody invalidates");
    while cache.insert(&key, value(key)).await.is_err() {
        sleep(Duration::from_millis(50)).await;
    }
}

struct Caller {
    redis: RedisBackend,
    cache: Cache<String>,
    dice: Rng,
    counted: Arc<Counted>,
}

impl Caller {
    async fn run(mut self) {
        while !self.counted.over.load(Ordering::Relaxed) {
            let key = self.dice.u64(..KEYS);
            let patience = Duration::from_millis(self.dice.u64(..16));
            // Half of the answers are looked at as they come: there is nothing that would notice a wrong one before.
            let answer = if self.dice.bool() {
                timeout(patience, self.as_it_comes(key)).await
            } else {
                timeout(patience, self.cache.get(&key)).await
            };
            match answer {
                Err(_) => self.counted.cancelled.fetch_add(1, Ordering::Relaxed),
                Ok(None) => continue,
                Ok(Some(answer)) => {
                    let foreign = u64::from(answer != value(key));
                    self.counted.foreign.fetch_add(foreign, Ordering::Relaxed);
                    self.counted.answered.fetch_add(1, Ordering::Relaxed)
                }
            };
        }
    }

    async fn as_it_comes(&self, key: u64) -> Option<String> {
        let loaded = self.redis.load(raw().entry(&key.to_string())).await.ok()?;
        Some(String::from_utf8_lossy(&loaded.bytes?).into_owned())
    }
}
