//! Who looks up.

use std::{marker::PhantomData, sync::Arc};

use cache_core::{Cache, CacheConfig, CacheManager, backend::Token};
use cache_redis::{RedisBackend, dev::RedisServer};
use redis::aio::MultiplexedConnection;
use tokio::task::JoinHandle;

use crate::{
    round::Watch,
    values::{Value, decode, encode},
};

/// Somebody who looks up.
pub(crate) trait Contender {
    /// A caller: looks up one key after the other as long as the watch goes on, and gives the times.
    fn calls(&self, seed: u64, watch: Watch) -> JoinHandle<Vec<u32>>;
}

/// A look-up on a shared connection of the client library, then the codec.
pub(crate) struct Raw<V> {
    connection: MultiplexedConnection,
    with_tokens: bool,
    value: PhantomData<V>,
}

const TOKENS: [&str; 2] = ["by-hand:stamp", "by-hand:epoch"];

impl<V: Value> Raw<V> {
    /// By `GET`.
    pub(crate) async fn open(server: &RedisServer) -> Self {
        let client = redis::Client::open(server.url()).expect("the address is valid");
        let mut connection = client
            .get_multiplexed_async_connection()
            .await
            .expect("the server answers");
        for key in 0..V::KEYS {
            set(&mut connection, &raw_key::<V>(key), &encode(&V::new(key))).await;
        }
        for token in TOKENS {
            set(&mut connection, token, &[7; Token::LEN]).await;
        }
        Self {
            connection,
            with_tokens: false,
            value: PhantomData,
        }
    }

    /// By `MGET` of the value and two tokens, which is what a hit asks a server for. How it differs from `GET` is the price of
    /// knowing whether the value is still true.
    pub(crate) fn with_tokens(&self) -> Self {
        Self {
            connection: self.connection.clone(),
            with_tokens: true,
            value: PhantomData,
        }
    }
}

async fn set(connection: &mut MultiplexedConnection, key: &str, value: &[u8]) {
    redis::cmd("SET")
        .arg(key)
        .arg(value)
        .exec_async(connection)
        .await
        .expect("the server answers");
}

fn raw_key<V: Value>(key: u64) -> String {
    format!("by-hand:{}:{key}", V::NAME)
}

impl<V: Value> Contender for Raw<V> {
    fn calls(&self, seed: u64, mut watch: Watch) -> JoinHandle<Vec<u32>> {
        let (mut connection, with_tokens) = (self.connection.clone(), self.with_tokens);
        tokio::spawn(async move {
            let mut dice = fastrand::Rng::with_seed(seed);
            while watch.goes_on() {
                let key = dice.u64(..V::KEYS);
                let mut command = redis::cmd(if with_tokens { "MGET" } else { "GET" });
                command.arg(raw_key::<V>(key));
                let bytes = if with_tokens {
                    command.arg(TOKENS.as_slice());
                    let answer = command.query_async(&mut connection).await;
                    answer.map(|(bytes, _, _): (Vec<u8>, Vec<u8>, Vec<u8>)| bytes)
                } else {
                    command.query_async(&mut connection).await
                };
                let value: Arc<V> = decode(&bytes.expect("the server answers"));
                assert!(value.is_of(key));
            }
            watch.times()
        })
    }
}

/// Caches in a Redis server.
pub(crate) struct Caches<V> {
    _manager: CacheManager,
    on: Cache<Arc<V>>,
    validated: Cache<Arc<V>>,
}

/// Which of them.
#[derive(Clone, Copy)]
pub(crate) enum Store {
    On,
    Validated,
}

impl<V: Value> Caches<V> {
    /// Filled, and read once.
    pub(crate) async fn open(redis: RedisBackend, prefix: &str) -> Self {
        let name = |mode| format!("{prefix}{mode}-{}", V::NAME);
        let manager = CacheManager::builder()
            .cache(name("on"), CacheConfig::on(redis.clone()))
            .cache(name("validated"), CacheConfig::validated(redis))
            .build()
            .expect("valid");
        let cache = |mode| manager.cache::<Arc<V>>(&name(mode)).expect("valid");
        let (on, validated) = (cache("on"), cache("validated"));
        for cache in [&on, &validated] {
            for key in 0..V::KEYS {
                let value = Arc::new(V::new(key));
                cache.insert(&key, value).await.expect("stored");
                assert!(cache.get(&key).await.is_some());
            }
        }
        Self {
            _manager: manager,
            on,
            validated,
        }
    }

    pub(crate) fn store(&self, store: Store) -> Hits<V> {
        Hits(match store {
            Store::On => self.on.clone(),
            Store::Validated => self.validated.clone(),
        })
    }
}

/// Hits of a cache.
pub(crate) struct Hits<V>(Cache<Arc<V>>);

impl<V: Value> Contender for Hits<V> {
    fn calls(&self, seed: u64, mut watch: Watch) -> JoinHandle<Vec<u32>> {
        let cache = self.0.clone();
        tokio::spawn(async move {
            let mut dice = fastrand::Rng::with_seed(seed);
            while watch.goes_on() {
                let key = dice.u64(..V::KEYS);
                let load = async { panic!("it is a hit") };
                let value: Arc<V> = cache.get_or_load(&key, load).await;
                assert!(value.is_of(key));
            }
            watch.times()
        })
    }
}

/// Callers of one, while two others read what is large.
pub(crate) struct Beside<C, L>(pub(crate) C, pub(crate) L);

impl<C: Contender, L: Contender> Contender for Beside<C, L> {
    fn calls(&self, seed: u64, watch: Watch) -> JoinHandle<Vec<u32>> {
        if seed >= 2 {
            return self.0.calls(seed, watch);
        }
        let large = self.1.calls(seed, watch);
        tokio::spawn(async move {
            large.await.expect("every call is a hit");
            Vec::new() // it is the others whose times count
        })
    }
}
