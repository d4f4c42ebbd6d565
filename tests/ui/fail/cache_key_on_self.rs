use cache_core::cache_result;

struct Shop;

impl Shop {
    #[cache_result(cache = "c")]
    async fn f(#[cache_key] &self, id: u64) -> u64 {
        id
    }
}

fn main() {}
