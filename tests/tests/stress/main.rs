//! Many callers, many writers, everything that can come in between: no stale answer.
//!
//! Every run prints its numbers. `STRESS_SEED=…` repeats the choices of a run.

mod naive;

use std::time::{Duration, Instant};

use cache_core::{CacheBackend, CacheConfig, testing::MapBackend};
use cache_redis::{RedisBackend, dev::RedisServer};
use tests::stress::{
    Annotated, Credulous, Database, InProcess, Keeper, Look, OnServer, Plan, Report, Rng, Row,
    Saboteur, Unfenced, Way, run,
};

const KEYS: u64 = 256;
const TASKS: u64 = 64;

fn plan(seed: u64, calls: u64, ways: &'static [Way], disturbed: bool) -> Plan {
    Plan {
        seed: Plan::seed(seed),
        calls,
        tasks: TASKS,
        keys: KEYS,
        ways,
        disturbed,
        readers: 12,
    }
}

/// A configuration in which all that can happen does: entries expire, and nobody waits long for a body that stands still.
fn hasty(config: CacheConfig) -> CacheConfig {
    config
        .ttl(Duration::from_millis(500))
        .ttl_jitter(0.5)
        .lock_timeout(Duration::from_millis(3))
}

fn redis(server: &RedisServer) -> RedisBackend {
    tests::backend(&server.url())
}

fn server() -> RedisServer {
    RedisServer::start().expect("a Redis server is needed")
}

fn show(what: &str, seed: u64, report: &Report, began: Instant) {
    println!("{what}, seed {seed}, {:.1?}: {report}", began.elapsed());
}

