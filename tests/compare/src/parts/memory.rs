//! Hits and misses in memory, and how large the futures are.

use std::{
    future::Future,
    sync::Barrier,
    time::{Duration, Instant},
};

use crate::{
    contenders::{
        Column::{self, *},
        Repeat,
        cached::{bounded, by_key, plain},
        hitbox, moka, ours, repeat,
    },
    measure::{Plan, by_turns},
    table::{Lines, Table},
    work::{self, CATEGORY, fresh},
};

type Contenders = Vec<(Column, Repeat)>;

/// How many keys there are when there are many.
const KEYS: u64 = 1024;

pub async fn hits(plan: Plan, table: &Table) {
    table.heading("memory: hits");
    let product = product();
    lines(plan, table, "`product(id) -> Arc`, one key", 1, &product).await;
    lines(
        plan,
        table,
        "`product(id) -> Arc`, 1 024 keys",
        KEYS,
        &product,
    )
    .await;
    lines(
        plan,
        table,
        "`list(category, page) -> Arc`, 64 keys",
        64,
        &list(),
    )
    .await;
    lines(
        plan,
        table,
        "`product(id)` by value, one key",
        1,
        &product_by_value(),
    )
    .await;
    lines(
        plan,
        table,
        "`list(category, page)` by value, one key",
        1,
        &list_by_value(),
    )
    .await;
}

fn product() -> Contenders {
    vec![
        (Ours, repeat(ours::product)),
        (MokaSync, repeat(moka::product)),
        (MokaFuture, repeat(moka::asynchronous::product)),
        (Cached, repeat(plain::product)),
        (CachedBounded, repeat(bounded::product)),
        (CachedByKey, repeat(by_key::product)),
        (Hitbox, repeat(hitbox::product)),
        (HitboxOneLoad, repeat(hitbox::one_load::product)),
    ]
}

fn product_by_value() -> Contenders {
    vec![
        (Ours, repeat(ours::product_by_value)),
        (MokaSync, repeat(moka::product_by_value)),
        (MokaFuture, repeat(moka::asynchronous::product_by_value)),
        (Cached, repeat(plain::product_by_value)),
        (CachedBounded, repeat(bounded::product_by_value)),
        (CachedByKey, repeat(by_key::product_by_value)),
        (Hitbox, repeat(hitbox::product_by_value)),
    ]
}

fn list() -> Contenders {
    vec![
        (Ours, repeat(|page| ours::list(CATEGORY, page as u32))),
        (MokaSync, repeat(|page| moka::list(CATEGORY, page as u32))),
        (
            MokaFuture,
            repeat(|page| moka::asynchronous::list(CATEGORY, page as u32)),
        ),
        (Cached, repeat(|page| plain::list(CATEGORY, page as u32))),
        (
            CachedBounded,
            repeat(|page| bounded::list(CATEGORY, page as u32)),
        ),
        (
            CachedByKey,
            repeat(|page| by_key::list(CATEGORY, page as u32)),
        ),
        (Hitbox, repeat(|page| hitbox::list(CATEGORY, page as u32))),
    ]
}

fn list_by_value() -> Contenders {
    vec![
        (
            Ours,
            repeat(|page| ours::list_by_value(CATEGORY, page as u32)),
        ),
        (
            MokaSync,
            repeat(|page| moka::list_by_value(CATEGORY, page as u32)),
        ),
        (
            MokaFuture,
            repeat(|page| moka::asynchronous::list_by_value(CATEGORY, page as u32)),
        ),
        (
            Cached,
            repeat(|page| plain::list_by_value(CATEGORY, page as u32)),
        ),
        (
            CachedBounded,
            repeat(|page| bounded::list_by_value(CATEGORY, page as u32)),
        ),
        (
            CachedByKey,
            repeat(|page| by_key::list_by_value(CATEGORY, page as u32)),
        ),
        (
            Hitbox,
            repeat(|page| hitbox::list_by_value(CATEGORY, page as u32)),
        ),
    ]
}

