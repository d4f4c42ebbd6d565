use cache_core::cache_result;

#[cache_result(cache = "c", crate = "cache_core")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
