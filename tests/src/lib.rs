//! Fixtures: a world for every test, in memory or on a Redis server of its own.
//!
//! A behaviour that both stores must show is written once, as an `async fn` without arguments, and named in [`both!`]. The
//! functions under test say `manager = caches()`: that is the manager of the world their test runs in.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

pub mod chaos;
pub mod stress;

use cache_core::{CacheConfig, CacheManager, testing::TestClock};
use cache_redis::{RedisBackend, RedisBackendBuilder, dev::RedisServer};
use redis::{AsyncConnectionConfig, aio::MultiplexedConnection};

mod gate;
mod log;
mod monitor;
mod proxy;

pub use gate::{Gate, results, soon, until, until_busy};
pub use log::Log;
pub use monitor::Monitor;
pub use proxy::{Proxy, Trouble};

tokio::task_local! {
    static WORLD: Arc<World>;
}

/// What one test runs in.
#[derive(Debug)]
pub struct World {
    clock: TestClock,
    redis: Option<Arc<RedisServer>>,
    caches: CacheManager,
    bodies: Bodies,
}

/// How often each function under test has run.
type Bodies = Arc<Mutex<HashMap<&'static str, u64>>>;

impl World {
    /// A world whose caches are in memory.
    #[must_use]
    pub fn memory() -> Self {
        Self::new(None)
    }

    /// A world whose caches are in a Redis server of its own.
    ///
    /// # Panics
    /// If no server can be started; the message names the package that is missing.
    #[must_use]
    pub fn redis() -> Self {
        Self::new(Some(RedisServer::start().unwrap_or_else(|error| {
            panic!("a Redis server is needed: {error}")
        })))
    }

    fn new(redis: Option<RedisServer>) -> Self {
        let clock = TestClock::new();
        let base = redis.as_ref().map_or_else(CacheConfig::memory, |server| {
            CacheConfig::on(backend(&server.url()))
        });
        let caches = CacheManager::builder()
            .clock(&clock)
            .defaults(base)
            .build()
            .expect("the defaults are valid");
        Self {
            clock,
            redis: redis.map(Arc::new),
            caches,
            bodies: Bodies::default(),
        }
    }

    /// Runs a test in this world.
    pub async fn run<T>(self, test: impl Future<Output = T>) -> T {
        WORLD.scope(Arc::new(self), test).await
    }
}

/// What is stored on the server with that address. Patient, so that no test depends on how busy the machine is: an answer that
/// is missed would be a miss.
///
/// # Panics
/// If the address is none.
#[must_use]
pub fn backend(url: &str) -> RedisBackend {
    patient(url)
        .build()
        .expect("the address of the server is valid")
}

/// [`backend`], before it is built.
pub fn patient(url: &str) -> RedisBackendBuilder {
    RedisBackend::builder(url)
        .read_budget(Duration::from_secs(20))
        .store_budget(Duration::from_secs(20))
}

fn world() -> Arc<World> {
    WORLD.get()
}

/// The address of the world's server.
///
/// # Panics
/// In a world without one.
#[must_use]
pub fn redis_url() -> String {
    let world = world();
    let server = world.redis.as_ref();
    server.expect("this world has a Redis server").url()
}

/// A client of the world's server of its own, as another process would have.
///
/// # Panics
/// In a world without one.
#[must_use]
pub fn redis_backend() -> RedisBackend {
    backend(&redis_url())
}

/// The manager of the world: everything is stored where the world says, with the framework's defaults.
#[must_use]
pub fn caches() -> CacheManager {
    world().caches.clone()
}

/// The settings for "stored where the world says", to configure a manager of a test's own.
pub fn stored() -> CacheConfig {
    world()
        .redis
        .as_ref()
        .map_or_else(CacheConfig::memory, |server| {
            CacheConfig::on(backend(&server.url()))
        })
}

/// Runs `test` with a manager of its own in place of the world's: `configure` gets a builder that has the world's clock.
///
/// # Panics
/// If the configuration is refused.
pub async fn with_caches<T>(
    configure: impl FnOnce(cache_core::CacheManagerBuilder) -> cache_core::CacheManagerBuilder,
    test: impl Future<Output = T>,
) -> T {
    let world = world();
    let caches = configure(CacheManager::builder().clock(&world.clock))
        .build()
        .expect("the configuration is valid");
    let inner = World {
        clock: world.clock.clone(),
        redis: world.redis.clone(),
        caches,
        bodies: Arc::clone(&world.bodies),
    };
    WORLD.scope(Arc::new(inner), test).await
}

