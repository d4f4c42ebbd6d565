//! Functions that use several caches.

use cache_core::{
    CacheConfig, cache_invalidate, cache_invalidate_all, cache_result,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::{assert_value_keys, bodies, body, both, caches, stored, with_caches};

both!(
    case_023_no_argument_functions_of_different_caches,
    case_027_hit_with_an_invalidation_of_another_cache,
    case_028_two_invalidate_one,
    every_invalidation_has_its_own_key,
    every_invalidation_runs_even_if_another_fails,
    one_manager_for_each_attribute,
);

async fn case_023_no_argument_functions_of_different_caches() {
    #[cache_result(cache = "c1", manager = caches())]
    async fn f() -> u64 {
        body("f")
    }

    #[cache_result(cache = "c2", manager = caches())]
    async fn g() -> u64 {
        body("g")
    }

    #[cache_invalidate(cache = "c1", manager = caches())]
    #[cache_invalidate(cache = "c2", manager = caches())]
    async fn d() {}

    f().await;
    g().await;
    assert_value_keys(&["cache:c1:default-cache-key", "cache:c2:default-cache-key"]).await;
    d().await;
    assert_value_keys(&[]).await;
    f().await;
    g().await;
    assert_eq!((bodies("f"), bodies("g")), (2, 2));
}

async fn case_027_hit_with_an_invalidation_of_another_cache() {
    #[cache_result(cache = "c1", manager = caches())]
    #[cache_invalidate_all(cache = "c2", manager = caches())]
    async fn h(k: u32) -> String {
        format!("h {k} {}", body("h"))
    }

    #[cache_result(cache = "c2", manager = caches())]
    async fn g(k: u32) -> String {
        format!("g {k} {}", body("g"))
    }

    let first = h(1).await;
    g(1).await;
    assert_eq!(h(1).await, first);
    g(1).await;
    assert_eq!((bodies("h"), bodies("g")), (1, 2));
}

async fn case_028_two_invalidate_one() {
    #[cache_result(cache = "c1", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_result(cache = "c2", manager = caches())]
    async fn g(k: u32) -> u64 {
        u64::from(k) + body("g")
    }

    #[cache_invalidate(cache = "c1", manager = caches())]
    #[cache_invalidate(cache = "c2", manager = caches())]
    async fn d(k: u32) -> u32 {
        k
    }

    for k in [1, 2] {
        f(k).await;
        g(k).await;
    }
    assert_eq!(d(1).await, 1);
    for k in [1, 2] {
        f(k).await;
        g(k).await;
    }
    assert_eq!((bodies("f"), bodies("g")), (3, 3));
}

async fn every_invalidation_has_its_own_key() {
    #[cache_result(cache = "product", manager = caches())]
    async fn product(id: u64) -> u64 {
        body("product");
        id
    }

    #[cache_result(cache = "shelf", manager = caches())]
    async fn shelf(name: &str) -> String {
        body("shelf");
        name.to_owned()
    }

    #[cache_result(cache = "list", manager = caches())]
    async fn list(page: u32) -> u32 {
        body("list");
        page
    }

    #[cache_invalidate(cache = "product", key = id, manager = caches())]
    #[cache_invalidate_all(cache = "list", manager = caches())]
    #[cache_invalidate(cache = "shelf", key = from, manager = caches())]
    #[cache_invalidate(cache = "shelf", key = to, manager = caches())]
    async fn move_product(id: u64, from: &str, to: &str) -> Result<(), String> {
        let _ = (id, from, to);
        Ok(())
    }

    let read = async || {
        for id in [1, 2] {
            product(id).await;
        }
        for name in ["a", "b", "c"] {
            shelf(name).await;
        }
        for page in [1, 2] {
            list(page).await;
        }
        (bodies("product"), bodies("shelf"), bodies("list"))
    };
    assert_eq!(read().await, (2, 3, 2));
    assert_eq!(read().await, (2, 3, 2));
    move_product(1, "a", "b").await.expect("it never fails");
    assert_eq!(read().await, (3, 5, 4));
}

async fn every_invalidation_runs_even_if_another_fails() {
    #[cache_result(cache = "good", manager = caches())]
    async fn good(k: u32) -> u32 {
        body("good");
        k
    }

    #[cache_invalidate(cache = "good", manager = caches())]
    #[cache_invalidate(cache = "bad", manager = caches())]
    async fn inner_good(k: u32) -> u32 {
        k
    }

    #[cache_invalidate(cache = "bad", manager = caches())]
    #[cache_invalidate(cache = "good", manager = caches())]
    async fn outer_good(k: u32) -> u32 {
        k
    }

    #[cache_invalidate_all(cache = "bad", when = "before", manager = caches())]
    #[cache_invalidate_all(cache = "good", when = "before", manager = caches())]
    async fn before(k: u32) -> u32 {
        k
    }

    let backend = FaultyBackend::new(MapBackend::new());
    backend.fail(Operation::ALL);
    with_caches(
        |builder| {
            builder
                .cache("good", stored())
                .cache("bad", CacheConfig::on(backend))
        },
        async {
            good(1).await;
            assert_eq!(inner_good(1).await, 1);
            good(1).await;
            assert_eq!(outer_good(1).await, 1);
            good(1).await;
            assert_eq!(before(1).await, 1);
            good(1).await;
            assert_eq!(bodies("good"), 4);
        },
    )
    .await;
}

async fn one_manager_for_each_attribute() {
    let here = caches();
    let there = cache_core::CacheManager::builder()
        .build()
        .expect("the defaults are valid");

    #[cache_result(cache = "c", key = k, manager = manager)]
    async fn f(k: u32, manager: &cache_core::CacheManager) -> u64 {
        let _ = manager;
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key = k, manager = one)]
    #[cache_invalidate(cache = "c", key = k, manager = *other)]
    async fn d(k: u32, one: cache_core::CacheManager, other: &cache_core::CacheManager) {
        let _ = (k, one, other);
    }

    for manager in [&here, &there, &here, &there] {
        f(1, manager).await;
    }
    assert_eq!(bodies("f"), 2);
    d(1, here.clone(), &there).await;
    for manager in [&here, &there, &here, &there] {
        f(1, manager).await;
    }
    assert_eq!(bodies("f"), 4);
}
