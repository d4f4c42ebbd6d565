use cache_core::{CacheName, cache_invalidate, cache_result};

const PRODUCT: CacheName<u64> = CacheName::new("product");

#[cache_result(cache = PRODUCT)]
#[cache_invalidate(cache = "product")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "product")]
#[cache_invalidate(cache = self::PRODUCT, when = "always")]
async fn g(id: u64) -> u64 {
    id
}

// Before the body it may be.
#[cache_result(cache = "product")]
#[cache_invalidate(cache = PRODUCT, when = "before")]
async fn h(id: u64) -> u64 {
    id
}

fn main() {}
