use cache_core::cache_result;

#[cache_result(cache = "c", ttl = "30s", ttl = "40s")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
