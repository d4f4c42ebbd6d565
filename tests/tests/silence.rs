//! A Redis that does not answer costs no more than the read budget, and is used again as soon as it answers. In a program of its own, which
//! has the machine to itself as far as that can be had.

use std::time::Duration;

use tests::{
    Trouble,
    chaos::{READ_BUDGET, Silence, hanging, late, starting},
};

const ATTEMPTS: usize = 6;

/// At the start nothing is known yet about the server, so the first call waits, but no longer than any.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_b32_starting_with_a_silent_redis_takes_a_read_budget() {
    let kept = on_some_attempt(async || {
        let times = starting(Trouble::Blackhole, 5).await;
        println!("build and first call, blackhole: {times}");
        times.of_thousand(500) < 2 * READ_BUDGET
    });
    assert!(kept.await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_b32_no_call_waits_longer_than_the_read_budget() {
    for silence in Silence::ALL {
        let kept = on_some_attempt(async || {
            let times = hanging(*silence, Duration::from_secs(1)).await;
            println!(
                "{silence:?}: reads: {}; invalidations: {}; puts: {}; the machine was late by {:.1?}; hits again after {:.1?}",
                times.reads, times.invalidations, times.puts, times.lateness, times.back
            );
            let of_calls = [&times.reads, &times.invalidations, &times.puts];
            of_calls
                .iter()
                .all(|of_calls| of_calls.longest() <= times.allowed())
                && times.back <= Duration::from_millis(2500)
        });
        assert!(kept.await, "{silence:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_b32_starting_without_redis_takes_no_time() {
    let kept = on_some_attempt(async || {
        let times = starting(Trouble::Refuse, 50).await;
        println!("build and first call: {times}");
        times.of_thousand(500) < Duration::from_millis(5)
    });
    assert!(kept.await);
}

/// Whether it holds once: what a busy machine delays it does not delay always, and what is slow is slow every time.
async fn on_some_attempt(holds: impl AsyncFn() -> bool) -> bool {
    for _ in 0..ATTEMPTS {
        if holds().await {
            return true;
        }
    }
    false
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_reply_answers_nobody_else() {
    let seen = late(10_000, 0x1A7E).await;
    println!("late replies: {seen}");
    assert_eq!((seen.foreign, seen.refused), (0, 0), "{seen}");
    assert!(seen.answered > seen.cancelled / 10, "{seen}");
}
