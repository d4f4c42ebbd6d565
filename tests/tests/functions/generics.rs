//! Generic functions and types.

use std::fmt::Display;

use cache_core::cache_result;
use serde::{Serialize, de::DeserializeOwned};
use tests::{bodies, body, both, caches};

both!(
    generic_functions,
    generic_types,
    b04_bounds_of_every_kind,
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

trait Repo {
    type Row: Clone + Send + Sync + Serialize + DeserializeOwned + 'static;
    fn row(&self, text: &str) -> Self::Row;
}

struct Lengths;

struct Texts;

impl Repo for Lengths {
    type Row = usize;
    fn row(&self, text: &str) -> usize {
        text.len()
    }
}

impl Repo for Texts {
    type Row = String;
    fn row(&self, text: &str) -> String {
        text.to_owned()
    }
}

#[cache_result(cache = "rows", manager = caches())]
async fn rows<R, const N: usize>(names: [&str; N]) -> Vec<R::Row>
where
    R: Repo + Default + Sync,
    for<'a> [&'a str; N]: Sized,
{
    body("rows");
    names.iter().map(|name| R::default().row(name)).collect()
}

impl Default for Lengths {
    fn default() -> Self {
        Self
    }
}

impl Default for Texts {
    fn default() -> Self {
        Self
    }
}

struct Table<'r, R: ?Sized, const N: usize>(&'r R);

impl<R, const N: usize> Table<'_, R, N>
where
    R: Repo + Sync + ?Sized,
{
    #[cache_result(cache = "table", manager = caches())]
    async fn rows(&self, names: [&str; N]) -> Result<Vec<R::Row>, String> {
        body("table");
        Ok(names.iter().map(|name| self.0.row(name)).collect())
    }
}

async fn b04_bounds_of_every_kind() {
    for _ in 0..2 {
        assert_eq!(rows::<Lengths, 1>(["ab"]).await, [2]);
        assert_eq!(rows::<Lengths, 2>(["ab", "c"]).await, [2, 1]);
        assert_eq!(rows::<Lengths, 0>([]).await, [0; 0]);
        // A value of another type than those in the cache: it goes past it.
        assert_eq!(rows::<Texts, 1>(["ab"]).await, ["ab"]);
    }
    assert_eq!(bodies("rows"), 3 + 2);

    for _ in 0..2 {
        assert_eq!(
            Table::<_, 1>(&Texts).rows(["ab"]).await,
            Ok(vec!["ab".to_owned()])
        );
        assert_eq!(
            Table::<_, 2>(&Texts)
                .rows(["ab", "c"])
                .await
                .map(|rows| rows.len()),
            Ok(2)
        );
        assert_eq!(Table::<_, 1>(&Lengths).rows(["ab"]).await, Ok(vec![2]));
        let unsized_rows: &(dyn Repo<Row = String> + Sync) = &Texts;
        assert_eq!(
            Table::<_, 1>(unsized_rows).rows(["ab"]).await,
            Ok(vec!["ab".to_owned()])
        );
    }
    assert_eq!(bodies("table"), 2 + 2);
}
