//! A backend that fails, hangs or is slow: the function's value is returned all the same, in time.

use std::time::Duration;

use cache_core::{
    CacheConfig, CacheError, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::{
    Gate, Log, World, bodies, body, both, caches, on_redis, redis_backend, soon, spawn, with_caches,
};
use tokio::time::Instant;

both!(
    case_088_a_write_fails,
    case_088_a_value_put_by_hand_is_not_stored,
    a_put_that_fails_takes_away_what_it_was_to_replace,
    case_090_an_invalidation_fails,
    every_operation_fails,
);

/// The store of the world, as a backend that can be told to fail.
fn faulty() -> FaultyBackend {
    if on_redis() {
        FaultyBackend::new(redis_backend())
    } else {
        FaultyBackend::new(MapBackend::new())
    }
}

/// Runs `test` with a manager whose caches are on that backend.
async fn on(backend: &FaultyBackend, test: impl Future<Output = ()>) {
    let config = CacheConfig::on(backend.clone());
    with_caches(|builder| builder.defaults(config), test).await;
}

#[cache_result(cache = "c", manager = caches())]
async fn read(_k: u64) -> Result<u64, String> {
    Ok(body("read"))
}

#[cache_put(cache = "c", manager = caches())]
async fn put(_k: u64) -> Result<u64, String> {
    Ok(body("put"))
}

#[cache_invalidate(cache = "c", manager = caches())]
async fn write(_k: u64) -> Result<&'static str, String> {
    body("write");
    Ok("written")
}

#[cache_invalidate_all(cache = "c", manager = caches())]
async fn write_any() -> Result<&'static str, String> {
    body("write");
    Ok("written")
}

async fn case_088_a_write_fails() {
    let backend = faulty();
    on(&backend, async {
        let log = Log::listen();
        backend.fail(&[Operation::Store]);
        assert_eq!(read(1).await, Ok(0));
        caches().settle().await;
        let stats = caches().stats()["c"];
        assert_eq!((stats.store_failures, stats.stores), (1, 0));
        assert_eq!(stats.backend_errors, 1);
        assert_eq!(read(1).await, Ok(1));
        caches().settle().await;
        backend.heal();
        assert_eq!(read(1).await, Ok(2));
        caches().settle().await;
        assert_eq!(read(1).await, Ok(2));
        let stats = caches().stats()["c"];
        assert_eq!((stats.store_failures, stats.stores), (2, 1));
        assert_eq!((stats.loads, stats.load_failures), (3, 0));
        assert!(!log.warnings().is_empty());
    })
    .await;
}

async fn case_088_a_value_put_by_hand_is_not_stored() {
    let backend = faulty();
    on(&backend, async {
        backend.fail(&[Operation::Put]);
        // Annotated functions are not told; who stores by hand is.
        assert_eq!(put(1).await, Ok(0));
        let cache = caches().cache::<u64>("c").expect("a valid name");
        let failed = cache.insert(&1, 7).await;
        assert!(
            matches!(failed, Err(CacheError::Backend { .. })),
            "{failed:?}"
        );
        assert_eq!(cache.stats().store_failures, 2);
        assert_eq!(cache.get(&1).await, None);
    })
    .await;
}

async fn a_put_that_fails_takes_away_what_it_was_to_replace() {
    let backend = faulty();
    on(&backend, async {
        let cache = caches().cache::<u64>("c").expect("a valid name");
        cache.insert(&1, 7).await.expect("it works");
        backend.fail(&[Operation::Put]);
        assert!(cache.insert(&1, 8).await.is_err());
        assert_eq!(cache.get(&1).await, None);
        backend.heal();
        cache.insert(&1, 7).await.expect("it works again");
        backend.fail(&[Operation::Put]);
        assert_eq!(put(1).await, Ok(0));
        assert_eq!(cache.get(&1).await, None);
    })
    .await;
}

async fn case_090_an_invalidation_fails() {
    #[cache_result(cache = "c", lock_timeout = "1h", manager = caches())]
    async fn slow(#[cache_key] _k: u64, gate: Gate) -> u64 {
        let run = body("slow");
        gate.pass().await;
        run
    }

    let backend = faulty();
    on(&backend, async {
        let log = Log::listen();
        let failing = [Operation::Invalidate, Operation::InvalidateAll];
        backend.fail(&failing);
        for (k, all) in [(1, false), (2, true)] {
            let before = bodies("slow");
            let gate = Gate::default();
            let older = spawn(slow(k, gate.clone()));
            gate.reached_by(1).await;
            let errors = caches().stats()["c"].backend_errors;
            let told = if all {
                write_any().await
            } else {
                write(k).await
            };
            assert_eq!(told, Ok("written"));
            assert!(caches().stats()["c"].backend_errors > errors);
            // In this process the older load has ended for those who come now.
            assert_eq!(soon(slow(k, Gate::opened())).await, before + 1);
            gate.open();
            assert_eq!(older.await.expect("no call panics"), before);
            caches().settle().await;
            assert_ne!(slow(k, Gate::opened()).await, before);
        }
        assert!(!log.warnings().is_empty());
        let cache = caches().cache::<u64>("c").expect("a valid name");
        let by_hand = cache.invalidate(&1).await;
        assert!(
            matches!(by_hand, Err(CacheError::Backend { .. })),
            "{by_hand:?}"
        );
        let by_hand = cache.invalidate_all().await;
        assert!(
            matches!(by_hand, Err(CacheError::Backend { .. })),
            "{by_hand:?}"
        );
    })
    .await;
}

