//! Loads that end without a value: failed, cancelled, panicked. What becomes of those who wait for them.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use cache_core::cache_result;
use tests::{
    Gate, World, assert_value_keys, bodies, body, both, caches, on_redis, results, spawn, until,
    until_busy,
};
use tokio::time::{Instant, timeout};

both!(
    case_064_failure_then_recovery_under_load,
    case_066_a_cancelled_leader_hands_over,
    case_092_an_error_of_the_body_that_looks_like_a_lost_connection,
    case_b49_failures_leave_nothing_behind,
    case_b49_a_panic_reaches_the_leader_alone,
    case_b51_joiners_of_an_error_without_clone_make_their_own_attempts,
    case_b51_functions_with_different_errors_share_values_only,
    case_b52_three_hundred_leaders_in_a_row_are_cancelled,
);

async fn case_064_failure_then_recovery_under_load() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] _k: u8, gate: Gate) -> Result<u64, String> {
        let run = body("f");
        gate.pass().await;
        if run == 0 {
            return Err("not yet".to_owned());
        }
        Ok(run)
    }

    async fn stubborn(gate: Gate) -> Result<u64, String> {
        match f(1, gate.clone()).await {
            Err(_) => f(1, gate).await,
            value => value,
        }
    }

    let gate = Gate::default();
    let calls = (0..30).map(|_| spawn(stubborn(gate.clone()))).collect();
    until_busy("c", &gate, 30).await;
    gate.open();
    assert_eq!(results(calls).await, vec![Ok(1); 30]);
    assert_eq!(bodies("f"), 2);
}

async fn case_066_a_cancelled_leader_hands_over() {
    // So long a wait for the leader would be noticed.
    #[cache_result(cache = "c", lock_timeout = "1h", manager = caches())]
    async fn f(#[cache_key] _k: u8, gate: Gate) -> u64 {
        let run = body("f");
        if run == 0 {
            gate.pass().await;
        }
        body("completed");
        run
    }

    let gate = Gate::default();
    let leader = spawn(f(1, gate.clone()));
    gate.reached_by(1).await;
    let waiters = (0..3).map(|_| spawn(f(1, gate.clone()))).collect();
    until_busy("c", &gate, 4).await;
    leader.abort();
    assert_eq!(results(waiters).await, [1, 1, 1]);
    assert_eq!((bodies("f"), bodies("completed")), (2, 1));
    assert!(leader.await.is_err_and(|error| error.is_cancelled()));
}

async fn case_b52_three_hundred_leaders_in_a_row_are_cancelled() {
    const CANCELLED: usize = 300;
    const PATIENT: usize = 30;

    #[cache_result(cache = "c", lock_timeout = "1h", manager = caches())]
    async fn f(#[cache_key] _k: u8, who: usize, leaders: Leaders, crowd: Crowd, gate: Gate) -> u64 {
        let _visitor = crowd.enter();
        let run = body("f");
        leaders.0.lock().unwrap().push(who);
        gate.pass().await;
        run
    }

    /// Who has led, in order.
    #[derive(Clone, Debug, Default)]
    struct Leaders(Arc<Mutex<Vec<usize>>>);

    let (leaders, crowd, gate) = (Leaders::default(), Crowd::default(), Gate::default());
    let call = |who| spawn(f(1, who, leaders.clone(), crowd.clone(), gate.clone()));
    let mut calls: Vec<_> = (0..CANCELLED + PATIENT)
        .map(|who| Some(call(who)))
        .collect();
    until_busy("c", &gate, CANCELLED + PATIENT).await;
    for nth in 0..CANCELLED {
        until("somebody takes over", || {
            leaders.0.lock().unwrap().len() > nth
        })
        .await;
        let who = leaders.0.lock().unwrap()[nth];
        let leader = calls[who].take().expect("nobody leads twice");
        leader.abort();
        assert!(leader.await.is_err_and(|error| error.is_cancelled()));
    }
    gate.open();
    let patient: Vec<_> = calls.into_iter().flatten().collect();
    let last = u64::try_from(CANCELLED).expect("a small number");
    assert_eq!(results(patient).await, [last; PATIENT]);
    assert_eq!(bodies("f"), last + 1);
    assert_eq!(crowd.most(), 1, "never two loads at a time");
}

