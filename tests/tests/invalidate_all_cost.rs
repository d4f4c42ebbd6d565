//! What it costs to clear a cache, and what it leaves alone.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use cache_core::{Cache, CacheConfig, CacheManager};
use cache_redis::dev::RedisServer;
use redis::aio::MultiplexedConnection;

const FOREIGN: u64 = 500_000;
/// The entries that are stored one by one and read again.
const READ_AGAIN: u64 = 500;
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with foreign keys and a cache, whose own user cannot walk through keys until it is allowed to.
struct Setting {
    _server: RedisServer,
    connection: MultiplexedConnection,
    cache: Cache<String>,
}

impl Setting {
    async fn new() -> Self {
        let server = RedisServer::start().expect("a Redis server is needed");
        let connection = tests::connect(&server.url()).await;
        let redis = tests::backend(&format!(
            "redis://caches:secret@127.0.0.1:{}",
            server.port()
        ));
        let cache = CacheManager::builder()
            .defaults(CacheConfig::on(redis).ttl(Duration::from_secs(3600)))
            .build()
            .and_then(|caches| caches.cache("catalog"))
            .expect("the configuration is valid");
        let mut setting = Self {
            _server: server,
            connection,
            cache,
        };
        setting
            .command("ACL SETUSER caches on >secret ~* &* +@all")
            .await;
        setting.fill_foreign().await;
        setting
    }

    async fn command(&mut self, words: &str) -> redis::Value {
        let mut words = words.split(' ');
        let mut command = redis::cmd(words.next().expect("a command"));
        for word in words {
            command.arg(word);
        }
        command
            .query_async(&mut self.connection)
            .await
            .expect("the server answers")
    }

    async fn script<T: redis::FromRedisValue>(&mut self, code: &str, numbers: [u64; 2]) -> T {
        redis::Script::new(code)
            .arg(&numbers[..])
            .invoke_async(&mut self.connection)
            .await
            .expect("the server answers")
    }

    /// Half of them under names that could be taken for ours.
    async fn fill_foreign(&mut self) {
        let fill = "for i = ARGV[1], ARGV[2] do
              redis.call('SET', (i % 2 == 0 and 'session:' or 'cache:catalogue:') .. i, i)
            end";
        for first in (1..FOREIGN).step_by(50_000) {
            self.script::<()>(fill, [first, first + 49_999]).await;
        }
    }

    async fn intact_foreign(&mut self) -> u64 {
        let count = "local intact = 0
            for i = ARGV[1], ARGV[2] do
              local name = (i % 2 == 0 and 'session:' or 'cache:catalogue:') .. i
              if redis.call('GET', name) == tostring(i) then intact = intact + 1 end
            end
            return intact";
        let mut intact = 0;
        for first in (1..FOREIGN).step_by(50_000) {
            intact += self.script::<u64>(count, [first, first + 49_999]).await;
        }
        intact
    }

    /// Stores entries through the cache, and multiplies the first one on the server: the others need only be what is
    /// to be cleared, the same bytes under names of their own.
    async fn fill(&mut self, entries: u64) {
        let by_hand = entries.min(READ_AGAIN);
        for key in 0..by_hand {
            self.cache
                .insert(&key, "old".to_owned())
                .await
                .expect("the server answers");
        }
        let multiply = "local bytes = redis.call('GET', 'cache:catalog:0')
            for i = ARGV[1], ARGV[2] do redis.call('SET', 'cache:catalog:' .. i, bytes, 'PX', 3600000) end";
        for first in (by_hand..entries).step_by(50_000) {
            let last = (first + 49_999).min(entries - 1);
            self.script::<()>(multiply, [first, last]).await;
        }
        assert_eq!(self.keys_of_the_cache().await, entries);
    }

    /// All keys of the server, but for the foreign ones and the bookkeeping.
    async fn keys_of_the_cache(&mut self) -> u64 {
        let tokens: Vec<String> = redis::cmd("KEYS")
            .arg("cs:*")
            .query_async(&mut self.connection)
            .await
            .expect("the server answers");
        self.keys().await - FOREIGN - tokens.len() as u64
    }

    async fn keys(&mut self) -> u64 {
        redis::cmd("DBSIZE")
            .query_async(&mut self.connection)
            .await
            .expect("the server answers")
    }

