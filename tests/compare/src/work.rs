//! The work that every contender does: a product by its number, a page of sixty products, and something slow.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hitbox_fn::CacheableResponse;
use serde::{Deserialize, Serialize};

/// A row as a shop has it. (What `hitbox` asks of a value is derived here, too.)
#[derive(Clone, Debug, Serialize, Deserialize, CacheableResponse)]
pub struct Product {
    id: u64,
    name: String,
    description: String,
    price: u64,
    tags: Vec<String>,
    in_stock: bool,
}

impl Product {
    fn new(id: u64, description: usize) -> Self {
        Self {
            id,
            name: format!("A product with the number {id}"),
            description: "x".repeat(description),
            price: 2990,
            tags: vec!["new".into(), "for the garden".into(), "sale".into()],
            in_stock: true,
        }
    }
}

/// 200 bytes, as bincode writes it.
pub fn product(id: u64) -> Product {
    BODIES.fetch_add(1, Ordering::Relaxed);
    Product::new(id, 135)
}

/// 8 KB, as bincode writes it.
pub fn list(category: &str, page: u32) -> Vec<Product> {
    let _ = category;
    BODIES.fetch_add(1, Ordering::Relaxed);
    let first = u64::from(page) * 60;
    (first..first + 60).map(|id| Product::new(id, 70)).collect()
}

/// The only category of the lists.
pub const CATEGORY: &str = "garden furniture";

/// How long the body of [`slow`] takes.
pub const SLOW: Duration = Duration::from_millis(50);

static BODIES: AtomicU64 = AtomicU64::new(0);

/// How often a body was run since this was asked last. Where hits are measured, that has to be never.
pub fn bodies() -> u64 {
    BODIES.swap(0, Ordering::Relaxed)
}

/// Says so if not all calls were hits.
pub fn expect_hits(what: &str) {
    let bodies = bodies();
    if bodies > 0 {
        eprintln!("compare: {bodies} of the calls were no hits: {what}");
    }
}

static SLOW_BODIES: AtomicU64 = AtomicU64::new(0);

/// A product that takes long to come by.
pub async fn slow(id: u64) -> Arc<Product> {
    SLOW_BODIES.fetch_add(1, Ordering::Relaxed);
    tokio::time::sleep(SLOW).await;
    Arc::new(product(id))
}

/// How often the body of [`slow`] was run since this was asked last.
pub fn slow_bodies() -> u64 {
    SLOW_BODIES.swap(0, Ordering::Relaxed)
}

/// How long entries live, and how many there may be, where that can be said.
pub const TTL: Duration = Duration::from_secs(3600);
pub const CAPACITY: u64 = 10_000;
/// The same where a hundred thousand are to be kept.
pub const LARGE_CAPACITY: u64 = 400_000;

/// Numbers that no contender has met.
pub fn fresh(how_many: u64) -> std::ops::Range<u64> {
    static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
    let first = NEXT.fetch_add(how_many, Ordering::Relaxed);
    first..first + how_many
}
