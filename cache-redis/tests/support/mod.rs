//! What the tests of this crate share.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::{
    future::Future,
    time::{Duration, Instant},
};

use cache_core::{
    Bytes, CacheBackend,
    backend::{BackendError, CacheId, Fence, NewEntry, Token},
};
use cache_redis::{RedisBackend, dev::RedisServer};
use redis::{FromRedisValue, aio::MultiplexedConnection};

/// A server, a backend for it and a plain connection to look at it from outside.
pub(crate) struct Fixture {
    pub(crate) server: RedisServer,
    pub(crate) backend: RedisBackend,
    pub(crate) outside: MultiplexedConnection,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let server = RedisServer::start().expect("redis-server starts");
        let backend = patient(&server.url());
        let outside = outside(&server.url()).await;
        Self {
            server,
            backend,
            outside,
        }
    }

    /// Sends one command given as words.
    pub(crate) async fn ask<T: FromRedisValue>(&mut self, words: &[&str]) -> T {
        ask(&mut self.outside, words).await
    }

    /// How many keys match the pattern. For tests only: `KEYS` is what the backend must never use.
    pub(crate) async fn keys(&mut self, pattern: &str) -> Vec<String> {
        let mut keys: Vec<String> = self.ask(&["KEYS", pattern]).await;
        keys.sort();
        keys
    }
}

/// A backend that waits long enough for a busy machine.
pub(crate) fn patient(url: &str) -> RedisBackend {
    RedisBackend::builder(url)
        .read_budget(Duration::from_secs(5))
        .store_budget(Duration::from_secs(5))
        .build()
        .expect("the url is good")
}

pub(crate) async fn outside(url: &str) -> MultiplexedConnection {
    let client = redis::Client::open(url).expect("the url is good");
    client
        .get_multiplexed_async_connection()
        .await
        .expect("the server answers")
}

pub(crate) async fn ask<T: FromRedisValue>(
    connection: &mut MultiplexedConnection,
    words: &[&str],
) -> T {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command
        .query_async(connection)
        .await
        .expect("the server carries it out")
}

pub(crate) fn product() -> CacheId {
    CacheId::new("product", "cache:product")
}

/// The bytes of an entry as a cache stores it, as far as this crate looks at them: the epoch in the trailer of 48 bytes.
pub(crate) fn stored_form(value: &str, epoch: Token) -> Bytes {
    let mut bytes = value.as_bytes().to_vec();
    bytes.extend_from_slice(b"storeid.");
    bytes.extend_from_slice(epoch.as_bytes());
    bytes.extend_from_slice(&[b'.'; 32]);
    bytes.into()
}

pub(crate) fn new_entry(value: &str, fence: Fence) -> NewEntry {
    NewEntry {
        bytes: stored_form(value, fence.epoch),
        ttl: Some(Duration::from_secs(60)),
        fence,
    }
}

/// The tokens in force.
pub(crate) async fn fence(backend: &RedisBackend, cache: &CacheId, key: &str) -> Fence {
    backend
        .load(cache.entry(key))
        .await
        .expect("the server answers")
        .fence
        .expect("tokens are created")
}

/// What a cache does after a miss.
pub(crate) async fn fill(backend: &RedisBackend, cache: &CacheId, key: &str) {
    let fence = fence(backend, cache, key).await;
    assert!(
        backend
            .store(cache.entry(key), new_entry(key, fence))
            .await
            .expect("the server answers")
    );
}

/// What a cache would serve: the value without its trailer, if it belongs to the present epoch.
pub(crate) async fn read(backend: &RedisBackend, cache: &CacheId, key: &str) -> Option<String> {
    let loaded = backend
        .load(cache.entry(key))
        .await
        .expect("the server answers");
    let (bytes, fence) = (loaded.bytes?, loaded.fence?);
    let (value, trailer) = bytes.split_at(bytes.len() - 48);
    (trailer[8..16] == *fence.epoch.as_bytes()).then(|| String::from_utf8(value.to_vec()).unwrap())
}

/// Tries again until it holds; for what happens in the background and cannot be waited for.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds().await {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Runs a call that must fail and says how long that took.
pub(crate) async fn failing<T: std::fmt::Debug>(
    call: impl Future<Output = Result<T, BackendError>>,
) -> (BackendError, Duration) {
    let began = Instant::now();
    let error = call.await.expect_err("the call fails");
    (error, began.elapsed())
}
