use cache_core::cache_result;

#[cache_result(cache = "c")]
async fn f(#[cache_key] #[cache_key(hash)] id: u64) -> u64 {
    id
}

fn main() {}
