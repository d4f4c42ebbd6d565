//! What an annotated function makes of its parameters and options.

use std::time::Duration;

use cache_core::{
    Cache, CacheConfig, CacheManager, cache_invalidate, cache_invalidate_all, cache_put,
    cache_result,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::{bodies, body, both, caches};

both!(
    b03_parameters_that_are_patterns,
    b03_parameters_that_the_body_changes,
    b04_arrays_of_any_length,
    b12_every_invalidation_runs,
    order_does_not_depend_on_the_text,
    key_from_the_value,
    condition_is_looked_at_before_the_key,
);

async fn b03_parameters_that_are_patterns() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f((page, size): (u32, u32), _: u8, _unused: bool, r#type: String) -> u64 {
        u64::from(page * size) + type_len(&r#type) + body("f")
    }
    fn type_len(text: &str) -> u64 {
        text.len() as u64
    }

    let value = f((2, 3), 4, true, "x".to_owned()).await;
    assert_eq!(f((2, 3), 4, true, "x".to_owned()).await, value);
    assert_eq!(bodies("f"), 1);
    let cache: Cache<u64> = caches().cache("c").unwrap();
    assert_eq!(cache.get(&((2, 3), 4, true, "x")).await, Some(value));
    // All of them are in the key.
    f((3, 2), 4, true, "x".to_owned()).await;
    f((2, 3), 5, true, "x".to_owned()).await;
    f((2, 3), 4, false, "x".to_owned()).await;
    assert_eq!(bodies("f"), 4);
}

async fn b03_parameters_that_the_body_changes() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(mut limit: u32, mut name: String) -> String {
        limit += 1;
        name.push_str(&limit.to_string());
        body("f");
        name
    }

    assert_eq!(f(1, "a".to_owned()).await, "a2");
    assert_eq!(f(1, "a".to_owned()).await, "a2");
    assert_eq!(bodies("f"), 1);
    let cache: Cache<String> = caches().cache("c").unwrap();
    assert_eq!(cache.get(&(1, "a")).await.as_deref(), Some("a2"));
}

async fn b04_arrays_of_any_length() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f<const N: usize>(names: [&str; N]) -> usize {
        body("f");
        names.len()
    }

    assert_eq!(f([]).await, 0);
    assert_eq!(f(["a"]).await, 1);
    assert_eq!(f(["a", "b"]).await, 2);
    assert_eq!(f(["a", "b"]).await, 2);
    assert_eq!(f(["a"; 40]).await, 40);
    assert_eq!(bodies("f"), 4);
}

async fn filled(name: &str) -> Cache<u64> {
    let cache = caches().cache(name).unwrap();
    cache.insert(&1, 10).await.unwrap();
    cache.insert(&2, 20).await.unwrap();
    cache
}

async fn b12_every_invalidation_runs() {
    #[cache_invalidate(cache = "a", manager = caches(), key = first)]
    #[cache_invalidate_all(cache = "c", manager = caches())]
    #[cache_invalidate(cache = "b", manager = caches(), key = second)]
    async fn f(first: u64, second: u64) {
        body("f");
        assert!(first < second);
    }

    let (a, b, c) = (filled("a").await, filled("b").await, filled("c").await);
    f(1, 2).await;
    assert_eq!((a.get(&1).await, a.get(&2).await), (None, Some(20)));
    assert_eq!((b.get(&1).await, b.get(&2).await), (Some(10), None));
    assert_eq!((c.get(&1).await, c.get(&2).await), (None, None));
    assert_eq!(bodies("f"), 1);
}

