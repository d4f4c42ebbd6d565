//! The attributes and what they call come from a facade.

use facade::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};

struct Shop {
    caches: facade::caching::CacheManager,
}

const DOUBLES: facade::caching::CacheName<u64> = facade::caching::CacheName::new("doubles");

impl Shop {
    #[cache_result(cache = DOUBLES, manager = self.caches, crate = facade::caching)]
    async fn double(&self, #[cache_key] id: u64, calls: &mut Vec<u64>) -> Result<u64, String> {
        calls.push(id);
        Ok(id * 2)
    }

    #[cache_put(cache = "doubles", key_with = |n: &u64| n / 2, manager = self.caches, crate = ::facade::caching)]
    #[cache_invalidate_all(cache = "others", manager = self.caches)]
    async fn put(&self, id: u64) -> u64 {
        id * 2
    }

    #[cache_invalidate(cache = "doubles", manager = self.caches, crate = facade::caching)]
    async fn forget(&self, id: u64) {
        assert!(id > 0);
    }
}

#[tokio::test]
async fn b02_every_attribute_works_through_a_facade() {
    let caches = facade::caching::CacheManager::builder().build();
    let shop = Shop {
        caches: caches.expect("the defaults are valid"),
    };
    let double = async |id| {
        let mut calls = Vec::new();
        let double = shop.double(id, &mut calls).await;
        (double, calls.len())
    };
    assert_eq!(double(3).await, (Ok(6), 1));
    assert_eq!(double(3).await, (Ok(6), 0));
    shop.forget(3).await;
    assert_eq!(double(3).await, (Ok(6), 1));
    assert_eq!(shop.put(4).await, 8);
    assert_eq!(double(4).await, (Ok(8), 0));
}