#[tokio::test(start_paused = true)]
async fn case_b52_the_time_limit_of_a_joiner_ends_that_joiner_only() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u8) -> u64 {
        let run = body("f");
        tokio::time::sleep(Duration::from_millis(200)).await;
        run
    }

    World::memory()
        .run(async {
            let began = Instant::now();
            let calls: Vec<_> = (0..30).map(|_| spawn(f(1))).collect();
            tokio::task::yield_now().await;
            assert!(timeout(Duration::from_millis(20), f(1)).await.is_err());
            assert_eq!(began.elapsed(), Duration::from_millis(20));
            assert_eq!(results(calls).await, [0; 30]);
            assert_eq!(began.elapsed(), Duration::from_millis(200));
            assert_eq!(bodies("f"), 1);
        })
        .await;
}

async fn case_b49_a_panic_reaches_the_leader_alone() {
    #[cache_result(cache = "c", lock_timeout = "1h", manager = caches())]
    async fn f(#[cache_key] _k: u8, gate: Gate) -> u64 {
        let run = body("f");
        gate.pass().await;
        assert!(run > 0, "the first run panics, as this test wants it");
        run
    }

    let gate = Gate::default();
    let leader = spawn(f(1, gate.clone()));
    gate.reached_by(1).await;
    let joiners = (0..10).map(|_| spawn(f(1, gate.clone()))).collect();
    until_busy("c", &gate, 11).await;
    gate.open();
    assert!(leader.await.is_err_and(|error| error.is_panic()));
    assert_eq!(results(joiners).await, [1; 10]);
    assert_eq!(f(1, gate).await, 1);
    assert_eq!(bodies("f"), 2);
}

async fn case_092_an_error_of_the_body_that_looks_like_a_lost_connection() {
    #[cache_result(cache = "io", manager = caches())]
    async fn io_error(_k: u8) -> Result<u64, io::Error> {
        body("io");
        Err(io::Error::from(io::ErrorKind::ConnectionRefused))
    }

    #[cache_result(cache = "redis", manager = caches())]
    async fn redis_error(_k: u8) -> Result<u64, ::redis::RedisError> {
        body("redis");
        Err(io::Error::from(io::ErrorKind::BrokenPipe).into())
    }

    let error = io_error(1).await.expect_err("that is what the body says");
    assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    let error = redis_error(1)
        .await
        .expect_err("that is what the body says");
    assert!(error.is_io_error());
    assert_eq!((bodies("io"), bodies("redis")), (1, 1));
    let stats = caches().stats();
    for cache in ["io", "redis"] {
        assert_eq!(stats[cache].load_failures, 1);
        assert_eq!(stats[cache].backend_errors, 0, "it was not the backend's");
    }
    assert!(caches().health().is_up());
    assert_eq!(
        caches().health().caches.len(),
        if on_redis() { 2 } else { 0 }
    );
}

async fn case_b49_failures_leave_nothing_behind() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] _k: u8, gate: Gate) -> Result<u64, u64> {
        let run = body("f");
        gate.pass().await;
        if run < 2 { Err(run) } else { Ok(run) }
    }

    let gate = Gate::default();
    let calls: Vec<_> = (0..50).map(|_| spawn(f(1, gate.clone()))).collect();
    until_busy("c", &gate, 50).await;
    gate.open();
    // The error can be cloned, so that all who waited have it from one body.
    assert_eq!(results(calls).await, vec![Err(0); 50]);
    assert_value_keys(&[]).await;
    assert_eq!(f(1, gate.clone()).await, Err(1));
    assert_eq!(f(1, gate.clone()).await, Ok(2));
    assert_eq!(f(1, gate).await, Ok(2));
    assert_eq!(bodies("f"), 3);
}

