//! The parameters that make up a key.

use std::collections::HashMap;

use cache_core::{cache_invalidate, cache_result};
use tests::{assert_value_keys, bodies, body, both, caches};

both!(
    case_004_two_arguments_order_counts,
    case_006_marked_parameters_only,
    case_008_invalidator_with_another_parameter_layout,
    case_009_swapped_key_order_in_the_invalidator_finds_nothing,
    case_011_one_marked_parameter_is_that_argument_itself,
    case_013_none_as_the_only_argument,
    references_and_owned_values_are_the_same_key,
    maps_are_keys_whatever_their_order,
    the_key_is_made_of_the_arguments_as_they_came,
);

async fn case_004_two_arguments_order_counts() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(a: i64, b: i64) -> String {
        format!("f {a} {b} {}", body("f"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn g(a: i64, b: i64) -> String {
        format!("g {a} {b} {}", body("g"))
    }

    let first = f(1, 2).await;
    assert_eq!(g(1, 2).await, first);
    assert_eq!(g(2, 1).await, "g 2 1 0");
    assert_eq!((bodies("f"), bodies("g")), (1, 1));
    assert_value_keys(&["cache:c:[1,2]", "cache:c:[2,1]"]).await;
}

async fn case_006_marked_parameters_only() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] a: &str, other: &str, #[cache_key] b: &str) -> String {
        format!("{a} {other} {b} {}", body("f"))
    }

    let first = f("hello", "a", "1").await;
    assert_eq!(f("hello", "b", "1").await, first);
    assert_eq!(bodies("f"), 1);
    assert_value_keys(&[r#"cache:c:["hello","1"]"#]).await;
}

async fn case_008_invalidator_with_another_parameter_layout() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] a: &str, #[cache_key] b: u32, x: bool) -> String {
        format!("{a} {b} {x} {}", body("f"))
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(x: char, #[cache_key] a: &str, #[cache_key] b: u32) {
        let _ = (x, a, b);
    }

    f("a1", 1, true).await;
    f("a2", 2, true).await;
    d('x', "a1", 1).await;
    f("a2", 2, false).await;
    assert_eq!(bodies("f"), 2);
    f("a1", 1, false).await;
    assert_eq!(bodies("f"), 3);
}

/// The warning about it is tested in `check_keys.rs`.
async fn case_009_swapped_key_order_in_the_invalidator_finds_nothing() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(a: String, b: i32) -> String {
        format!("{a} {b} {}", body("f"))
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(b: i32, a: String) {
        let _ = (a, b);
    }

    f("a".to_owned(), 1).await;
    d(1, "a".to_owned()).await;
    f("a".to_owned(), 1).await;
    assert_eq!(bodies("f"), 1);
}

async fn case_011_one_marked_parameter_is_that_argument_itself() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(#[cache_key] a: i32, b: i32) -> String {
        format!("{a} {b} {}", body("f"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn g(a: i32) -> String {
        format!("{a} {}", body("g"))
    }

    let first = f(5, 1).await;
    assert_eq!(f(5, 2).await, first);
    assert_eq!(g(5).await, first);
    f(1, 5).await;
    f(2, 5).await;
    assert_eq!((bodies("f"), bodies("g")), (3, 0));
    assert_value_keys(&["cache:c:1", "cache:c:2", "cache:c:5"]).await;
}

async fn case_013_none_as_the_only_argument() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: Option<String>) -> String {
        body("f");
        format!("{k:?}")
    }

    assert_eq!(f(None).await, "None");
    assert_eq!(f(None).await, "None");
    assert_eq!(f(Some("null".to_owned())).await, r#"Some("null")"#);
    assert_eq!(f(Some("x".to_owned())).await, r#"Some("x")"#);
    assert_eq!(bodies("f"), 3);
    assert_value_keys(&[r#"cache:c:"null""#, "cache:c:null", "cache:c:x"]).await;
}

async fn references_and_owned_values_are_the_same_key() {
    #[cache_result(cache = "c", manager = caches())]
    async fn owned(name: String, tags: Vec<String>) -> u64 {
        let _ = (name, tags);
        body("owned")
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn borrowed(name: &str, tags: &[&str]) -> u64 {
        let _ = (name, tags);
        body("borrowed")
    }

    owned("n".to_owned(), vec!["a".to_owned()]).await;
    borrowed("n", &["a"]).await;
    assert_eq!((bodies("owned"), bodies("borrowed")), (1, 0));
}

async fn maps_are_keys_whatever_their_order() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(settings: HashMap<String, u32>) -> usize {
        body("f");
        settings.len()
    }

    for _ in 0..5 {
        // Every map hashes with a seed, and so has an order, of its own.
        f((0..20).map(|n| (n.to_string(), n)).collect()).await;
    }
    assert_eq!(bodies("f"), 1);
}

async fn the_key_is_made_of_the_arguments_as_they_came() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(mut n: u32, (mut page, size): (u32, u32)) -> u32 {
        body("f");
        n += 1;
        page += 1;
        n + page + size
    }

    assert_eq!(f(1, (2, 3)).await, 8);
    assert_eq!(f(1, (2, 3)).await, 8);
    assert_eq!(bodies("f"), 1);
    assert_value_keys(&["cache:c:[1,[2,3]]"]).await;
}
