use cache_core::{cache_invalidate, cache_result};

#[cache_result(name = "c", time = 60, unless = "result == null", sync = true, size = 100, option = true, convert = id)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(value = "x", cache = "c", sync, timeout = 5, store_if = v -> v > 3)]
async fn g(id: u64) -> u64 {
    id
}

#[cache_invalidate(cacheNames = "c", allEntries = true, beforeInvocation = true, filter = id > 3, unless = 7)]
async fn h(id: u64) -> u64 {
    id
}

fn main() {}
