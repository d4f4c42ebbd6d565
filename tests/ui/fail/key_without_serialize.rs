use cache_core::{cache_invalidate, cache_put, cache_result};

struct Tenant;

#[cache_result(cache = "c")]
async fn f(#[cache_key] tenant: &Tenant, #[cache_key(hash)] other: Tenant, id: u64) -> u64 {
    id
}

#[cache_put(cache = "c")]
async fn g<T: Send + Sync>(id: u64, (a, b): (T, u64)) -> u64 {
    id + b
}

struct Shop;

impl Shop {
    #[cache_invalidate(cache = "c")]
    async fn h(&self, id: u64, tenants: Vec<Tenant>) {}
}

fn main() {}