#[tokio::test(start_paused = true)]
async fn case_b49_a_load_past_its_time_limit_is_an_error_like_any_other() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u8) -> Result<u64, String> {
        let run = body("f");
        let takes = Duration::from_secs(if run == 0 { 60 } else { 0 });
        let work = tokio::time::sleep(takes);
        match timeout(Duration::from_millis(100), work).await {
            Ok(()) => Ok(run),
            Err(_) => Err("too slow".to_owned()),
        }
    }

    World::memory()
        .run(async {
            let began = Instant::now();
            let calls = (0..10).map(|_| spawn(f(1))).collect();
            assert_eq!(results(calls).await, vec![Err("too slow".to_owned()); 10]);
            assert_eq!(f(1).await, Ok(1));
            assert_eq!(began.elapsed(), Duration::from_millis(100));
        })
        .await;
}

/// An error that can neither be cloned nor compared.
#[derive(Debug)]
enum Refusal {
    OutOfStock {
        left: u64,
    },
    #[allow(dead_code)] // never made: to be told from the other
    Unknown,
}

/// Counts how many bodies run at the same time.
#[derive(Clone, Debug, Default)]
struct Crowd {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl Crowd {
    fn enter(&self) -> Visitor {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Visitor(Arc::clone(&self.now))
    }

    fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

struct Visitor(Arc<AtomicUsize>);

impl Drop for Visitor {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn case_b51_joiners_of_an_error_without_clone_make_their_own_attempts() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] _k: u8, gate: Gate, crowd: Crowd) -> Result<u64, Refusal> {
        let _visitor = crowd.enter();
        let left = body("f");
        gate.pass().await;
        tokio::task::yield_now().await;
        Err(Refusal::OutOfStock { left })
    }

    let (gate, crowd) = (Gate::default(), Crowd::default());
    let call = || spawn(f(1, gate.clone(), crowd.clone()));
    let calls: Vec<_> = (0..21).map(|_| call()).collect();
    until_busy("c", &gate, 21).await;
    gate.open();
    let mut seen = Vec::new();
    for result in results(calls).await {
        match result {
            Err(Refusal::OutOfStock { left }) => seen.push(left),
            other => panic!("the error of the body was turned into {other:?}"),
        }
    }
    seen.sort_unstable();
    // One attempt each, one after another.
    assert_eq!(seen, (0..21).collect::<Vec<_>>());
    assert_eq!(crowd.most(), 1);
    let stats = caches().stats()["c"];
    assert_eq!((stats.loads, stats.load_failures), (21, 21));
    assert_eq!((stats.misses, stats.coalesced), (1, 20));
}

async fn case_b51_functions_with_different_errors_share_values_only() {
    #[derive(Clone, Debug, PartialEq)]
    struct Timeout;

    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] _k: u8, gate: Gate) -> Result<u64, String> {
        body("f");
        gate.pass().await;
        Err("refused".to_owned())
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn g(#[cache_key] _k: u8, fail: bool, gate: Gate) -> Result<u64, Timeout> {
        body("g");
        gate.pass().await;
        if fail { Err(Timeout) } else { Ok(7) }
    }

    let gate = Gate::default();
    let leader = spawn(f(1, gate.clone()));
    gate.reached_by(1).await;
    let joiner = spawn(g(1, true, gate.clone()));
    until_busy("c", &gate, 2).await;
    gate.open();
    assert_eq!(
        leader.await.expect("no call panics"),
        Err("refused".to_owned())
    );
    assert_eq!(joiner.await.expect("no call panics"), Err(Timeout));
    assert_eq!((bodies("f"), bodies("g")), (1, 1));

    let gate = Gate::default();
    let leader = spawn(g(1, false, gate.clone()));
    gate.reached_by(1).await;
    let joiner = spawn(f(1, gate.clone()));
    until_busy("c", &gate, 3).await;
    gate.open();
    assert_eq!(leader.await.expect("no call panics"), Ok(7));
    assert_eq!(joiner.await.expect("no call panics"), Ok(7));
    assert_eq!((bodies("f"), bodies("g")), (1, 2));
}