    /// A number that the server keeps of each of its commands since these were reset; commands within scripts included.
    async fn command_statistics(&mut self, number: &str) -> BTreeMap<String, u64> {
        let statistics: String = redis::cmd("INFO")
            .arg("commandstats")
            .query_async(&mut self.connection)
            .await
            .expect("the server answers");
        let of_line = |line: &str| {
            let (command, numbers) = line.strip_prefix("cmdstat_")?.split_once(':')?;
            let value = numbers
                .split(',')
                .filter_map(|pair| pair.split_once('='))
                .find(|(name, _)| *name == number)?
                .1;
            // But for this test's own commands.
            (!command.starts_with("info") && !command.starts_with("config"))
                .then(|| (command.to_owned(), value.trim().parse().expect("a number")))
        };
        let all = statistics.lines().filter_map(of_line);
        all.filter(|(_, value)| *value > 0).collect()
    }

    /// Clears the cache while its user may not walk through keys, and says what was carried out.
    async fn clear_without_a_walk(&mut self) -> (BTreeMap<String, u64>, Duration) {
        self.command("ACL SETUSER caches -scan -keys -dbsize -randomkey")
            .await;
        self.command("CONFIG RESETSTAT").await;
        let began = Instant::now();
        self.cache
            .invalidate_all()
            .await
            .expect("no walk is needed to clear a cache");
        let took = began.elapsed();
        let carried_out = self.command_statistics("calls").await;
        // The sweep in the background has to have been refused before it may.
        while !self
            .command_statistics("rejected_calls")
            .await
            .contains_key("scan")
        {
            assert!(began.elapsed() < PATIENCE, "no sweep has begun");
        }
        self.command("ACL SETUSER caches +@all").await;
        (carried_out, took)
    }

    async fn assert_nothing_old(&self, up_to: u64) {
        for key in 0..up_to {
            assert_eq!(self.cache.get(&key).await, None, "entry {key}");
        }
    }
}

#[tokio::test]
async fn in_redis_it_costs_the_same_for_any_number_of_entries() {
    let mut setting = Setting::new().await;

    setting.fill(10).await;
    let (few, few_took) = setting.clear_without_a_walk().await;
    setting.assert_nothing_old(10).await;

    // What was left behind is still there: nothing could remove it. It does not come back to life.
    setting.fill(200_000).await;
    let (many, many_took) = setting.clear_without_a_walk().await;
    println!("10 entries: {few:?}, {few_took:?}; 200 000 entries: {many:?}, {many_took:?}");
    assert_eq!(few, many);
    assert_eq!(many.values().sum::<u64>(), 1, "one command: {many:?}");
    setting.assert_nothing_old(READ_AGAIN).await;
    assert_eq!(setting.keys_of_the_cache().await, 200_000);

    // Now that a walk is possible, the next clear gives the memory of all of them back. New values, stored before it, while
    // it goes on and after it, are served all the time; old ones never.
    setting
        .cache
        .invalidate_all()
        .await
        .expect("the server answers");
    let began = Instant::now();
    let mut key = 0;
    // A stamp for every entry, and the epoch.
    let left = FOREIGN + 2 * READ_AGAIN + 1;
    while setting.keys().await > left || key < READ_AGAIN {
        assert!(began.elapsed() < PATIENCE, "the memory is not given back");
        // The sweep is to have its share of the processor.
        tokio::time::sleep(Duration::from_millis(5)).await;
        for _ in 0..20 {
            let asked = key % READ_AGAIN;
            let value = setting
                .cache
                .get_or_load(&asked, async { "new".to_owned() })
                .await;
            assert_eq!(value, "new", "entry {asked}");
            key += 1;
        }
    }
    println!("swept in {:?}, {key} reads meanwhile", began.elapsed());
    for key in 0..READ_AGAIN {
        assert_eq!(setting.cache.get(&key).await.as_deref(), Some("new"));
    }
    assert_eq!(setting.keys_of_the_cache().await, READ_AGAIN);
    assert_eq!(setting.intact_foreign().await, FOREIGN);
}

#[tokio::test]
async fn in_memory_nothing_old_is_served() {
    let cache: Cache<u64> = CacheManager::builder()
        .defaults(CacheConfig::memory().max_capacity(1_000_000))
        .build()
        .and_then(|caches| caches.cache("catalog"))
        .expect("the configuration is valid");
    let mut took = Vec::new();
    for entries in [10, 200_000] {
        for key in 0..entries {
            cache.insert(&key, 1).await.expect("memory has no errors");
        }
        assert_eq!(cache.stats().entries, entries);
        let began = Instant::now();
        cache.invalidate_all().await.expect("memory has no errors");
        took.push(began.elapsed());
        for key in 0..entries {
            assert_eq!(cache.get(&key).await, None, "entry {key}");
        }
        assert_eq!(cache.stats().entries, 0, "the memory is given back");
        assert_eq!(cache.get_or_load(&0, async { 2 }).await, 2);
        cache.invalidate_all().await.expect("memory has no errors");
    }
    println!("10 entries: {:?}; 200 000 entries: {:?}", took[0], took[1]);
}
