use cache_core::cache_result;

#[cache_result(cache = "c")]
async fn f(#[cache_key(digest)] a: u64, #[cache_key()] b: u64, #[cache_key = "hash"] c: u64) -> u64 {
    a + b + c
}

fn main() {}
