#![deny(deprecated, unused_must_use)]

use cache_core::{cache_put, cache_result};

#[deprecated]
#[cache_put(cache = "c")]
async fn old(id: u64) -> u64 {
    id
}

#[must_use]
#[cache_result(cache = "c")]
async fn needed(id: u64) -> u64 {
    id
}

async fn callers() {
    old(1).await;
    needed(1).await;
    needed(2);
}

fn main() {}
