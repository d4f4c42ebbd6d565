//! What it costs to forget, against how much there is.

use std::time::{Duration, Instant};

use cache_core::CacheManager;
use redis::aio::MultiplexedConnection;

use crate::{
    contenders::{
        Column::{self, *},
        Forget, by_hand, cached, hitbox, moka, ours,
    },
    measure::{Plan, by_turns, time},
    server,
    table::{Lines, Table},
};

const SIZES: [u64; 3] = [10, 1_000, 100_000];
/// How long memory may take to become free.
const PATIENCE: Duration = Duration::from_secs(60);
const NO_SUCH: &str = "has no way to forget all entries of a function";

pub async fn memory(plan: Plan, table: &Table) {
    let contenders: Vec<(Column, Forget)> = vec![
        (Ours, ours::forget()),
        (MokaSync, moka::forget()),
        (MokaFuture, moka::asynchronous::forget()),
        (Cached, cached::plain::forget()),
        (CachedBounded, cached::bounded::forget()),
        (CachedByKey, cached::by_key::forget()),
        (Hitbox, hitbox::forget()),
    ];
    table.heading("memory: forgetting");
    for entries in SIZES {
        let [nanos] = by_turns(rounds(plan, entries), &contenders, async |forget| {
            // With few entries, many times.
            let times = (1_000 / entries).max(1);
            let each = entries.min(1_000);
            let mut took = Duration::ZERO;
            for _ in 0..times {
                (forget.fill)(0..entries).await;
                took += time((forget.each)(0..each)).await;
            }
            [took.as_nanos() as f64 / (times * each) as f64]
        })
        .await;
        let what = format!("`invalidate` of one of {}: ns", grouped(entries));
        table.line(Lines::Memory, &what, &nanos);
    }
    let able = able(contenders);
    for entries in SIZES {
        let [micros] = by_turns(rounds(plan, entries), &able, async |forget| {
            let times = (1_000 / entries).max(1);
            let mut took = Duration::ZERO;
            for _ in 0..times {
                (forget.fill)(0..entries).await;
                took += time(forget.all.as_ref().expect("it is able to")()).await;
            }
            [took.as_nanos() as f64 / 1e3 / times as f64]
        })
        .await;
        let what = format!("`invalidate_all` of {}: µs", grouped(entries));
        table.line_because(Lines::Memory, &what, &micros, &[(Hitbox, NO_SUCH)]);
    }
}

pub async fn redis(plan: Plan, caches: &CacheManager, table: &Table) {
    let contenders: Vec<(Column, Forget)> = vec![
        (Ours, ours::redis_forget(caches)),
        (Redis, by_hand::forget()),
        (Cached, cached::redis::forget()),
        (Hitbox, hitbox::redis_forget()),
    ];
    let mut server = server::connect().await;
    let server = &tokio::sync::Mutex::new(&mut server);
    table.heading("Redis: forgetting");
    let [micros] = by_turns(plan.rounds, &contenders, async |forget| {
        (forget.fill)(0..300).await;
        [time((forget.each)(0..300)).await.as_secs_f64() * 1e6 / 300.0]
    })
    .await;
    table.line(Lines::Redis, "`invalidate` of one, one caller: µs", &micros);

    let able = able(contenders);
    for (entries, foreign) in [
        (10, 0),
        (1_000, 0),
        (100_000, 0),
        (10, 100_000),
        (1_000, 100_000),
    ] {
        let mut connection = server.lock().await;
        let () = redis::cmd("FLUSHALL")
            .query_async(&mut **connection)
            .await
            .expect("the server answers");
        server::add_foreign_keys(&mut connection, foreign).await;
        // Stays empty but for what a cache keeps beside its entries, once that is there.
        for (_, forget) in &able {
            let before = server::size(&mut connection).await;
            (forget.fill)(0..entries).await;
            forget.all.as_ref().expect("it is able to")().await;
            // A key for each entry at most, and one for all of them.
            quiet(&mut connection, before + entries + 1).await;
        }
        drop(connection);
        let [answered, gone] = by_turns(rounds(plan, entries), &able, async |forget| {
            let mut server = server.lock().await;
            let before = server::size(&mut server).await;
            (forget.fill)(0..entries).await;
            let began = Instant::now();
            forget.all.as_ref().expect("it is able to")().await;
            let answered = began.elapsed();
            let gone = loop {
                let took = began.elapsed();
                if server::size(&mut server).await <= before {
                    break took.as_secs_f64() * 1e3;
                }
                if took > PATIENCE {
                    break f64::INFINITY;
                }
                tokio::time::sleep(Duration::from_micros(200)).await;
            };
            [answered.as_secs_f64() * 1e3, gone]
        })
        .await;
        let what = format!(
            "`invalidate_all` of {} beside {} foreign keys: ms",
            grouped(entries),
            grouped(foreign)
        );
        let because = [(Hitbox, NO_SUCH)];
        table.line_because(Lines::Redis, &what, &answered, &because);
        table.line_because(
            Lines::Redis,
            "&nbsp; until their memory is free: ms",
            &gone,
            &because,
        );
    }
}

/// Waits until there are fewer keys than that, and no fewer than a moment before.
async fn quiet(server: &mut MultiplexedConnection, below: u64) {
    let began = Instant::now();
    let mut last = u64::MAX;
    while began.elapsed() < PATIENCE {
        let size = server::size(server).await;
        if size <= below && size == last {
            return;
        }
        last = size;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

fn able(contenders: Vec<(Column, Forget)>) -> Vec<(Column, Forget)> {
    contenders
        .into_iter()
        .filter(|(_, forget)| forget.all.is_some())
        .collect()
}

fn rounds(plan: Plan, entries: u64) -> usize {
    if entries > 10_000 {
        plan.fewer().rounds
    } else {
        plan.rounds
    }
}

fn grouped(number: u64) -> String {
    match number {
        100_000 => "100 000".to_owned(),
        1_000 => "1 000".to_owned(),
        number => number.to_string(),
    }
}