/// To be called by every function under test: counts one more run of `function`, and says how many there were before.
pub fn body(function: &'static str) -> u64 {
    let world = world();
    let mut bodies = world.bodies.lock().expect("no test panics here");
    let runs = bodies.entry(function).or_default();
    *runs += 1;
    *runs - 1
}

/// How often `function` has run in this world.
#[must_use]
pub fn bodies(function: &'static str) -> u64 {
    world()
        .bodies
        .lock()
        .expect("no test panics here")
        .get(function)
        .copied()
        .unwrap_or(0)
}

/// A task in the same world.
pub fn spawn<F>(work: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    tokio::spawn(WORLD.scope(world(), work))
}

/// Waits until what goes on in the background is done, then moves the time of the caches and of the server.
pub async fn advance(by: Duration) {
    caches().settle().await;
    world().clock.advance(by);
    if world().redis.is_some() {
        advance_redis(&mut redis().await, by).await;
    }
}

/// Takes that much off the life of every key of a server.
///
/// # Panics
/// If the server does not answer.
pub async fn advance_redis(connection: &mut MultiplexedConnection, by: Duration) {
    let by = i64::try_from(by.as_millis()).expect("a test moves time by less than an age");
    redis::Script::new(
        "for _, k in ipairs(redis.call('KEYS', '*')) do
           local left = redis.call('PTTL', k)
           if left >= 0 then redis.call('PEXPIRE', k, left - ARGV[1]) end
         end",
    )
    .arg(by)
    .invoke_async::<()>(connection)
    .await
    .expect("the server answers");
}

/// A connection of the test's own to the world's server.
///
/// # Panics
/// In a world without one, and if the server does not answer.
pub async fn redis() -> MultiplexedConnection {
    connect(&redis_url()).await
}

/// A connection to the server with that address. It is patient: no test depends on how busy the machine is.
///
/// # Panics
/// If the address is none, and if the server does not answer.
pub async fn connect(url: &str) -> MultiplexedConnection {
    let patience = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(60)));
    redis::Client::open(url)
        .expect("the address of the server is valid")
        .get_multiplexed_async_connection_with_config(&patience)
        .await
        .expect("the server answers")
}

/// Whether the world's caches are on a Redis server.
#[must_use]
pub fn on_redis() -> bool {
    world().redis.is_some()
}

/// The value keys in the world's server, in order, once the background is quiet.
///
/// # Panics
/// As [`redis()`].
pub async fn value_keys() -> Vec<String> {
    keys_like("cache:*").await
}

/// The keys in the world's server that match a pattern, in order, once the background is quiet.
///
/// # Panics
/// As [`redis()`].
pub async fn keys_like(pattern: &str) -> Vec<String> {
    caches().settle().await;
    keys_at(&mut redis().await, pattern).await
}

/// The keys that match a pattern in the database of that connection, in order.
///
/// # Panics
/// If the server does not answer.
pub async fn keys_at(connection: &mut MultiplexedConnection, pattern: &str) -> Vec<String> {
    let mut keys: Vec<String> = redis::cmd("KEYS")
        .arg(pattern)
        .query_async(connection)
        .await
        .expect("the server answers");
    keys.sort_unstable();
    keys
}

/// Asserts which entries there are, where that can be seen: in Redis.
///
/// # Panics
/// If there are others.
pub async fn assert_value_keys(expected: &[&str]) {
    if on_redis() {
        assert_eq!(value_keys().await, expected);
    }
}

/// Asserts that an error or a line of a log names all of these.
///
/// # Panics
/// If it does not.
#[track_caller]
pub fn assert_says(sentence: &str, parts: &[&str]) {
    for part in parts {
        assert!(sentence.contains(part), "no `{part}` in: {sentence}");
    }
}

/// Makes each named behaviour two tests, one in memory and one on Redis.
#[macro_export]
macro_rules! both {
    ($($name:ident),+ $(,)?) => {
        mod memory {
            $(#[tokio::test] async fn $name() { $crate::World::memory().run(super::$name()).await })+
        }
        mod redis {
            $(#[tokio::test] async fn $name() { $crate::World::redis().run(super::$name()).await })+
        }
    };
}
