use cache_core::{CacheName, cache_result};

struct Shop;

impl Shop {
    const CACHE: CacheName<u64> = CacheName::new("c");

    #[cache_result(cache = Self::CACHE)]
    async fn f(&self, id: u64) -> u64 {
        id
    }
}

fn main() {}
