use cache_core::{cache_put, cache_result};

struct Tenant;

#[cache_result(cache = "c", key = (id, tenant()))]
async fn f(id: u64) -> u64 {
    id
}

#[cache_put(cache = "c", key_with = |v: &u64| (*v, Tenant))]
async fn g() -> u64 {
    7
}

fn tenant() -> Tenant {
    Tenant
}

fn main() {}
