//! Instructions and allocations of one call, beside what they were when `costs.txt` was written. Both are the same in every
//! run, whatever else the machine does. Needs valgrind.
//!
//! `cargo bench -p cache-core --bench costs` prints them; with `-- --write` it writes them down, and so does whoever makes
//! a call dearer or cheaper on purpose.

use std::{
    hint::black_box,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cache_core::cache_invalidate;

use self::work::{Product, list, moka, now, product, product_by_value};

mod counted;
mod work;

/// A call, again and again.
type Calls = fn(calls: u64);

const PATHS: [(&str, Calls); 8] = [
    ("hit: moka get, u64", |calls| {
        let moka = moka();
        moka.insert(7, Arc::new(Product::new(7)));
        repeat(calls, |_| moka.get(&black_box(7)));
    }),
    ("hit: u64 to Arc", |calls| {
        repeat(calls, |_| now(product(black_box(7))));
    }),
    ("hit: u64 to value", |calls| {
        repeat(calls, |_| now(product_by_value(black_box(7))));
    }),
    ("clone of that value", |calls| {
        let product = Product::new(7);
        repeat(calls, |_| black_box(&product).clone());
    }),
    ("hit: (&str, u32) to Arc", |calls| {
        repeat(calls, |_| now(list(black_box("tables"), black_box(3))));
    }),
    ("miss: moka get_with, u64", |calls| {
        let moka = moka();
        repeat(calls, |id| moka.get_with(id, || Arc::new(Product::new(id))));
    }),
    ("miss: u64 to Arc", |calls| {
        // Both counts are of one process: what the first run has loaded is no miss in the second.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let first = NEXT.fetch_add(calls, Ordering::Relaxed);
        repeat(calls, |id| now(product(first + id)));
    }),
    ("invalidate: u64, not there", |calls| {
        repeat(calls, |id| now(change(id)));
    }),
];

#[cache_invalidate(cache = "product")]
async fn change(#[cache_key] id: u64) {
    let _ = id;
}

fn repeat<T>(calls: u64, call: impl Fn(u64) -> T) {
    for id in 0..calls {
        drop(black_box(call(id)));
    }
}

fn main() {
    if let Some((path, calls, _)) = counted::run() {
        return PATHS[path].1(calls);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/costs.txt");
    counted::print("call", [2_000, 6_000], &PATHS, &[], &file);
}
