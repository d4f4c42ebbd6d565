//! One load per key at a time: who waits for it, and what those who wait get.

use std::time::Duration;

use cache_core::cache_result;
use tests::{
    Gate, World, assert_value_keys, bodies, body, both, caches, results, spawn, stored, until_busy,
    with_caches,
};
use tokio::{sync::watch, time::Instant};

both!(
    case_060_concurrent_misses_share_one_body,
    case_060_a_thousand_callers_on_one_cold_key,
    case_061_a_waiter_past_the_lock_timeout_runs_the_body_itself,
    case_063_keys_do_not_wait_for_each_other,
    case_068_a_cached_function_calls_a_cached_function,
    case_070_a_call_of_itself_on_the_same_key_ends,
    case_b25_one_load_for_the_hot_key_and_overlap_for_the_others,
    case_b25_futures_awaited_in_reverse_order,
);

async fn many_callers_share_one_body(callers: usize) {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] _k: &str, gate: Gate) -> u64 {
        let run = body("f");
        gate.pass().await;
        run
    }

    let gate = Gate::default();
    let calls = (0..callers).map(|_| spawn(f("k", gate.clone()))).collect();
    until_busy("c", &gate, callers).await;
    gate.open();
    assert_eq!(results(calls).await, vec![0; callers]);
    assert_eq!(bodies("f"), 1);
    let stats = caches().stats()["c"];
    assert_eq!((stats.misses, stats.loads, stats.hits), (1, 1, 0));
    assert_eq!(stats.coalesced, callers as u64 - 1);
}

async fn case_060_concurrent_misses_share_one_body() {
    many_callers_share_one_body(50).await;
}

async fn case_060_a_thousand_callers_on_one_cold_key() {
    many_callers_share_one_body(1000).await;
}

async fn case_061_a_waiter_past_the_lock_timeout_runs_the_body_itself() {
    const LOCK_TIMEOUT: Duration = Duration::from_millis(50);

    #[cache_result(cache = "c", lock_timeout = LOCK_TIMEOUT, manager = caches())]
    async fn f(#[cache_key] _k: u8, gate: Gate) -> u64 {
        let run = body("f");
        if run == 0 {
            gate.pass().await;
        }
        run
    }

    let gate = Gate::default();
    let leader = spawn(f(1, gate.clone()));
    gate.reached_by(1).await;
    let began = Instant::now();
    assert_eq!(f(1, gate.clone()).await, 1);
    assert!(began.elapsed() >= LOCK_TIMEOUT);
    gate.open();
    assert_eq!(leader.await.expect("the leader has no time limit"), 0);
    assert_eq!(bodies("f"), 2);
    // The first to finish stores.
    caches().settle().await;
    assert_eq!(f(1, gate).await, 1);
}

#[tokio::test(start_paused = true)]
async fn case_061_times_of_leader_and_waiter() {
    #[cache_result(cache = "c", lock_timeout = "500ms", manager = caches())]
    async fn f(_k: u8) -> u64 {
        let run = body("f");
        tokio::time::sleep(Duration::from_secs(1)).await;
        run
    }

    async fn timed() -> (u64, u128) {
        let began = Instant::now();
        (f(1).await, began.elapsed().as_millis())
    }

    World::memory()
        .run(async {
            let (leader, waiter) = tokio::join!(timed(), timed());
            assert_eq!(leader, (0, 1000));
            assert_eq!(waiter, (1, 1500));
        })
        .await;
}

#[tokio::test(start_paused = true)]
async fn case_061_one_waiter_at_a_time_runs_the_body() {
    #[cache_result(cache = "c", lock_timeout = "500ms", manager = caches())]
    async fn f(_k: u8) -> u64 {
        let run = body("f");
        tokio::time::sleep(Duration::from_millis(2250)).await;
        run
    }

    World::memory()
        .run(async {
            let began = Instant::now();
            let calls: Vec<_> = (0..30).map(|_| spawn(f(1))).collect();
            for (at, expected) in [(499, 1), (501, 2), (999, 2), (1001, 3), (2001, 5)] {
                tokio::time::sleep_until(began + Duration::from_millis(at)).await;
                assert_eq!(bodies("f"), expected, "after {at} ms");
            }
            let values = results(calls).await;
            // Those who still waited have the first value; those who ran the body have their own.
            assert_eq!(values.iter().filter(|run| **run == 0).count(), 26);
            assert_eq!(bodies("f"), 5);
            assert_eq!(f(1).await, 0);
        })
        .await;
}

async fn case_063_keys_do_not_wait_for_each_other() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] k: String, gate: Gate) -> u64 {
        if k == "slow" {
            gate.pass().await;
        }
        body("f")
    }

    let gate = Gate::default();
    let slow = spawn(f("slow".to_owned(), gate.clone()));
    gate.reached_by(1).await;
    // Every shard of every table is met by one of them.
    for i in 0..1000 {
        assert_eq!(f(format!("fast {i}"), gate.clone()).await, i);
    }
    assert!(!slow.is_finished());
    gate.open();
    assert_eq!(slow.await.expect("no call panics"), 1000);
}

