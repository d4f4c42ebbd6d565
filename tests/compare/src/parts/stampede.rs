//! A thousand callers on a key that nobody has loaded.

use std::time::Instant;

use crate::{
    contenders::{
        Column::{self, *},
        Start, by_hand, cached, hitbox, moka, ours, start,
    },
    measure::{Plan, by_turns},
    table::{Lines, Table},
    work::{self, SLOW},
};

const CALLERS: usize = 1_000;

pub async fn memory(plan: Plan, table: &Table) {
    let contenders: Vec<(Column, Start)> = vec![
        (Ours, start(ours::slow)),
        (MokaFuture, start(moka::asynchronous::slow)),
        (Cached, start(cached::plain::slow)),
        (CachedBounded, start(cached::bounded::slow)),
        (CachedByKey, start(cached::by_key::slow)),
        (Hitbox, start(hitbox::slow)),
        (HitboxOneLoad, start(hitbox::one_load::slow)),
    ];
    table.heading("memory: 1 000 callers on a cold key, a body of 50 ms");
    lines(
        plan,
        table,
        Lines::Memory,
        &contenders,
        &[(
            MokaSync,
            "blocks a thread for each caller, and its load cannot be asynchronous",
        )],
    )
    .await;
}

pub async fn redis(plan: Plan, table: &Table) {
    let contenders: Vec<(Column, Start)> = vec![
        (Ours, start(ours::redis_slow)),
        (Validated, start(ours::validated_slow)),
        (Redis, start(by_hand::slow)),
        (Cached, start(cached::redis::slow)),
        (Hitbox, start(hitbox::redis_slow)),
        (HitboxOneLoad, start(hitbox::one_load::redis_slow)),
    ];
    table.heading("Redis: 1 000 callers on a cold key, a body of 50 ms");
    lines(plan, table, Lines::Redis, &contenders, &[]).await;
}

async fn lines(
    plan: Plan,
    table: &Table,
    lines: Lines,
    contenders: &[(Column, Start)],
    because: &[(Column, &'static str)],
) {
    let [bodies, wall] = by_turns(plan.rounds, contenders, async |call| {
        let id = work::fresh(1).start;
        work::slow_bodies();
        let began = Instant::now();
        let calls: Vec<_> = (0..CALLERS).map(|_| call(id)).collect();
        for call in calls {
            call.await.expect("nothing fails");
        }
        let wall = began.elapsed().as_secs_f64() / SLOW.as_secs_f64();
        [work::slow_bodies() as f64, wall]
    })
    .await;
    table.line_because(lines, "bodies run", &bodies, because);
    table.line_because(lines, "wall time: times that of the body", &wall, because);
}
