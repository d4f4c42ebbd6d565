use cache_core::cache_result;

#[cache_result(cache = "c", ttl = "0s", lock_timeout = "36501d")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