#[tokio::test]
async fn b12_one_that_fails_does_not_keep_the_others_from_running() {
    let backend = FaultyBackend::new(MapBackend::new());
    let caches = CacheManager::builder()
        .cache("a", CacheConfig::on(backend.clone()))
        .build()
        .expect("valid settings");

    #[cache_invalidate(cache = "a", manager = caches)]
    #[cache_invalidate_all(cache = "c", manager = caches)]
    #[cache_invalidate(cache = "b", manager = caches)]
    async fn f(#[cache_key] id: u64, caches: &CacheManager) -> Result<u64, String> {
        let _ = caches;
        Ok(id)
    }

    let (b, c): (Cache<u64>, Cache<u64>) = (caches.cache("b").unwrap(), caches.cache("c").unwrap());
    b.insert(&1, 10).await.unwrap();
    c.insert(&1, 10).await.unwrap();
    backend.fail(Operation::ALL);
    assert_eq!(f(1, &caches).await, Ok(1));
    assert_eq!((b.get(&1).await, c.get(&1).await), (None, None));
    assert_eq!(caches.stats()["a"].pending_invalidations, 1);
}

async fn order_does_not_depend_on_the_text() {
    // Each removes what it would find: were the invalidation to come after the store, nothing would be left.
    #[cache_result(cache = "c", manager = caches())]
    #[cache_invalidate(cache = "c", manager = caches())]
    async fn below(id: u64) -> u64 {
        id + body("refresh")
    }
    #[cache_invalidate_all(cache = "c", manager = caches())]
    #[cache_put(cache = "c", manager = caches())]
    async fn above(id: u64) -> u64 {
        id + body("refresh")
    }

    let cache: Cache<u64> = caches().cache("c").unwrap();
    assert_eq!(below(1).await, 1);
    assert_eq!(cache.get(&1).await, Some(1));
    assert_eq!(below(1).await, 2);
    assert_eq!(cache.get(&1).await, Some(2));
    assert_eq!(above(5).await, 7);
    assert_eq!((cache.get(&1).await, cache.get(&5).await), (None, Some(7)));
}

async fn key_from_the_value() {
    #[cache_put(cache = "c", manager = caches(), key_with = |v: &(u64, String)| (v.0, v.1.as_str()))]
    async fn create(id: u64) -> Result<(u64, String), String> {
        Ok((id, format!("p{id}")))
    }
    #[cache_put(cache = "c", manager = caches(), key_with = |v: &(u64, String)| -> (u64, Box<str>) { (v.0, v.1.as_str().into()) })]
    async fn replace(id: u64) -> (u64, String) {
        (id, format!("p{id}"))
    }
    #[cache_invalidate(cache = "c", manager = caches(), key_with = Clone::clone, invalidate_if = |v| v.0 > 1)]
    async fn remove(id: u64) -> (u64, String) {
        (id, format!("p{id}"))
    }

    let cache: Cache<(u64, String)> = caches().cache("c").unwrap();
    for id in [1, 2] {
        assert_eq!(create(id).await, Ok((id, format!("p{id}"))));
        assert_eq!(
            cache.get(&(id, format!("p{id}"))).await,
            Some((id, format!("p{id}")))
        );
        remove(id).await;
    }
    assert_eq!(cache.get(&(1, "p1")).await, Some((1, "p1".to_owned())));
    assert_eq!(cache.get(&(2, "p2")).await, None);
    replace(2).await;
    assert_eq!(cache.get(&(2, "p2")).await, Some((2, "p2".to_owned())));
}

async fn condition_is_looked_at_before_the_key() {
    #[cache_result(cache = "c", manager = caches(), condition = id < 10, key = 100 / (10 - id), ttl = Duration::from_secs(id + 1))]
    async fn f(id: u64) -> u64 {
        body("f")
    }

    assert_eq!(f(10).await, 0);
    assert_eq!(f(10).await, 1);
    assert_eq!(f(5).await, 2);
    assert_eq!(f(5).await, 2);
}

#[test]
fn nothing_happens_before_the_first_poll() {
    #[cache_result(cache = "c", manager = panicking(), ttl = panicking(), condition = panicking())]
    async fn f(id: u64) -> u64 {
        id
    }
    fn panicking<T>() -> T {
        panic!("evaluated")
    }
    drop(f(1));
}