/// The lines of one kind of work.
async fn lines(plan: Plan, table: &Table, what: &str, keys: u64, contenders: &Contenders) {
    // How many calls fill a turn. This also loads what is to be hit.
    let counted: Vec<_> = contenders
        .iter()
        .map(|(column, repeat)| {
            (
                *column,
                Counted {
                    repeat,
                    calls: calls_in(plan.turn, repeat, keys),
                },
            )
        })
        .collect();
    work::bodies();
    let [one, two, allocations] = by_turns(plan.rounds, &counted, async |contender| {
        // In a thread of its own: the one that this runs on has a runtime already.
        std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    let one = contender.nanos(keys);
                    let calls = 1_000;
                    let counts =
                        allocation_counter::measure(|| (contender.repeat)(0..calls, keys - 1));
                    [
                        one,
                        contender.millions_on_two(keys),
                        counts.count_total as f64 / calls as f64,
                    ]
                })
                .join()
                .expect("nothing fails")
        })
    })
    .await;
    work::expect_hits(what);
    table.line(Lines::Memory, &format!("{what}: ns"), &one);
    table.line(Lines::Memory, "&nbsp; allocations", &allocations);
    let per_second: Vec<_> = one
        .iter()
        .map(|(column, nanos)| (*column, 1e3 / nanos))
        .collect();
    table.line(
        Lines::Memory,
        "&nbsp; million hits/s, one thread",
        &per_second,
    );
    table.line(Lines::Memory, "&nbsp; million hits/s, two threads", &two);
}

struct Counted<'a> {
    repeat: &'a Repeat,
    calls: u64,
}

impl Counted<'_> {
    fn nanos(&self, keys: u64) -> f64 {
        let began = Instant::now();
        (self.repeat)(0..self.calls, keys - 1);
        began.elapsed().as_nanos() as f64 / self.calls as f64
    }

    /// Both threads ask for the same keys.
    fn millions_on_two(&self, keys: u64) -> f64 {
        let ready = Barrier::new(3);
        let took = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        // Whatever a thread does for the first time.
                        (self.repeat)(0..keys, keys - 1);
                        ready.wait();
                        (self.repeat)(0..self.calls, keys - 1);
                    })
                })
                .collect();
            ready.wait();
            let began = Instant::now();
            for thread in threads {
                thread.join().expect("nothing fails");
            }
            began.elapsed()
        });
        2.0 * self.calls as f64 / took.as_micros() as f64
    }
}

fn calls_in(turn: Duration, repeat: &Repeat, keys: u64) -> u64 {
    let once = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            repeat(0..keys, keys - 1);
            let began = Instant::now();
            repeat(0..2_000, keys - 1);
            began.elapsed()
        });
        thread.join().expect("nothing fails")
    });
    let calls = turn.as_nanos() * 2_000 / once.as_nanos().max(1);
    u64::try_from(calls).unwrap_or(u64::MAX).max(1_000)
}

pub async fn misses(plan: Plan, table: &Table) {
    let contenders: Contenders = vec![
        (Ours, repeat(ours::product)),
        (MokaSync, repeat(moka::miss)),
        (MokaFuture, repeat(moka::asynchronous::miss)),
        (Cached, repeat(plain::product)),
        (CachedBounded, repeat(bounded::product)),
        (CachedByKey, repeat(by_key::product)),
        (Hitbox, repeat(hitbox::product)),
        (HitboxOneLoad, repeat(hitbox::one_load::product)),
    ];
    let body = repeat(async |id| std::sync::Arc::new(work::product(id)));
    const CALLS: u64 = 5_000;
    let nanos = |repeat: &Repeat| {
        let numbers = fresh(CALLS);
        let began = Instant::now();
        repeat(numbers, u64::MAX);
        began.elapsed().as_nanos() as f64 / CALLS as f64
    };
    let [without_body] = by_turns(plan.rounds * 2, &contenders, async |repeat| {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| nanos(repeat) - nanos(&body));
            [thread.join().expect("nothing fails")]
        })
    })
    .await;
    table.heading("memory: misses");
    table.line(Lines::Memory, "a miss without its body: ns", &without_body);
}

pub fn future_sizes(table: &Table) {
    fn size<F: Future>(future: F) -> f64 {
        size_of_val(&future) as f64
    }
    let sizes = [
        (Ours, size(ours::product(7))),
        (MokaFuture, size(moka::asynchronous::product(7))),
        (Cached, size(plain::product(7))),
        (CachedBounded, size(bounded::product(7))),
        (CachedByKey, size(by_key::product(7))),
        (Hitbox, size(hitbox::product(7))),
        (HitboxOneLoad, size(hitbox::one_load::product(7))),
    ];
    table.heading("futures");
    table.line_because(
        Lines::Memory,
        "the future of `product(id)` in memory: bytes (hitbox boxes what it awaits)",
        &sizes,
        &[(MokaSync, "not asynchronous")],
    );
    let sizes = [
        (Ours, size(ours::redis_product(7))),
        (Validated, size(ours::validated_product(7))),
        (Redis, size(crate::contenders::by_hand::product(7))),
        (Cached, size(crate::contenders::cached::redis::product(7))),
        (Hitbox, size(hitbox::redis_product(7))),
    ];
    table.line(Lines::Redis, "the same in Redis: bytes", &sizes);
}
