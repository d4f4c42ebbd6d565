//! What `check()` says about keys that fit no reader.
//!
//! It speaks of every function of the program that names no manager, so this program has these and no others.

use cache_core::{
    CacheError, CacheManager, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
};

#[cache_result(cache = "swapped")]
async fn case_009_reader(a: String, b: i32) -> String {
    format!("{a} {b}")
}

#[cache_invalidate(cache = "swapped")]
async fn case_009_invalidator(b: i32, a: String) {
    let _ = (a, b);
}

/// References, the width of an integer and the owner of a string do not show in a key.
mod fits {
    use super::*;
    use std::{borrow::Cow, sync::Arc};

    #[cache_result(cache = "fits")]
    pub(super) async fn reader(#[cache_key] a: &str, trace: bool, #[cache_key] b: u64) -> u8 {
        let _ = (a, trace, b);
        1
    }

    #[cache_put(cache = "fits", key_with = |v: &u8| *v)]
    pub(super) async fn any_key() -> u8 {
        1
    }

    #[cache_invalidate(cache = "fits")]
    pub(super) async fn owned(a: String, b: i32) {
        let _ = (a, b);
    }

    #[cache_invalidate(cache = "fits")]
    pub(super) async fn shared(a: Arc<str>, b: &u64) {
        let _ = (a, b);
    }

    #[cache_invalidate(cache = "fits")]
    pub(super) async fn cow(a: Cow<'_, str>, #[cache_key] b: u64, #[cache_key] c: u64) {
        let _ = (a, b, c);
    }

    #[cache_invalidate(cache = "fits", key = pair)]
    pub(super) async fn pair(pair: (&str, u64), trace: bool) {
        let _ = (pair, trace);
    }

    #[cache_invalidate(cache = "fits", key = ("a", b))]
    pub(super) async fn literal(b: u64) {
        let _ = b;
    }

    #[cache_invalidate_all(cache = "fits")]
    pub(super) async fn all(whatever: bool) {
        let _ = whatever;
    }

    #[cache_invalidate(cache = "nobody-reads-it")]
    pub(super) async fn nothing_to_compare_with(a: bool) {
        let _ = a;
    }
}

mod readers_of_several_shapes {
    use super::*;

    #[cache_result(cache = "several")]
    pub(super) async fn by_id(id: u64) -> u8 {
        let _ = id;
        1
    }

    #[cache_result(cache = "several")]
    pub(super) async fn by_name(name: &str, page: u32) -> u8 {
        let _ = (name, page);
        1
    }

    #[cache_invalidate(cache = "several")]
    pub(super) async fn fits_the_first(id: &u64) {
        let _ = id;
    }

    #[cache_invalidate(cache = "several", key = (name, page))]
    pub(super) async fn fits_the_second(page: u32, name: String) {
        let _ = (page, name);
    }

    #[cache_invalidate(cache = "several")]
    pub(super) async fn wrong_type(id: Option<u64>) {
        let _ = id;
    }

    #[cache_invalidate(cache = "several", key = other)]
    pub(super) async fn wrong_variable(id: u64, other: bool) {
        let _ = (id, other);
    }

    #[cache_invalidate(cache = "several")]
    pub(super) async fn wrong_number(name: &str, page: u32, size: u32) {
        let _ = (name, page, size);
    }
}

#[test]
fn case_009_swapped_key_order_in_the_invalidator() {
    let manager = CacheManager::builder()
        .build()
        .expect("the defaults are valid");
    let warnings: Vec<String> = manager
        .check()
        .expect("a warning is no error")
        .iter()
        .map(ToString::to_string)
        .collect();

    let about = |function: &str| -> Vec<&String> {
        warnings
            .iter()
            .filter(|warning| warning.contains(&format!("::{function}`")))
            .collect()
    };
    let [warning] = about("case_009_invalidator")[..] else {
        panic!("one warning about it, not {warnings:#?}");
    };
    for words in [
        "`swapped`",
        "::case_009_reader`",
        "(integer, str)",
        "(str, integer)",
    ] {
        assert!(warning.contains(words), "{words}: {warning}");
    }

    // Those of the other caches that cannot fit, and no other.
    for function in ["wrong_type", "wrong_variable"] {
        assert_eq!(about(function).len(), 1, "{function}: {warnings:#?}");
    }
    let [warning] = about("wrong_number")[..] else {
        panic!("one warning about it, not {warnings:#?}");
    };
    assert!(
        warning.contains("::by_id`") && warning.contains("::by_name`"),
        "{warning}"
    );
    assert_eq!(warnings.len(), 4, "{warnings:#?}");
}

#[test]
fn case_009_strict() {
    let strict = CacheManager::builder()
        .strict()
        .build()
        .expect("the defaults are valid");
    for error in [strict.check().map(drop), strict.install()] {
        let Err(CacheError::Check { problems }) = error else {
            panic!("an error, not {error:?}");
        };
        assert_eq!(problems.len(), 4);
        assert!(problems.iter().any(|problem| {
            problem.contains("::case_009_invalidator`") && problem.contains("::case_009_reader`")
        }));
    }
}

/// A warning changes nothing: the functions are called as if there were none.
#[tokio::test]
async fn case_009_the_entry_is_still_there() {
    let caches = CacheManager::global();
    case_009_reader("a".to_owned(), 1).await;
    case_009_invalidator(1, "a".to_owned()).await;
    case_009_reader("a".to_owned(), 1).await;
    assert_eq!(caches.stats()["swapped"].loads, 1);

    fits::reader("a", true, 1).await;
    fits::owned("a".to_owned(), 1).await;
    fits::reader("a", true, 1).await;
    fits::shared("a".into(), &1).await;
    fits::reader("a", true, 1).await;
    fits::pair(("a", 1), true).await;
    fits::reader("a", true, 1).await;
    fits::literal(1).await;
    fits::reader("a", true, 1).await;
    assert_eq!(caches.stats()["fits"].loads, 5);
    fits::all(true).await;
    fits::any_key().await;
    fits::cow("a".into(), 1, 1).await;
    fits::nothing_to_compare_with(true).await;

    readers_of_several_shapes::by_id(1).await;
    readers_of_several_shapes::fits_the_first(&1).await;
    readers_of_several_shapes::by_id(1).await;
    readers_of_several_shapes::by_name("a", 1).await;
    readers_of_several_shapes::fits_the_second(1, "a".to_owned()).await;
    readers_of_several_shapes::by_name("a", 1).await;
    assert_eq!(caches.stats()["several"].loads, 4);
    readers_of_several_shapes::wrong_type(None).await;
    readers_of_several_shapes::wrong_number("a", 1, 1).await;
    readers_of_several_shapes::wrong_variable(1, true).await;
}