/// Calls everything once, and asserts that nothing but the cache has noticed.
async fn call_everything(k: u64) {
    let read_before = bodies("read");
    assert!(read(k).await.is_ok_and(|run| run <= read_before));
    let put_before = bodies("put");
    assert_eq!(put(k).await, Ok(put_before));
    let written = bodies("write");
    assert_eq!(write(k).await, Ok("written"));
    assert_eq!(write_any().await, Ok("written"));
    assert_eq!(bodies("write"), written + 2);
    assert!(read(k).await.is_ok());
}

async fn every_operation_fails() {
    let backend = faulty();
    on(&backend, async {
        let log = Log::listen();
        for (k, operation) in (0..).zip(Operation::ALL) {
            backend.fail(&[*operation]);
            call_everything(k).await;
            caches().settle().await;
            backend.heal();
        }
        backend.fail(Operation::ALL);
        for k in 100..200 {
            call_everything(k).await;
        }
        // Said when the state changed, not for each of the hundreds of calls; and hardly any of them has asked.
        let warnings = log.warnings().len();
        assert!((1..=2).contains(&warnings), "{log:?}");
        assert!(caches().stats()["c"].backend_errors < 50);
        assert!(!caches().health().is_up());
    })
    .await;
}

/// What a call waits for the backend at most: `MapBackend` has the budget that backends have unless they say otherwise.
const BUDGET: Duration = Duration::from_millis(100);

/// Asserts that a call takes no longer than the budget, however many requests it makes.
async fn assert_within<T>(what: &str, call: impl Future<Output = T>) -> T {
    let began = Instant::now();
    let value = call.await;
    let took = began.elapsed();
    assert!(took <= BUDGET, "{what} took {took:?}");
    value
}

async fn calls_stay_within_their_budget(make_it_so: impl Fn(&FaultyBackend, &[Operation])) {
    let map = MapBackend::new();
    for operation in Operation::ALL {
        let backend = FaultyBackend::new(map.clone());
        on(&backend, async {
            make_it_so(&backend, &[*operation]);
            let what = format!("{operation:?}");
            for k in 0..3 {
                assert!(assert_within(&what, read(k)).await.is_ok());
                assert!(assert_within(&what, put(k)).await.is_ok());
                assert_eq!(assert_within(&what, write(k)).await, Ok("written"));
                assert_eq!(assert_within(&what, write_any()).await, Ok("written"));
            }
        })
        .await;
    }
    let backend = FaultyBackend::new(map);
    on(&backend, async {
        make_it_so(&backend, Operation::ALL);
        for k in 0..3 {
            assert!(assert_within("a load", read(k)).await.is_ok());
            // The tokens before the body, the removal after it: both within the one.
            assert!(assert_within("a put", put(k)).await.is_ok());
            assert_eq!(assert_within("one", write(k)).await, Ok("written"));
            assert_eq!(assert_within("all", write_any()).await, Ok("written"));
        }
        // What goes on behind the callers' backs has an end too.
        let began = Instant::now();
        caches().settle().await;
        assert!(began.elapsed() <= Duration::from_secs(1));
    })
    .await;
}

/// Callers who could not read and callers who could do not know the same; but no caller makes the others load again. There is a load of
/// those who could, one of the first who could not, and one of all who could not and came while that one ran.
#[tokio::test(start_paused = true)]
async fn callers_share_loads_while_every_other_read_fails() {
    World::memory()
        .run(async {
            let backend = faulty();
            on(&backend, async {
                let mut callers = Vec::new();
                for i in 0..100 {
                    if i % 2 == 0 {
                        backend.fail(&[Operation::Load]);
                    } else {
                        backend.heal();
                    }
                    callers.push(spawn(slow(1)));
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                for caller in callers {
                    assert!(caller.await.expect("no panic") < 3);
                }
                assert_eq!(bodies("slow"), 3);
            })
            .await;
        })
        .await;
}

#[cache_result(cache = "c", manager = caches())]
async fn slow(_k: u64) -> u64 {
    let run = body("slow");
    tokio::time::sleep(Duration::from_secs(1)).await;
    run
}

#[tokio::test(start_paused = true)]
async fn case_b32_a_backend_that_hangs_costs_one_read_budget() {
    World::memory()
        .run(calls_stay_within_their_budget(FaultyBackend::hang))
        .await;
}

#[tokio::test(start_paused = true)]
async fn case_b32_a_slow_backend_costs_one_read_budget() {
    let three_seconds = |backend: &FaultyBackend, operations: &[Operation]| {
        backend.delay(operations, Duration::from_secs(3));
    };
    World::memory()
        .run(calls_stay_within_their_budget(three_seconds))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_is_slow_within_the_budget_is_used() {
    World::memory()
        .run(async {
            let backend = faulty();
            on(&backend, async {
                backend.delay(Operation::ALL, BUDGET - Duration::from_millis(1));
                let began = Instant::now();
                assert_eq!(read(1).await, Ok(0));
                assert_eq!(began.elapsed(), BUDGET - Duration::from_millis(1));
                caches().settle().await;
                assert_eq!(read(1).await, Ok(0));
                assert_eq!(write(1).await, Ok("written"));
                assert_eq!(read(1).await, Ok(1));
                assert_eq!(caches().stats()["c"].backend_errors, 0);
            })
            .await;
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_does_not_hold_up_the_next_reader() {
    World::memory()
        .run(async {
            let backend = faulty();
            on(&backend, async {
                backend.hang(&[Operation::Store]);
                let began = Instant::now();
                // While the store is under way, its value answers for the key.
                assert_eq!((read(1).await, read(1).await), (Ok(0), Ok(0)));
                assert_eq!(began.elapsed(), Duration::ZERO);
                backend.heal();
                caches().settle().await;
                assert_eq!(read(1).await, Ok(0));
                let stats = caches().stats()["c"];
                assert_eq!((stats.stores, stats.store_failures), (1, 0));
            })
            .await;
        })
        .await;
}
