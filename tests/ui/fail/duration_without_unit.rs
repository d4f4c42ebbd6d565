use cache_core::cache_result;

#[cache_result(cache = "c", ttl = 30, lock_timeout = "30")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", ttl = 30s, lock_timeout = 2.5s)]
async fn g(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", ttl = 60 * 5, lock_timeout = -1)]
async fn h(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", ttl = |v| v.ttl())]
async fn i(id: u64) -> u64 {
    id
}

fn main() {}
