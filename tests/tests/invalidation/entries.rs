//! Single entries.

use std::sync::{Arc, Mutex};

use cache_core::{Cache, cache_invalidate, cache_invalidate_all, cache_result};
use tests::{assert_value_keys, bodies, body, both, caches, soon, spawn};
use tokio::sync::Notify;

use crate::{assert_foreign, plant_foreign};

both!(
    case_032_removes_one_entry_only,
    case_033_unknown_key,
    case_037_invalidate_by_predicate,
    case_041_read_during_a_slow_delete,
    by_hand_it_says_whether_there_was_an_entry,
);

async fn case_032_removes_one_entry_only() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(k: u32) {
        let _ = k;
    }

    plant_foreign(&["other"]).await;
    f(1).await;
    f(2).await;
    assert_value_keys(&["cache:c:1", "cache:c:2"]).await;
    d(1).await;
    assert_value_keys(&["cache:c:2"]).await;
    f(2).await;
    assert_eq!(bodies("f"), 2);
    f(1).await;
    assert_eq!(bodies("f"), 3);
    assert_foreign(&["other"]).await;
}

async fn case_033_unknown_key() {
    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(k: &str) -> Result<usize, String> {
        Ok(k.len())
    }

    assert_eq!(d("zzz").await, Ok(3));
    assert_eq!(d("zzz").await, Ok(3));
    assert_value_keys(&[]).await;
    let cache: Cache<u32> = caches().cache("c").expect("a fresh cache");
    assert!(!cache.invalidate("zzz").await.expect("answered"));
    assert_eq!(cache.get("zzz").await, None);
}

async fn case_037_invalidate_by_predicate() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: &str) -> String {
        body("f");
        k.to_owned()
    }

    let keys = ["key1", "key2", "key3", "key4", "key5", "special"];
    for k in keys {
        f(k).await;
    }
    caches().settle().await;
    let cache: Cache<String> = caches().cache("c").expect("the function's type");
    let ended = cache
        .invalidate_if(|key_text| key_text.starts_with("key"))
        .await;
    assert_eq!(ended.expect("answered"), 5);
    assert_value_keys(&["cache:c:special"]).await;
    f("special").await;
    assert_eq!(bodies("f"), 6);
    for k in keys {
        f(k).await;
    }
    assert_eq!(bodies("f"), 11);
}

type Table = Arc<Mutex<Option<u32>>>;

async fn case_041_read_during_a_slow_delete() {
    #[cache_result(cache = "c", key = id, manager = caches())]
    async fn get(id: u32, table: Table) -> Option<u32> {
        body("get");
        let _ = id;
        *table.lock().expect("nothing panics here")
    }

    #[cache_invalidate_all(cache = "c", manager = caches())]
    async fn delete(id: u32, table: Table, begun: Arc<Notify>, go_on: Arc<Notify>) {
        let _ = id;
        begun.notify_one();
        go_on.notified().await;
        *table.lock().expect("nothing panics here") = None;
    }

    let table = Table::new(Mutex::new(Some(7)));
    assert_eq!(get(1, Arc::clone(&table)).await, Some(7));
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let deletion = spawn(delete(
        1,
        Arc::clone(&table),
        Arc::clone(&begun),
        Arc::clone(&go_on),
    ));
    soon(begun.notified()).await;
    assert_eq!(get(1, Arc::clone(&table)).await, Some(7));
    go_on.notify_one();
    deletion.await.expect("the deletion does not panic");
    assert_eq!(get(1, table).await, None);
    assert_eq!(bodies("get"), 2);
}

async fn by_hand_it_says_whether_there_was_an_entry() {
    let cache: Cache<u32> = caches().cache("c").expect("a fresh cache");
    cache.insert(&1, 10).await.expect("stored");
    assert!(cache.invalidate(&1).await.expect("answered"));
    assert!(!cache.invalidate(&1).await.expect("answered"));
    cache.insert(&1, 10).await.expect("stored");
    cache.insert(&2, 20).await.expect("stored");
    cache.invalidate_all().await.expect("answered");
    assert_eq!((cache.get(&1).await, cache.get(&2).await), (None, None));
}
