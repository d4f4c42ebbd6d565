use cache_core::cache_result;

#[cache_result(cache = "c")]
struct Product {
    id: u64,
}

fn main() {}
