use cache_core::cache_result;

struct Shop {
    caches: Option<cache_core::CacheManager>,
}

impl Shop {
    #[cache_result(cache = "c", manager = self.caches)]
    async fn f(&self, id: u64) -> u64 {
        id
    }
}

fn main() {}
