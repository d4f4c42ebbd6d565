use cache_core::cache_result;

#[cache_result(cache = "c", ttl_with = |v: &u64| *v)]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
