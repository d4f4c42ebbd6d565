//! How much a cache in memory keeps of what is asked for, beside moka by hand: the same trace through both.
//!
//! `cargo bench -p cache-core --bench hit_ratio`

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use cache_core::{CacheConfig, CacheManager};

use self::work::{Product, now};

mod work;

/// Keys there are.
const KEYS: usize = 100_000;
const CALLS: usize = 2_000_000;

fn main() {
    println!(
        "Zipf over {KEYS} keys, {CALLS} calls; hits in percent, ns per call, misses included\n"
    );
    println!("exponent capacity     moka     ours   points |  moka ns  ours ns");
    for exponent in [0.7, 0.9, 1.0, 1.1] {
        let trace = zipf(exponent);
        for capacity in [200, 1_000, 10_000] {
            let (moka, moka_time) = moka_alone(&trace, capacity);
            let (ours, our_time) = ours(&trace, capacity);
            println!(
                "{exponent:>8} {capacity:>8} {moka:>8.2} {ours:>8.2} {:>8.2} | {moka_time:>8.0} {our_time:>8.0}",
                ours - moka
            );
        }
    }
}

fn moka_alone(trace: &[u32], capacity: u64) -> (f64, f64) {
    let cache = moka::sync::Cache::builder()
        .max_capacity(capacity)
        .time_to_live(Duration::from_secs(300))
        .build();
    let mut misses = 0;
    let began = Instant::now();
    for &key in trace {
        let key = u64::from(key);
        if cache.get(&key).is_none() {
            misses += 1;
            cache.insert(key, Arc::new(Product::new(key)));
        }
    }
    result(misses, began)
}

fn ours(trace: &[u32], capacity: u64) -> (f64, f64) {
    let manager = CacheManager::builder()
        .defaults(CacheConfig::memory().max_capacity(capacity))
        .build()
        .expect("a valid configuration");
    let cache = manager.cache("product").expect("a valid name");
    let mut misses = 0;
    let began = Instant::now();
    for &key in trace {
        let key = u64::from(key);
        let load = async {
            misses += 1;
            Arc::new(Product::new(key))
        };
        black_box(now(cache.get_or_load(&key, load)));
    }
    result(misses, began)
}

#[allow(clippy::cast_precision_loss)]
fn result(misses: usize, began: Instant) -> (f64, f64) {
    let time = began.elapsed().as_nanos() as f64 / CALLS as f64;
    (100.0 * (1.0 - misses as f64 / CALLS as f64), time)
}

/// Keys by rank, the same in every run: rank `i` comes in proportion to `1 / i ^ exponent`.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)]
fn zipf(exponent: f64) -> Vec<u32> {
    let mut sum = 0.0;
    let cumulated: Vec<f64> = (1..=KEYS)
        .map(|rank| {
            sum += (rank as f64).powf(-exponent);
            sum
        })
        .collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..CALLS)
        .map(|_| {
            let at = random() * sum;
            cumulated.partition_point(|&below| below < at) as u32
        })
        .collect()
}
