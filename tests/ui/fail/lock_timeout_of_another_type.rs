use cache_core::cache_result;

#[cache_result(cache = "c", lock_timeout = 2 * 3)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", ttl = id)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
