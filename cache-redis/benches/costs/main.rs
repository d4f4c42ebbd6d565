//! Instructions and allocations of one hit through Redis, beside the same look-up by hand and beside what they were when
//! `costs.txt` was written. One caller, on a runtime of one thread: so they are nearly the same in every run, whatever else the
//! machine does. What the server does is not among them. Needs valgrind.
//!
//! `cargo bench -p cache-redis --bench costs` prints them; with `-- --write` it writes them down, and so does whoever makes
//! a hit dearer or cheaper on purpose.

#[path = "../../../cache-core/benches/counted/mod.rs"]
mod counted;
#[path = "../hits/values.rs"]
mod values;

use std::{path::Path, sync::Arc, time::Duration};

use cache_core::{Cache, CacheConfig, CacheManager};
use cache_redis::{RedisBackend, dev::RedisServer};
use redis::aio::MultiplexedConnection;

use self::values::{Large, Small, Value, decode, encode};

/// Hits, again and again.
type Hits = fn(url: &str, calls: u64);

const PATHS: [(&str, Hits); 8] = [
    ("200 B: GET and decode by hand", by_hand::<Small>),
    (
        "200 B: MGET with two tokens and decode by hand",
        with_tokens::<Small>,
    ),
    ("200 B: on", on::<Small>),
    ("200 B: validated", validated::<Small>),
    ("8 KB: GET and decode by hand", by_hand::<Large>),
    (
        "8 KB: MGET with two tokens and decode by hand",
        with_tokens::<Large>,
    ),
    ("8 KB: on", on::<Large>),
    ("8 KB: validated", validated::<Large>),
];

fn by_hand<V: Value>(url: &str, calls: u64) {
    run(async {
        let mut connection = connect(url).await;
        let key = format!("by-hand:{}", V::NAME);
        set(&mut connection, &key, &encode(&V::new(7))).await;
        for _ in 0..calls {
            let mut get = redis::cmd("GET");
            let bytes = get.arg(&key).query_async(&mut connection).await;
            let bytes: Vec<u8> = bytes.expect("it is there");
            let value: Arc<V> = decode(&bytes);
            assert!(value.is_of(7));
        }
    });
}

fn with_tokens<V: Value>(url: &str, calls: u64) {
    run(async {
        let mut connection = connect(url).await;
        let keys = ["value", "stamp", "epoch"].map(|key| format!("with-tokens:{}:{key}", V::NAME));
        set(&mut connection, &keys[0], &encode(&V::new(7))).await;
        set(&mut connection, &keys[1], b"a stamp!").await;
        set(&mut connection, &keys[2], b"an epoch").await;
        for _ in 0..calls {
            let mut get = redis::cmd("MGET");
            let found = get.arg(&keys).query_async(&mut connection).await;
            let (bytes, _, _): (Vec<u8>, Vec<u8>, Vec<u8>) = found.expect("they are there");
            let value: Arc<V> = decode(&bytes);
            assert!(value.is_of(7));
        }
    });
}

fn on<V: Value>(url: &str, calls: u64) {
    hits::<V>(url, CacheConfig::on, calls);
}

fn validated<V: Value>(url: &str, calls: u64) {
    hits::<V>(url, CacheConfig::validated, calls);
}

fn hits<V: Value>(url: &str, config: fn(RedisBackend) -> CacheConfig, calls: u64) {
    run(async {
        let redis = RedisBackend::builder(url)
            .read_budget(Duration::from_secs(30))
            .store_budget(Duration::from_secs(30));
        let redis = redis.build().expect("the address is valid");
        let name = format!("costs-{}", V::NAME);
        let manager = CacheManager::builder().cache(&*name, config(redis)).build();
        let manager = manager.expect("valid");
        let cache: Cache<Arc<V>> = manager.cache(&name).expect("valid");
        cache.insert(&7, Arc::new(V::new(7))).await.expect("stored");
        for _ in 0..calls {
            let value = cache.get_or_load(&7, async { panic!("it is a hit") }).await;
            assert!(value.is_of(7));
        }
    });
}

fn run(work: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().expect("a runtime can be had");
    runtime.block_on(work);
}

async fn connect(url: &str) -> MultiplexedConnection {
    let client = redis::Client::open(url).expect("the address is valid");
    let connection = client.get_multiplexed_async_connection().await;
    connection.expect("the server answers")
}

async fn set(connection: &mut MultiplexedConnection, key: &str, bytes: &[u8]) {
    let mut set = redis::cmd("SET");
    set.arg(key).arg(bytes);
    set.exec_async(connection).await.expect("it can be written");
}

fn main() {
    if let Some((path, calls, more)) = counted::run() {
        return PATHS[path].1(&more[0], calls);
    }
    let server = RedisServer::start().expect("a Redis server is needed");
    let url = &*server.url();
    if !std::env::args().any(|arg| arg == "--bench") {
        // As a test: that it works.
        return PATHS.iter().for_each(|(_, hits)| hits(url, 3));
    }
    let paths = PATHS.map(|(name, hits)| (name, move |calls| hits(url, calls)));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/costs/costs.txt");
    counted::print("hit", [1_000, 5_000], &paths, &[url], &file);
}
