use cache_core::cache_result;

#[cache_result(cache = "c", key = (id, ttl = "30s")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
