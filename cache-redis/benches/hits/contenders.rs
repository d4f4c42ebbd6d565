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

/// `GET` on a shared connection of the client library, then the codec.
pub(crate) struct Raw<V>(MultiplexedConnection, PhantomData<V>);

/// The same with `MGET` of the value and two tokens, which is what a hit asks a server for. How it differs from `GET` is the price
/// of knowing whether the value is still true.
pub(crate) struct WithTokens<V>(Raw<V>);

const TOKENS: [&str; 2] = ["by-hand:stamp", "by-hand:epoch"];

impl<V: Value> Raw<V> {
    pub(crate) async fn open(server: &RedisServer) -> Self {
        let client = redis::Client::open(server.url()).expect("the address is valid");
        let mut connection = client
            .get_multiplexed_async_connection()
            .await
            .expect("the server answers");
        for key in 0..V::KEYS {
            redis::cmd("SET")
                .arg(raw_key::<V>(key))
                .arg(encode(&V::new(key)))
                .exec_async(&mut connection)
                .await
                .expect("the server answers");
        }
        Self(connection, PhantomData)
    }
}

fn raw_key<V: Value>(key: u64) -> String {
    format!("by-hand:{}:{key}", V::NAME)
}

impl<V: Value> Contender for Raw<V> {
    fn calls(&self, seed: u64, mut watch: Watch) -> JoinHandle<Vec<u32>> {
        let mut connection = self.0.clone();
        tokio::spawn(async move {
            let mut dice = fastrand::Rng::with_seed(seed);
            while watch.goes_on() {
                let key = dice.u64(..V::KEYS);
                let bytes: Vec<u8> = redis::cmd("GET")
                    .arg(raw_key::<V>(key))
                    .query_async(&mut connection)
                    .await
                    .expect("the server answers");
                let value: Arc<V> = decode(&bytes);
                assert!(value.is_of(key));
            }
            watch.times()
        })
    }
}

impl<V: Value> WithTokens<V> {
    pub(crate) async fn open(server: &RedisServer) -> Self {
        let raw = Raw::open(server).await;
        let mut connection = raw.0.clone();
        for token in TOKENS {
            redis::cmd("SET")
                .arg(token)
                .arg([7_u8; Token::LEN].as_slice())
                .exec_async(&mut connection)
                .await
                .expect("the server answers");
        }
        Self(raw)
    }
}

impl<V: Value> Contender for WithTokens<V> {
    fn calls(&self, seed: u64, mut watch: Watch) -> JoinHandle<Vec<u32>> {
        let mut connection = self.0.0.clone();
        tokio::spawn(async move {
            let mut dice = fastrand::Rng::with_seed(seed);
            while watch.goes_on() {
                let key = dice.u64(..V::KEYS);
                let (bytes, _, _): (Vec<u8>, Vec<u8>, Vec<u8>) = redis::cmd("MGET")
                    .arg(raw_key::<V>(key))
                    .arg(TOKENS.as_slice())
                    .query_async(&mut connection)
                    .await
                    .expect("the server answers");
                let value: Arc<V> = decode(&bytes);
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