/// What is asked of the framework; and that the run was one.
fn assert_true(report: &Report, seed: u64, calls: u64) {
    assert_eq!(report.stale, 0, "stale answers, STRESS_SEED={seed}");
    assert_eq!(
        report.foreign, 0,
        "answers of another row, STRESS_SEED={seed}"
    );
    assert_eq!(
        report.left_behind, 0,
        "rows left behind, STRESS_SEED={seed}"
    );
    assert_eq!(report.not_acknowledged, 0, "the backend answers");
    assert_eq!(
        (report.failed, report.doubled),
        (0, 0),
        "calls failed or doubled by the cache, STRESS_SEED={seed}"
    );
    assert!(report.calls >= calls - TASKS, "{report}");
    assert!(report.hits > calls / 20, "{report}");
    assert!(report.loads > calls / 20, "{report}");
    assert!(report.invalidations > calls / 20, "{report}");
    assert!(report.cancelled > calls / 100, "{report}");
    assert!(report.panicked > calls / 1000, "{report}");
    assert!(report.stalled > calls / 1000, "{report}");
    assert!(report.failures > calls / 1000, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_memory_nothing_is_stale() {
    let (began, plan) = (Instant::now(), plan(0x5EED, 220_000, Way::ALL, true));
    // A quarter of the rows fits.
    let keeper = Annotated::new(hasty(CacheConfig::memory()).max_capacity(KEYS / 4), KEYS);
    let report = run(plan, &InProcess::new(KEYS), std::slice::from_ref(&keeper)).await;
    show("in memory", plan.seed, &report, began);
    assert_true(&report, plan.seed, plan.calls);
    let stats = keeper.stats();
    assert!(
        stats.evictions > 0 && stats.coalesced > 0 && stats.stores_refused > 0,
        "{stats:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_redis_nothing_is_stale() {
    through_redis("through Redis", 0xCAFE, CacheConfig::on).await;
}

/// The same with copies that Redis confirms, of a quarter of the rows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_copies_nothing_is_stale() {
    let config = |redis| CacheConfig::validated(redis).max_capacity(KEYS / 4);
    through_redis("with copies", 0xC0B1, config).await;
}

/// Two managers with a backend each are to Redis what two processes are.
async fn through_redis(name: &str, seed: u64, config: impl Fn(RedisBackend) -> CacheConfig) {
    let (began, plan) = (Instant::now(), plan(seed, 160_000, Way::ALL, true));
    let server = server();
    let one = Annotated::new(hasty(config(redis(&server))), KEYS);
    let other = one.other(hasty(config(redis(&server))));
    let saboteur = Saboteur::start(&server.url(), Rng::with_seed(plan.seed)).await;
    let report = run(plan, &InProcess::new(KEYS), &[one.clone(), other.clone()]).await;
    saboteur.stop().await;
    show(name, plan.seed, &report, began);
    assert_true(&report, plan.seed, plan.calls);
    for stats in [one.stats(), other.stats()] {
        assert_eq!(stats.backend_errors, 0, "{stats:?}");
        assert!(
            stats.backend_hits > 0 && stats.coalesced > 0 && stats.stores_refused > 0,
            "{stats:?}"
        );
    }
}

/// The oracle sees it if copies are believed that nobody has confirmed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_copies_that_are_not_confirmed_there_are_stale_answers() {
    let (began, plan) = (Instant::now(), plan(0xBAD, 20_000, Way::ONE_ENTRY, false));
    let backend = MapBackend::new();
    let config = || CacheConfig::validated(Credulous(backend.clone()));
    let one = Annotated::new(config(), KEYS);
    let other = one.other(config());
    let report = run(plan, &InProcess::new(KEYS), &[one, other]).await;
    show("with copies, not confirmed", plan.seed, &report, began);
    assert!(report.stale > 0, "{report}");
}

/// A backend without a network: everything is closer together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_a_map_nothing_is_stale() {
    let (began, plan) = (Instant::now(), plan(0xFEED, 50_000, Way::ALL, true));
    let backend = MapBackend::new();
    let one = Annotated::new(hasty(CacheConfig::on(backend.clone())), KEYS);
    let other = one.other(hasty(CacheConfig::on(backend)));
    let report = run(plan, &InProcess::new(KEYS), &[one, other]).await;
    show("through a map", plan.seed, &report, began);
    assert_true(&report, plan.seed, plan.calls);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_processes_nothing_is_stale() {
    let (began, seed) = (Instant::now(), Plan::seed(0xF00D));
    let server = server();
    let saboteur = Saboteur::start(&server.url(), Rng::with_seed(seed)).await;
    let report = processes(&server, seed, 25_000, "fenced").await;
    saboteur.stop().await;
    show("between processes", seed, &report, began);
    assert_true(&report, seed, 50_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_processes_with_copies_nothing_is_stale() {
    let (began, seed) = (Instant::now(), Plan::seed(0xF00D));
    let server = server();
    let saboteur = Saboteur::start(&server.url(), Rng::with_seed(seed)).await;
    let report = processes(&server, seed, 25_000, "validated").await;
    saboteur.stop().await;
    show("between processes, with copies", seed, &report, began);
    assert_true(&report, seed, 50_000);
}

/// The oracle between processes sees what it is to see.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_processes_without_the_fence_there_are_stale_answers() {
    let (began, seed) = (Instant::now(), Plan::seed(0xBAD));
    let report = processes(&server(), seed, 10_000, "unfenced").await;
    show("between processes, no fence", seed, &report, began);
    assert!(report.stale > 0, "{report}");
}

/// Runs two processes on that server to their ends, and reads what they have left behind.
async fn processes(server: &RedisServer, seed: u64, calls: u64, fence: &'static str) -> Report {
    let (program, url) = (env!("CARGO_BIN_EXE_stress_process"), server.url());
    let urls = [url.clone(), url.clone()];
    let mut report = Report::default();
    for part in tests::stress::processes(program, &urls, &url, (seed, calls, KEYS), fence).await {
        report += part;
    }
    // Only now does nobody write: what the processes said about it themselves does not count.
    let database = OnServer::open(&server.url()).await;
    let reader = Annotated::new(CacheConfig::on(redis(server)), KEYS);
    report.left_behind = 0;
    for key in 0..KEYS {
        let truth = Ok(Row {
            key,
            version: database.version(key).await,
        });
        let read = reader.read(key, Look::ByHand, async { truth }).await;
        report.left_behind += u64::from(read != Some(truth));
    }
    report
}

/// Two managers on a backend that takes every value, however old.
async fn without_the_fence(backend: impl CacheBackend + Clone, calls: u64) -> (u64, Report) {
    let plan = plan(0xBAD, calls, Way::ONE_ENTRY, false);
    let one = Annotated::new(CacheConfig::on(Unfenced(backend.clone())), KEYS);
    let other = one.other(CacheConfig::on(Unfenced(backend)));
    (
        plan.seed,
        run(plan, &InProcess::new(KEYS), &[one, other]).await,
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_a_map_without_the_fence_there_are_stale_answers() {
    let began = Instant::now();
    let (seed, report) = without_the_fence(MapBackend::new(), 30_000).await;
    show("through a map, no fence", seed, &report, began);
    assert!(report.stale > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn through_redis_without_the_fence_there_are_stale_answers() {
    let (began, server) = (Instant::now(), server());
    let (seed, report) = without_the_fence(redis(&server), 10_000).await;
    show("through Redis, no fence", seed, &report, began);
    assert!(report.stale > 0, "{report}");
}

/// What one would write without a framework.
async fn naive<K: Keeper>(what: &str, keeper: K, calls: u64) {
    let (began, plan) = (Instant::now(), plan(0xBAD, calls, Way::ONE_ENTRY, false));
    let report = run(plan, &InProcess::new(KEYS), &[keeper]).await;
    show(what, plan.seed, &report, began);
    assert!(report.stale > 0, "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn get_with_and_invalidate_give_stale_answers() {
    naive("moka get_with, invalidate", naive::GetWith::new(), 50_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn get_insert_and_invalidate_give_stale_answers() {
    naive(
        "moka get, insert, invalidate",
        naive::GetInsert::new(),
        50_000,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn get_set_and_del_give_stale_answers() {
    let server = server();
    let keeper = naive::GetSetDel::open(&server.url()).await;
    naive("Redis GET, SET, DEL", keeper, 20_000).await;
}
