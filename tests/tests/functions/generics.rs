//! Generic functions and types.

use std::fmt::Display;

use cache_core::cache_result;
use serde::{Serialize, de::DeserializeOwned};
use tests::{bodies, body, both, caches};

both!(
    generic_functions,
    generic_types,
    instances_of_a_generic_function_never_get_each_others_values,
    borrowed_arguments_need_not_live_for_ever,
);

async fn generic_functions() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f<K, const N: usize>(keys: &[K], more: [&str; N]) -> String
    where
        K: Display + Serialize + Sync,
        for<'a> [&'a str; N]: Serialize,
    {
        body("f");
        let first = keys.first().map_or_else(String::new, ToString::to_string);
        format!("{first} {}", more.len())
    }

    for _ in 0..2 {
        assert_eq!(f(&[1_u8, 2], ["a", "b"]).await, "1 2");
        assert_eq!(f(&["1", "2"], ["a", "b"]).await, "1 2");
        assert_eq!(f(&[1_u8], ["a"]).await, "1 1");
        assert_eq!(f::<u8, 0>(&[], []).await, " 0");
    }
    assert_eq!(bodies("f"), 4);
    // Two types of argument, one and the same key.
    assert_eq!(f(&[1_u64, 2], ["a", "b"]).await, "1 2");
    assert_eq!(bodies("f"), 4);
}

struct Store<R> {
    rows: R,
}

impl<R: Fn(u32) -> u64 + Sync> Store<R> {
    #[cache_result(cache = "c", manager = caches())]
    async fn row(&self, id: u32) -> u64 {
        body("row");
        (self.rows)(id)
    }
}

async fn generic_types() {
    let (one, other) = (
        Store {
            rows: |id| u64::from(id) * 2,
        },
        Store {
            rows: |id| u64::from(id) * 3,
        },
    );
    assert_eq!((one.row(1).await, one.row(1).await), (2, 2));
    // Neither the receiver nor its type is part of the key.
    assert_eq!(other.row(1).await, 2);
    assert_eq!((other.row(5).await, one.row(5).await), (15, 15));
    assert_eq!(bodies("row"), 2);
}

async fn instances_of_a_generic_function_never_get_each_others_values() {
    #[cache_result(cache = "c", manager = caches())]
    async fn parse<T>(text: &str) -> Option<T>
    where
        T: std::str::FromStr + Clone + Send + Sync + Serialize + DeserializeOwned + 'static,
    {
        body("parse");
        text.parse().ok()
    }

    for _ in 0..2 {
        assert_eq!(parse::<u32>("65").await, Some(65));
        assert_eq!(parse::<i64>("65").await, Some(65));
        assert_eq!(parse::<String>("65").await.as_deref(), Some("65"));
    }
    // The cache has the values of the first; the others run as if it were not there.
    assert_eq!(bodies("parse"), 5);
    assert_eq!(caches().stats()["c"].bypasses, 4);
}

async fn borrowed_arguments_need_not_live_for_ever() {
    #[cache_result(cache = "c", key = words.len(), manager = caches())]
    async fn longest<'a>(words: &'a [String], seen: &mut Vec<&'a str>) -> Result<String, String> {
        body("longest");
        let longest = words.iter().max_by_key(|word| word.len()).ok_or("none")?;
        seen.push(longest);
        Ok(longest.clone())
    }

    let words = ["a".to_owned(), "bcd".to_owned()];
    let mut seen = Vec::new();
    assert_eq!(longest(&words, &mut seen).await.as_deref(), Ok("bcd"));
    assert_eq!(longest(&words, &mut seen).await.as_deref(), Ok("bcd"));
    assert_eq!(seen, ["bcd"]);
}
