use cache_core::cache_result;

#[cache_result(cache = "c", ttl = "30 seconds", lock_timeout = "1.5s")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
