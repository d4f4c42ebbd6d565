//! The same entries from annotated functions and from handles.

use cache_core::{Cache, cache_put, cache_result};
use tests::{assert_value_keys, bodies, body, both, caches};

both!(
    case_094_function_and_handle_share_their_entries,
    case_094_keys_of_both_sides_are_the_same_texts,
    case_096_insert_then_hit_then_invalidate,
    case_097_put_attribute,
    case_097_a_put_without_a_store_takes_the_old_value_away,
);

fn handle<V: Clone + Send + Sync + 'static>() -> Cache<V> {
    caches().cache("c").expect("a valid name")
}

async fn case_094_function_and_handle_share_their_entries() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: i32) -> String {
        format!("body {}", body("f"))
    }

    async fn load() -> String {
        format!("loader {}", body("loader"))
    }

    let cache = handle::<String>();
    assert_eq!(f(1).await, "body 0");
    assert_eq!(cache.get_or_load(&1, load()).await, "body 0");
    assert_eq!(cache.get_or_load(&2, load()).await, "loader 0");
    assert_eq!(f(2).await, "loader 0");
    assert_value_keys(&["cache:c:1", "cache:c:2"]).await;
    assert_eq!(cache.invalidate(&1).await.ok(), Some(true));
    assert_eq!(cache.invalidate(&1).await.ok(), Some(false));
    assert_eq!(f(1).await, "body 1");
    assert_eq!((bodies("f"), bodies("loader")), (2, 1));

    let failing = cache.try_get_or_load(&3, async { Err::<String, _>("no") });
    assert_eq!(failing.await, Err("no"));
    let answer = cache.try_get_or_load(&2, async { Err::<String, _>("no") });
    assert_eq!(answer.await.as_deref(), Ok("loader 0"));
}

async fn case_094_keys_of_both_sides_are_the_same_texts() {
    #[cache_result(cache = "c", manager = caches())]
    async fn none() -> u64 {
        body("none")
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn text(_k: &str) -> u64 {
        body("text")
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn two(_a: u32, _b: Option<&str>) -> u64 {
        body("two")
    }

    let cache = handle::<u64>();
    for (key, value) in [("42", 1), ("größe", 2)] {
        cache.insert(key, value).await.expect("the store answers");
        assert_eq!(text(key).await, value);
    }
    cache.insert(&(), 3).await.expect("the store answers");
    assert_eq!(none().await, 3);
    let inserted = cache.insert(&(7, Some("x")), 4).await;
    inserted.expect("the store answers");
    assert_eq!(two(7, Some("x")).await, 4);
    assert_value_keys(&[
        "cache:c:\"42\"",
        "cache:c:[7,\"x\"]",
        "cache:c:default-cache-key",
        "cache:c:größe",
    ])
    .await;
    assert_eq!(bodies("none") + bodies("text") + bodies("two"), 0);
}

async fn case_096_insert_then_hit_then_invalidate() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: i32) -> u64 {
        body("f")
    }

    let cache = handle::<u64>();
    cache.insert(&1, 7).await.expect("the store answers");
    assert_value_keys(&["cache:c:1"]).await;
    assert_eq!(f(1).await, 7);
    assert_eq!(cache.invalidate(&1).await.ok(), Some(true));
    assert_eq!(cache.get(&1).await, None);
    assert_value_keys(&[]).await;
    assert_eq!(bodies("f"), 0);
}

async fn case_097_put_attribute() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: i32) -> String {
        format!("read {}", body("f"))
    }

    #[cache_put(cache = "c", manager = caches())]
    async fn update(#[cache_key] _k: i32, fail: bool) -> Result<String, String> {
        let value = format!("written {}", body("update"));
        if fail { Err(value) } else { Ok(value) }
    }

    assert_eq!(update(1, false).await.as_deref(), Ok("written 0"));
    assert_eq!(update(1, false).await.as_deref(), Ok("written 1"));
    assert_eq!(f(1).await, "written 1");
    assert_eq!(update(1, true).await, Err("written 2".to_owned()));
    assert_eq!(f(1).await, "written 1");
    assert_eq!((bodies("update"), bodies("f")), (3, 0));
    assert_value_keys(&["cache:c:1"]).await;
}

async fn case_097_a_put_without_a_store_takes_the_old_value_away() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(_k: i32) -> u64 {
        body("f")
    }

    #[cache_put(cache = "c", store_if = |n: &u64| *n > 100, manager = caches())]
    async fn update(#[cache_key] _k: i32, value: u64) -> u64 {
        value
    }

    update(1, 101).await;
    assert_eq!(f(1).await, 101);
    update(1, 100).await;
    // What was stored is no longer true, and what is true was not to be stored.
    assert_eq!(f(1).await, 0);
    assert_eq!(bodies("f"), 1);
}
