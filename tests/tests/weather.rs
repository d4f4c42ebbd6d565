//! Caches on a real Redis that is stopped, halted, not there yet, or that refuses them.

use std::time::{Duration, Instant};

use cache_core::{
    Cache, CacheConfig, CacheManager, backend::BackendHealth, cache_invalidate, cache_result,
};
use cache_redis::{RedisBackend, dev::RedisServer};
use tests::{
    Log, World, backend, bodies, body, caches, connect, patient, results, soon, spawn, with_caches,
};
use tokio::time::sleep;

const BUDGET: Duration = Duration::from_millis(100);
/// Hits are back that long after the server is.
const BACK: Duration = Duration::from_millis(2500);
/// What a busy machine adds: the figures are printed, and asserted with this.
const SLACK: Duration = Duration::from_secs(1);

#[cache_result(cache = "c", manager = caches())]
async fn read(_k: u64) -> u64 {
    body("read")
}

#[cache_invalidate(cache = "c", manager = caches())]
async fn write(_k: u64) {}

/// With the budgets that a program has unless it says otherwise.
fn usual(url: &str) -> CacheConfig {
    CacheConfig::on(RedisBackend::open(url).expect("a valid address"))
}

async fn on(config: CacheConfig, test: impl Future<Output = ()>) {
    let in_memory = World::memory();
    in_memory
        .run(with_caches(|builder| builder.defaults(config), test))
        .await;
}

