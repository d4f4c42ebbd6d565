//! Hits through Redis, and misses.

use std::{
    io,
    time::{Duration, Instant},
};

use crate::{
    contenders::{
        Caller,
        Column::{self, *},
        Start, by_hand, cached, caller, hitbox, ours, start,
    },
    measure::{Plan, Watch, by_turns, processor_time},
    server::{self, Place},
    table::{Lines, Table},
    work::{self, CATEGORY, fresh},
};

/// How many keys are asked for.
const KEYS: u64 = 500;

pub async fn hits(plan: Plan, table: &Table) -> io::Result<()> {
    let small: Vec<(Column, Caller)> = vec![
        (Ours, caller(ours::redis_product)),
        (Validated, caller(ours::validated_product)),
        (Redis, caller(by_hand::product)),
        (Cached, caller(cached::redis::product)),
        (CachedClientSide, caller(cached::client_side::product)),
        (Hitbox, caller(hitbox::redis_product)),
    ];
    let large: Vec<(Column, Caller)> = vec![
        (Ours, caller(|page| ours::redis_list(CATEGORY, page as u32))),
        (
            Validated,
            caller(|page| ours::validated_list(CATEGORY, page as u32)),
        ),
        (Redis, caller(|page| by_hand::list(CATEGORY, page as u32))),
        (
            Cached,
            caller(|page| cached::redis::list(CATEGORY, page as u32)),
        ),
        (
            CachedClientSide,
            caller(|page| cached::client_side::list(CATEGORY, page as u32)),
        ),
        (
            Hitbox,
            caller(|page| hitbox::redis_list(CATEGORY, page as u32)),
        ),
    ];
    table.heading("Redis: hits");
    lines(plan, table, "200 B", &small).await?;
    lines(plan, table, "8 KB", &large).await
}

async fn lines(
    plan: Plan,
    table: &Table,
    what: &str,
    contenders: &[(Column, Caller)],
) -> io::Result<()> {
    for (_, call) in contenders {
        // Loads all keys, with time enough for the stores of those that do not wait for them; then it has them all.
        for _ in 0..2 {
            turn(call, 20, Duration::from_millis(300)).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    for callers in [1, 50, 500] {
        let place = match callers {
            1 => Place::OneProcessor,
            _ => Place::Anywhere,
        };
        server::pin(place).await?;
        work::bodies();
        let [hits, p50, p99, here, no_hits] = by_turns(plan.rounds, contenders, async |call| {
            let processor = processor_time();
            let (times, took) = turn(call, callers, plan.turn).await;
            let processor = processor_time() - processor;
            let bodies = work::bodies() as f64;
            let calls = times.len() as f64;
            let percentile = |of: usize| f64::from(times[(times.len() - 1) * of / 100]) / 1e3;
            [
                calls / took.as_secs_f64() / 1e3,
                percentile(50),
                percentile(99),
                processor.as_secs_f64() * 1e6 / calls,
                bodies / calls * 100.0,
            ]
        })
        .await;
        let (plural, on) = match place {
            Place::OneProcessor => ("caller", ", all on one processor"),
            Place::Anywhere => ("callers", ""),
        };
        table.line(
            Lines::Redis,
            &format!("{what}, {callers} {plural}{on}: thousand hits/s"),
            &hits,
        );
        table.line(Lines::Redis, "&nbsp; p50: µs", &p50);
        table.line(Lines::Redis, "&nbsp; p99: µs", &p99);
        table.line(
            Lines::Redis,
            "&nbsp; processor time of the client for a hit: µs",
            &here,
        );
        table.line(
            Lines::Redis,
            "&nbsp; calls that ran their body all the same: %",
            &no_hits,
        );
    }
    Ok(())
}

/// The time of each call, in order, and of all.
async fn turn(call: &Caller, callers: u64, length: Duration) -> (Vec<u32>, Duration) {
    let began = Instant::now();
    let tasks: Vec<_> = (0..callers)
        .map(|seed| call(seed, KEYS, Watch::until(began + length)))
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.expect("nothing fails"));
    }
    let took = began.elapsed();
    times.sort_unstable();
    (times, took)
}

/// What a caller waits for.
pub async fn misses(plan: Plan, table: &Table) {
    let contenders: Vec<(Column, Start)> = vec![
        (Ours, start(ours::redis_product)),
        (Validated, start(ours::validated_product)),
        (Redis, start(by_hand::product)),
        (Cached, start(cached::redis::product)),
        (CachedClientSide, start(cached::client_side::product)),
        (Hitbox, start(hitbox::redis_product)),
    ];
    const CALLS: u64 = 300;
    let [micros] = by_turns(plan.rounds, &contenders, async |call| {
        let numbers = fresh(CALLS);
        let began = Instant::now();
        for id in numbers {
            call(id).await.expect("nothing fails");
        }
        [began.elapsed().as_secs_f64() * 1e6 / CALLS as f64]
    })
    .await;
    table.heading("Redis: misses");
    table.line(
        Lines::Redis,
        "a miss with its body of some 0.3 µs, 200 B, one caller: µs",
        &micros,
    );
}
