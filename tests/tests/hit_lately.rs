//! Entries that were hit lately are answered from a small table in front of the store. Nothing that has ended is answered from
//! there, and nothing is kept alive by it.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use cache_core::{
    Cache, CacheConfig, CacheManager,
    testing::{TestClock, manager},
};

/// A value that is counted while it lives.
struct Counted {
    version: u64,
    living: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.living.fetch_sub(1, Ordering::SeqCst);
    }
}

struct World {
    cache: Cache<Arc<Counted>>,
    clock: TestClock,
    living: Arc<AtomicUsize>,
}

impl World {
    fn new() -> Self {
        let (manager, clock) = manager();
        Self::of(&manager, clock)
    }

    fn of(manager: &CacheManager, clock: TestClock) -> Self {
        Self {
            cache: manager.cache("c").unwrap(),
            clock,
            living: Arc::default(),
        }
    }

    fn value(&self, version: u64) -> Arc<Counted> {
        self.living.fetch_add(1, Ordering::SeqCst);
        Arc::new(Counted {
            version,
            living: Arc::clone(&self.living),
        })
    }

    async fn get(&self, key: u64) -> Option<u64> {
        self.cache.get(&key).await.map(|value| value.version)
    }

    /// Stores a value, and reads it often enough that it is answered in front.
    async fn hit_often(&self, key: u64, version: u64) {
        self.cache.insert(&key, self.value(version)).await.unwrap();
        for _ in 0..100 {
            assert_eq!(self.get(key).await, Some(version));
        }
    }

    /// Waits until so many values live. The store gives back memory some steps after it has given up an entry, and later
    /// while other threads look into it; what is kept for good is never given back.
    fn until_living(&self, expected: usize) {
        let given_up = Instant::now() + Duration::from_secs(30);
        loop {
            let _ = self.cache.stats();
            let living = self.living.load(Ordering::SeqCst);
            if living == expected {
                return;
            }
            assert!(Instant::now() < given_up, "{living} live, not {expected}");
            std::thread::yield_now();
        }
    }
}

#[tokio::test]
async fn an_invalidated_entry_is_not_answered_and_not_kept() {
    let world = World::new();
    world.hit_often(7, 1).await;
    assert!(world.cache.invalidate(&7).await.unwrap());
    assert_eq!(world.get(7).await, None);
    world.until_living(0);
}

#[tokio::test]
async fn a_cleared_cache_answers_nothing_and_keeps_nothing() {
    let world = World::new();
    for key in 0..2_000 {
        world.hit_often(key, 1).await;
    }
    world.cache.invalidate_all().await.unwrap();
    for key in 0..2_000 {
        assert_eq!(world.get(key).await, None);
    }
    world.until_living(0);
}

#[tokio::test]
async fn entries_ended_by_a_predicate_are_not_answered() {
    let world = World::new();
    world.hit_often(7, 1).await;
    world.hit_often(8, 1).await;
    let ended = world.cache.invalidate_if(|key| key == "7").await.unwrap();
    assert_eq!(ended, 1);
    assert_eq!((world.get(7).await, world.get(8).await), (None, Some(1)));
    world.until_living(1);
}

#[tokio::test]
async fn a_superseded_value_is_not_answered_and_not_kept() {
    let world = World::new();
    world.hit_often(7, 1).await;
    for version in 2..100 {
        world.hit_often(7, version).await;
    }
    world.until_living(1);
}

#[tokio::test]
async fn an_expired_entry_is_not_answered_to_the_millisecond() {
    let world = World::new();
    let ttl = Duration::from_secs(60);
    let stored = world.cache.insert_with_ttl(&7, world.value(1), ttl);
    stored.await.unwrap();
    for _ in 0..100 {
        assert_eq!(world.get(7).await, Some(1));
    }
    world.clock.advance(ttl - Duration::from_secs(20));
    assert_eq!(world.get(7).await, Some(1));
    world.clock.advance(Duration::from_secs(20));
    assert_eq!(world.get(7).await, None);
}

/// The walk of `invalidate_if` shows what the store has.
#[tokio::test]
async fn what_the_store_has_given_up_is_not_answered_and_not_kept() {
    let clock = TestClock::new();
    let caches = CacheManager::builder()
        .clock(&clock)
        .defaults(CacheConfig::memory().max_capacity(64))
        .build()
        .unwrap();
    let world = World::of(&caches, clock);
    for round in 0..20 {
        for key in 0..400 {
            let key = (key * 7 + round) % 400;
            if world.get(key).await.is_none() {
                world.cache.insert(&key, world.value(1)).await.unwrap();
            }
            for _ in 0..=(key % 5) {
                world.get(key).await;
            }
        }
    }
    world.until_living(64);
    let stored = Mutex::new(HashSet::new());
    let see = |key: &str| {
        stored.lock().unwrap().insert(key.to_owned());
        false
    };
    assert_eq!(world.cache.invalidate_if(see).await.unwrap(), 0);
    let stored = stored.into_inner().unwrap();
    assert!(world.cache.stats().evictions > 1_000);
    assert_eq!(stored.len(), 64);
    for key in 0..400 {
        let answered = world.get(key).await.is_some();
        assert_eq!(answered, stored.contains(&key.to_string()), "key {key}");
    }
}

/// Values have no place here that a reader could still see when the invalidation has returned, whatever meets whatever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_and_writers_at_once_never_see_what_has_ended() {
    let (manager, _clock) = manager();
    let cache: Cache<u64> = manager.cache("c").unwrap();
    // For each key the version that the last write to return has put in force.
    let acknowledged: Arc<Vec<AtomicUsize>> =
        Arc::new((0..8).map(|_| AtomicUsize::new(0)).collect());
    let writers = (0..8_usize).map(|key| {
        let (cache, acknowledged) = (cache.clone(), Arc::clone(&acknowledged));
        tokio::spawn(async move {
            for version in 1..2_000 {
                if version % 3 == 0 {
                    cache.invalidate(&key).await.unwrap();
                }
                cache.insert(&key, version as u64).await.unwrap();
                acknowledged[key].store(version, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        })
    });
    let readers = (0..8_usize).map(|key| {
        let (cache, acknowledged) = (cache.clone(), Arc::clone(&acknowledged));
        tokio::spawn(async move {
            while acknowledged[key].load(Ordering::SeqCst) < 1_999 {
                for _ in 0..50 {
                    let least = acknowledged[key].load(Ordering::SeqCst);
                    if let Some(version) = cache.get(&key).await {
                        assert!(version >= least as u64, "{version} after {least}");
                    }
                }
                tokio::task::yield_now().await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let readers: Vec<_> = readers.collect();
    for task in writers.into_iter().chain(readers) {
        task.await.unwrap();
    }
}
