//! A value from the cache is the value, wherever it was kept, and nobody else can change it.

use std::sync::{Arc, Mutex};

use cache_core::cache_result;
use serde::{Deserialize, Serialize};
use tests::{body, both, caches, on_redis};

both!(
    case_b31_callers_cannot_change_each_others_values,
    case_b31_hits_are_alike,
    case_b31_a_shared_cell_is_shared_only_where_the_value_is,
);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Value {
    names: Vec<String>,
    /// Not a part of the value, as far as serde is concerned.
    #[serde(skip)]
    here_only: Option<u64>,
    #[serde(default)]
    with_default: u32,
}

#[cache_result(cache = "c", manager = caches())]
async fn value() -> Value {
    let run = body("value");
    Value {
        names: vec![format!("run {run}")],
        here_only: Some(run),
        with_default: 3,
    }
}

async fn case_b31_callers_cannot_change_each_others_values() {
    let mut mine = value().await;
    mine.names.push("mine".to_owned());
    caches().settle().await;
    let mut again = value().await;
    assert_eq!(again.names, ["run 0"]);
    again.names.clear();
    assert_eq!(value().await.names, ["run 0"]);
}

/// What serde leaves out is not in Redis: the one who computes has it, all who find it there have the default. In memory
/// there is no serde.
async fn case_b31_hits_are_alike() {
    assert_eq!(value().await.here_only, Some(0));
    caches().settle().await;
    let kept = if on_redis() { None } else { Some(0) };
    for _ in 0..3 {
        let hit = value().await;
        assert_eq!((hit.here_only, hit.with_default), (kept, 3));
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Celled(Arc<Mutex<u32>>);

#[cache_result(cache = "cells", manager = caches())]
async fn celled() -> Celled {
    Celled(Arc::new(Mutex::new(0)))
}

async fn case_b31_a_shared_cell_is_shared_only_where_the_value_is() {
    let mine = celled().await;
    caches().settle().await;
    *mine.0.lock().expect("no panic") = 7;
    let found = *celled().await.0.lock().expect("no panic");
    // A clone of such a value is a handle to the same cell: that is what the type says.
    assert_eq!(found, if on_redis() { 0 } else { 7 });
}
