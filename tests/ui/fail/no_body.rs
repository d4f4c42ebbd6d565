use cache_core::cache_result;

trait Products {
    #[cache_result(cache = "c")]
    async fn f(&self, id: u64) -> u64;
}

fn main() {}
