//! Instructions and allocations of one hit through Redis, beside the same look-up by hand and beside what they were when
//! `costs.txt` was written. One caller, on a runtime of one thread: so they are nearly the same in every run, whatever else the
//! machine does. What the server does is not among them. Needs valgrind.
//!
//! `cargo bench -p cache-redis --bench costs` prints them; with `-- --write` it writes them down, and so does whoever makes
//! a hit dearer or cheaper on purpose.

#[path = "../hits/values.rs"]
mod values;

use std::{
    fs,
    path::Path,
    process::{Command, exit},
    sync::Arc,
    time::Duration,
};

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
    let args: Vec<String> = std::env::args().collect();
    if let [_, run, path, url, calls] = &args[..]
        && run == "--run"
    {
        let path: usize = path.parse().expect("the number of a path");
        return PATHS[path].1(url, calls.parse().expect("a number of calls"));
    }
    let server = RedisServer::start().expect("a Redis server is needed");
    if !args.iter().any(|arg| arg == "--bench") {
        // As a test: that it works.
        return PATHS.iter().for_each(|(_, hits)| hits(&server.url(), 3));
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/costs/costs.txt");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let mut table = String::new();
    println!("instructions    before allocations  per hit");
    for (path, (name, hits)) in PATHS.iter().enumerate() {
        let (few, many) = (1_000, 5_000);
        let instructions = |calls| instructions(path, &server.url(), calls);
        let instructions = (instructions(many) - instructions(few)) / (many - few);
        let allocations = |calls| allocations(*hits, &server.url(), calls);
        let allocations = (allocations(many) - allocations(few)) / (many - few);
        let known = before
            .lines()
            .find_map(|line| line.strip_suffix(name)?.split_whitespace().next());
        let known = known.unwrap_or("-");
        println!("{instructions:>12} {known:>9} {allocations:>11}  {name}");
        table += &format!("{instructions:>12} {allocations:>11}  {name}\n");
    }
    if args.iter().any(|arg| arg == "--write") {
        fs::write(&file, table).expect("the directory of the benchmarks can be written to");
    }
}

/// All of a process that does this many calls.
fn instructions(path: usize, url: &str, calls: u64) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe().expect("its own name"))
        .args(["--run", &path.to_string(), url, &calls.to_string()])
        .output();
    let Ok(output) = output else {
        eprintln!("install valgrind (the package of that name)");
        exit(1);
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.unwrap_or_else(|| panic!("valgrind counted nothing:\n{said}"))
}

/// The same for allocations.
fn allocations(hits: Hits, url: &str, calls: u64) -> u64 {
    allocation_counter::measure(|| hits(url, calls)).count_total
}