async fn case_068_a_cached_function_calls_a_cached_function() {
    #[cache_result(cache = "c", manager = caches())]
    async fn c1(k: &str) -> String {
        format!("{k}:{}", c2(42).await)
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn c2(n: u32) -> String {
        body("c2");
        n.to_string()
    }

    assert_eq!(c1("fubar").await, "fubar:42");
    assert_eq!(c2(42).await, "42");
    assert_eq!(bodies("c2"), 1);
    assert_value_keys(&["cache:c:42", "cache:c:fubar"]).await;
}

async fn case_070_a_call_of_itself_on_the_same_key_ends() {
    #[cache_result(cache = "c", lock_timeout = "20ms", manager = caches())]
    async fn f(#[cache_key] k: u8, again: bool) -> u64 {
        let run = body("f");
        if again {
            return Box::pin(f(k, false)).await + 10;
        }
        run
    }

    assert_eq!(f(1, true).await, 11);
    assert_eq!(bodies("f"), 2);
}

#[tokio::test(start_paused = true)]
async fn case_070_without_a_lock_timeout_of_its_own_it_ends_after_the_default() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] k: u8, again: bool) -> u64 {
        let run = body("f");
        if again {
            return Box::pin(f(k, false)).await + 10;
        }
        run
    }

    World::memory()
        .run(async {
            let began = Instant::now();
            assert_eq!(f(1, true).await, 11);
            assert_eq!(began.elapsed(), Duration::from_secs(5));
        })
        .await;
}

async fn case_b25_one_load_for_the_hot_key_and_overlap_for_the_others() {
    #[cache_result(cache = "hot", manager = caches())]
    async fn hot(#[cache_key] _k: u64, gate: Gate) -> u64 {
        let run = body("hot");
        gate.pass().await;
        run
    }

    #[cache_result(cache = "cold", manager = caches())]
    async fn cold(#[cache_key] k: u64, gate: Gate) -> u64 {
        body("cold");
        gate.pass().await;
        k
    }

    let gate = Gate::default();
    let hot_calls = (0..200).map(|_| spawn(hot(7, gate.clone()))).collect();
    until_busy("hot", &gate, 200).await;
    let cold_calls = (0..200).map(|k| spawn(cold(k, gate.clone()))).collect();
    // All of them are in their bodies at one time: none waits for another.
    gate.reached_by(201).await;
    gate.open();
    assert_eq!(results(hot_calls).await, vec![0; 200]);
    assert_eq!(results(cold_calls).await, (0..200).collect::<Vec<_>>());
    assert_eq!((bodies("hot"), bodies("cold")), (1, 200));
}

#[tokio::test(start_paused = true)]
async fn case_b25_two_hundred_keys_take_as_long_as_one() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u64) -> u64 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        body("f")
    }

    World::memory()
        .run(async {
            let began = Instant::now();
            let calls = (0..400).map(|k| spawn(f(k.max(199)))).collect();
            results(calls).await;
            assert_eq!(began.elapsed(), Duration::from_millis(100));
            assert_eq!(bodies("f"), 201);
        })
        .await;
}

async fn case_b25_futures_awaited_in_reverse_order() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u64) -> u64 {
        body("f")
    }

    let calls: Vec<_> = (0..200).map(|_| Box::pin(f(7))).collect();
    // A future that was never awaited neither loads nor is waited for.
    assert_eq!(bodies("f"), 0);
    for call in calls.into_iter().rev() {
        assert_eq!(call.await, 0);
    }
    assert_eq!(bodies("f"), 1);
}

/// A second caller comes at the very moment at which the first one's load completes, over and over.
async fn nobody_loads_again_in_the_completion_window(rounds: u64) {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] k: u64, completing: watch::Sender<bool>) -> u64 {
        body("f");
        // What comes after this is the end of the load.
        completing.send_replace(true);
        k
    }

    let config = stored().max_capacity(10 * rounds);
    with_caches(|builder| builder.cache("c", config), async {
        for k in 0..rounds {
            let completing = watch::Sender::new(false);
            let mut completes = completing.subscribe();
            let second = spawn(async move {
                // Not asleep: waking up would take longer than the window is open.
                while !*completes.borrow_and_update() {
                    tokio::task::yield_now().await;
                }
                for _ in 0..k % 128 {
                    std::hint::spin_loop();
                }
                f(k, watch::Sender::new(true)).await
            });
            let first = spawn(f(k, completing));
            assert_eq!(first.await.expect("no call panics"), k);
            assert_eq!(second.await.expect("no call panics"), k);
            assert_eq!(bodies("f"), k + 1, "the second caller has loaded again");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_b25_completion_window_in_memory() {
    World::memory()
        .run(nobody_loads_again_in_the_completion_window(10_000))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_b25_completion_window_on_redis() {
    World::redis()
        .run(nobody_loads_again_in_the_completion_window(1000))
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_060_from_many_threads() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: u64) -> u64 {
        tokio::task::yield_now().await;
        body("f")
    }

    World::memory()
        .run(async {
            for k in 0..200 {
                let calls = (0..20).map(|_| spawn(f(k))).collect();
                assert_eq!(results(calls).await, vec![k; 20]);
            }
        })
        .await;
}
