//! What a cache in memory costs through the attributes, beside moka by hand. What it allocates is told by `costs`.
//!
//! `cargo bench -p cache-core --bench memory`

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cache_core::{cache_invalidate, cache_invalidate_all};
use divan::Bencher;

use self::work::{Product, list, moka, now, product, product_by_value};

mod work;

fn main() {
    divan::main();
}

/// Keys that were never used before.
fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1_000_000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cache_invalidate(cache = "product")]
async fn change(#[cache_key] id: u64) {
    let _ = id;
}

#[cache_invalidate_all(cache = "product")]
async fn change_all() {}

#[divan::bench_group(threads = [1, 2], sample_count = 200, sample_size = 5_000)]
mod hit {
    use super::*;

    #[divan::bench]
    fn moka_get(bencher: Bencher<'_, '_>) {
        let moka = moka();
        moka.insert(7, Arc::new(Product::new(7)));
        bencher.bench(|| drop(black_box(moka.get(&black_box(7)))));
    }

    #[divan::bench]
    fn product_u64(bencher: Bencher<'_, '_>) {
        now(product(7));
        bencher.bench(|| drop(black_box(now(product(black_box(7))))));
    }

    /// Each thread its own key.
    #[divan::bench]
    fn product_u64_apart(bencher: Bencher<'_, '_>) {
        bencher.bench(|| drop(black_box(now(product(own_number())))));
    }

    #[divan::bench]
    fn product_u64_by_value(bencher: Bencher<'_, '_>) {
        now(product_by_value(7));
        bencher.bench(|| drop(black_box(now(product_by_value(black_box(7))))));
    }

    #[divan::bench]
    fn clone_alone(bencher: Bencher<'_, '_>) {
        let product = Product::new(7);
        bencher.bench(|| drop(black_box(black_box(&product).clone())));
    }

    /// The same by a function that is awaited, as an annotated one is: what it returns is moved more often.
    #[divan::bench]
    fn clone_awaited(bencher: Bencher<'_, '_>) {
        async fn cloned(product: &Product) -> Product {
            product.clone()
        }
        let product = Product::new(7);
        bencher.bench(|| drop(black_box(now(cloned(black_box(&product))))));
    }

    #[divan::bench]
    fn list_str_u32(bencher: Bencher<'_, '_>) {
        now(list("tables", 3));
        bencher.bench(|| drop(black_box(now(list(black_box("tables"), black_box(3))))));
    }

    fn own_number() -> u64 {
        thread_local!(static OWN: u64 = fresh());
        OWN.with(|own| *own)
    }
}

#[divan::bench_group(sample_count = 100, sample_size = 100)]
mod miss {
    use super::*;

    #[divan::bench]
    fn moka_get_with(bencher: Bencher<'_, '_>) {
        let moka = moka();
        bencher.with_inputs(fresh).bench_local_values(|id| {
            drop(black_box(moka.get_with(id, || Arc::new(Product::new(id)))))
        });
    }

    #[divan::bench]
    fn product_u64(bencher: Bencher<'_, '_>) {
        bencher
            .with_inputs(fresh)
            .bench_local_values(|id| drop(black_box(now(product(id)))));
    }

    /// What both of the above compute.
    #[divan::bench]
    fn body_alone(bencher: Bencher<'_, '_>) {
        bencher
            .with_inputs(fresh)
            .bench_local_values(|id| drop(black_box(Arc::new(Product::new(id)))));
    }
}

#[divan::bench_group(sample_count = 100, sample_size = 100)]
mod invalidate {
    use super::*;

    #[divan::bench]
    fn moka_invalidate(bencher: Bencher<'_, '_>) {
        let moka = moka();
        bencher
            .with_inputs(|| {
                let id = fresh();
                moka.insert(id, Arc::new(Product::new(id)));
                id
            })
            .bench_local_values(|id| moka.invalidate(&id));
    }

    #[divan::bench]
    fn product_u64(bencher: Bencher<'_, '_>) {
        bencher
            .with_inputs(|| {
                let id = fresh();
                now(product(id));
                id
            })
            .bench_local_values(|id| now(change(id)));
    }

    #[divan::bench(args = [10, 10_000], sample_count = 20, sample_size = 1)]
    fn all(bencher: Bencher<'_, '_>, entries: u64) {
        bencher
            .with_inputs(|| (0..entries).for_each(|id| drop(now(product(id)))))
            .bench_local_values(|()| now(change_all()));
    }
}