/// Calls until there is a hit, and says how long that took.
async fn until_hit(k: u64) -> Duration {
    let began = Instant::now();
    soon(async {
        loop {
            let before = bodies("read");
            read(k).await;
            if bodies("read") == before {
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    began.elapsed()
}

#[tokio::test]
async fn case_085_redis_stopped() {
    let mut server = RedisServer::start().expect("a server");
    on(CacheConfig::on(backend(&server.url())), async {
        read(1).await;
        caches().settle().await;
        let log = Log::listen();
        for outage in 1..=3 {
            server.stop();
            let before = bodies("read");
            assert_eq!((read(1).await, read(1).await), (before, before + 1));
            for k in 2..20 {
                read(k).await;
                write(k).await;
            }
            server.restart().expect("it starts again");
            let back = until_hit(1).await;
            println!("hits {back:?} after the restart");
            assert!(back < BACK + SLACK, "{back:?}");
            // At most one for each change of state: it went away and it came back.
            assert!(log.warnings().len() <= 2 * outage, "{log:?}");
        }
        caches().settle().await;
        assert_eq!(caches().stats()["c"].pending_invalidations, 0);
    })
    .await;
}

#[tokio::test]
async fn case_086_a_single_connection_serves_everybody() {
    #[cache_result(cache = "c", manager = caches())]
    async fn slow(_k: u64) -> u64 {
        let run = body("slow");
        sleep(Duration::from_millis(50)).await;
        run
    }

    let server = RedisServer::start().expect("a server");
    let redis = patient(&server.url())
        .connections(1)
        .build()
        .expect("valid");
    on(CacheConfig::on(redis), async {
        let log = Log::listen();
        let same = results((0..100).map(|_| spawn(slow(0))).collect()).await;
        assert_eq!(same, vec![0; 100]);
        let apart = results((1..=100).map(|k| spawn(slow(k))).collect()).await;
        assert_eq!(apart.len(), 100);
        assert_eq!(bodies("slow"), 101);
        caches().settle().await;
        for k in 0..=100 {
            slow(k).await;
        }
        assert_eq!(bodies("slow"), 101, "all of them are stored");
        let stats = caches().stats()["c"];
        assert_eq!((stats.stores, stats.backend_errors), (101, 0));
        assert!(log.warnings().is_empty(), "{log:?}");
    })
    .await;
}

/// The times of some calls, each of which has a body that takes none.
async fn times(calls: u64) -> Vec<Duration> {
    let mut times = Vec::new();
    for k in 1000..1000 + calls {
        let began = Instant::now();
        read(k).await;
        times.push(began.elapsed());
        let began = Instant::now();
        write(k).await;
        times.push(began.elapsed());
    }
    times
}

#[tokio::test]
async fn case_b32_a_halted_server_costs_one_read_budget_until_it_is_given_up() {
    let mut server = RedisServer::start().expect("a server");
    on(usual(&server.url()), async {
        until_hit(1).await;
        server.pause().expect("halted");
        let times = times(100).await;
        let longest = times.iter().max().expect("some");
        let waited = times.iter().filter(|time| **time > BUDGET / 2).count();
        println!(
            "a halted server: the longest of {} calls took {longest:?}, {waited} waited",
            times.len()
        );
        assert!(
            *longest < BUDGET + Duration::from_millis(10) + SLACK,
            "{longest:?}"
        );
        assert!(waited <= 20, "{waited}");
        assert!(!caches().health().is_up());
        server.resume().expect("it goes on");
        let back = until_hit(1).await;
        println!("hits {back:?} after it went on");
        assert!(back < BACK + SLACK, "{back:?}");
        assert!(caches().health().is_up());
        assert_eq!(caches().stats()["c"].pending_invalidations, 0);
    })
    .await;
}

#[tokio::test]
async fn case_b32_a_program_starts_without_its_server() {
    let mut server = RedisServer::start().expect("a server");
    server.stop();
    let began = Instant::now();
    on(usual(&server.url()), async {
        read(1).await;
        let took = began.elapsed();
        println!("without a server: build and first call took {took:?}");
        assert!(took < Duration::from_millis(5) + SLACK, "{took:?}");
        let longest = times(100).await.into_iter().max().expect("some");
        println!("the longest of the next 200 calls took {longest:?}");
        assert!(longest < Duration::from_millis(5) + SLACK, "{longest:?}");
        server.restart().expect("it starts");
        let back = until_hit(1).await;
        println!("hits {back:?} after it was there");
        assert!(back < BACK + SLACK, "{back:?}");
    })
    .await;
}

/// Handles that were passed on one by one lead to one server, which is found to be gone once.
#[tokio::test]
async fn caches_on_one_server_give_it_up_together() {
    let mut server = RedisServer::start().expect("a server");
    let redis = backend(&server.url());
    let mut builder = CacheManager::builder();
    for name in ["one", "two", "three"] {
        builder = builder.cache(name, CacheConfig::on(redis.clone()));
    }
    let caches = builder.build().expect("valid");
    let cache = |name| caches.cache::<u64>(name).expect("a cache");
    server.stop();
    for key in 0..3 {
        cache("one").get(&key).await;
    }
    for name in ["two", "three"] {
        cache(name).get(&1).await;
        assert!(cache(name).invalidate(&1).await.is_err());
        assert_eq!(caches.health().caches[name], BackendHealth::Down);
        assert_eq!(cache(name).stats().backend_errors, 0, "it was not asked");
    }
    server.restart().expect("it starts again");
    let report = caches.shutdown(Duration::from_secs(60)).await;
    assert_eq!(report.pending_invalidations, 0);
}

/// Everything the program logs and shows, with a server that refuses it.
#[tokio::test]
async fn case_b56_no_secret_is_shown() {
    let server = RedisServer::start_with(&["--requirepass", "right"]).expect("a server");
    let url = format!("redis://somebody:s3cret@127.0.0.1:{}", server.port());
    let log = Log::listen();
    let redis = backend(&url);
    let shown = format!("{redis:?}");
    let caches = CacheManager::builder()
        .defaults(CacheConfig::on(redis))
        .build()
        .expect("valid");
    let sessions: Cache<String> = caches.cache("sessions").expect("a cache");
    for _ in 0..5 {
        let load = async { "a-value".to_owned() };
        sessions.get_or_load("t0ken", load).await;
        let error = sessions.invalidate("t0ken").await.expect_err("refused");
        let shown = format!("{error} {error:?}");
        assert!(
            !shown.contains("s3cret") && !shown.contains("t0ken"),
            "{shown}"
        );
    }
    assert_eq!(caches.health().caches["sessions"], BackendHealth::Refused);
    assert_eq!(log.warnings().len(), 1, "{log:?}");
    let everything = format!(
        "{log:?} {shown} {caches:?} {sessions:?} {:?} {}",
        caches.stats(),
        caches.effective()
    );
    for secret in ["s3cret", "somebody", "t0ken", "a-value"] {
        assert!(!everything.contains(secret), "{secret} in {everything}");
    }
}

/// A server without memory left is no outage.
#[tokio::test]
async fn a_full_server_is_read_and_invalidated() {
    let server = RedisServer::start().expect("a server");
    on(CacheConfig::on(backend(&server.url())), async {
        read(1).await;
        read(2).await;
        caches().settle().await;
        let mut outside = connect(&server.url()).await;
        let set = |limit: &str| {
            let mut set = redis::cmd("CONFIG");
            set.arg("SET").arg("maxmemory").arg(limit);
            set
        };
        let () = set("1").query_async(&mut outside).await.expect("set");
        for k in 100..110 {
            read(k).await;
        }
        caches().settle().await;
        let before = bodies("read");
        assert_eq!(read(1).await, 0, "a hit");
        write(2).await;
        assert_eq!(caches().stats()["c"].pending_invalidations, 0);
        assert_eq!(read(2).await, before);
        assert!(caches().health().is_up());
        let () = set("0").query_async(&mut outside).await.expect("set");
        read(2).await;
        caches().settle().await;
        let before = bodies("read");
        read(2).await;
        assert_eq!(bodies("read"), before, "stored again");
    })
    .await;
}
