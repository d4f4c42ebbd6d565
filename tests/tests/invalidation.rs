//! What an invalidation ends, when, and what it leaves alone.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use cache_core::{
    Cache, CacheConfig, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::{
    Monitor, World, assert_value_keys, bodies, body, both, caches, keys_like, on_redis, spawn,
    stored, with_caches,
};
use tokio::sync::Notify;

both!(
    case_032_removes_one_entry_only,
    case_033_unknown_key,
    case_037_invalidate_by_predicate,
    case_041_read_during_a_slow_delete,
    case_b15_clearing_a_cache_leaves_its_siblings_alone,
    case_b15_clearing_an_empty_cache,
    when_success_leaves_the_entry_if_the_body_fails,
    when_always_ends_the_entry_if_the_body_fails,
    when_before_ends_the_entry_before_the_body,
    value_of_the_body_decides,
    panicking_body_invalidates,
    dropped_body_invalidates,
    dropped_body_without_a_known_key_invalidates_the_whole_cache,
    dropped_or_panicking_put_invalidates,
    a_load_does_not_store_what_an_invalidation_has_ended,
    a_load_does_not_store_what_a_clear_has_ended,
    a_put_supersedes_a_load,
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

#[tokio::test]
async fn case_035_more_keys_than_one_scan_page() {
    World::redis().run(clear_of(102)).await;
}

#[tokio::test]
async fn case_035_twenty_five_thousand_keys() {
    World::redis().run(clear_of(25_000)).await;
}

async fn clear_of(entries: usize) {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: usize) -> usize {
        k
    }

    #[cache_invalidate_all(cache = "c", manager = caches())]
    async fn clear() {}

    plant_foreign(&["session:1", "other", "c", "cache:d:1"]).await;
    let before = keys_like("*").await;
    for k in 0..entries.min(102) {
        f(k).await;
    }
    caches().settle().await;
    // The rest are copies: to a clear an entry is an entry.
    let copy = ::redis::Script::new(
        "local entry = redis.call('GET', 'cache:c:0')
         for k = ARGV[1], ARGV[2] - 1 do redis.call('SET', 'cache:c:' .. k, entry, 'PX', 300000) end",
    );
    for first in (102..entries).step_by(1000) {
        copy.arg(first)
            .arg(entries.min(first + 1000))
            .invoke_async::<()>(&mut tests::redis().await)
            .await
            .expect("the server answers");
    }
    assert_eq!(keys_like("cache:c:*").await.len(), entries);

    let monitor = Monitor::start();
    clear().await;
    // From now on none of them counts. Their memory is given back behind the scenes.
    let cache: Cache<usize> = caches().cache("c").expect("the function's type");
    for k in [0, 1, 101] {
        assert_eq!(cache.get(&k).await, None);
    }
    until_gone("cache:c:*").await;
    let commands = monitor.commands().await;
    assert!(commands.len() > 1);
    for command in &commands {
        let name = command.split('"').nth(1).unwrap_or_default().to_uppercase();
        assert!(
            !["KEYS", "FLUSHDB", "FLUSHALL", "SWAPDB"].contains(&name.as_str()),
            "{name}"
        );
        let keys = command.matches(r#""cache:c:"#).count();
        assert!(keys <= 1000, "{name} with {keys} keys");
    }

    let mut after = keys_like("*").await;
    after.retain(|key| !key.starts_with("cs:")); // the book-keeping, which expires
    assert_eq!(after, before);
    assert_foreign(&["session:1", "other", "c", "cache:d:1"]).await;
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
    begun.notified().await;
    assert_eq!(get(1, Arc::clone(&table)).await, Some(7));
    go_on.notify_one();
    deletion.await.expect("the deletion does not panic");
    assert_eq!(get(1, table).await, None);
    assert_eq!(bodies("get"), 2);
}

async fn case_b15_clearing_a_cache_leaves_its_siblings_alone() {
    #[cache_invalidate_all(cache = "product", manager = caches())]
    async fn clear() {}

    // Neither a pattern nor another cache's prefix can be had as a name …
    for name in [
        "product:reviews",
        "pro*uct",
        "p[ab]",
        "pro?uct",
        "pro\\uct",
        "*",
        "",
        "-p",
    ] {
        let error = caches().cache::<u32>(name).expect_err("it is refused");
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
    }

    // … but as a prefix.
    let prefixes = [
        ("glob", "cache:pro*uct"),
        ("set", "cache:p[a-z]oduct"),
        ("any", "cache:produc?"),
        ("reviews", "cache:product:reviews"),
        ("outer", "cache"),
    ];
    let siblings = ["products", "produc", "product2", "Product"];
    let configure = |mut builder: cache_core::CacheManagerBuilder| {
        for (name, prefix) in prefixes {
            builder = builder.cache(name, stored().prefix(prefix));
        }
        builder.defaults(stored())
    };
    with_caches(configure, async {
        let foreign = [
            "session:1",
            "session:product:1",
            "product:1",
            "cache:product",
        ];
        plant_foreign(&foreign).await;
        let others: Vec<Cache<u32>> = siblings
            .into_iter()
            .chain(prefixes.map(|(name, _)| name))
            .map(|name| caches().cache(name).expect("a fresh cache"))
            .collect();
        let product: Cache<u32> = caches().cache("product").expect("a fresh cache");
        for k in 0..20 {
            product.insert(&k, k).await.expect("stored");
            for other in &others {
                other.insert(&k, k).await.expect("stored");
            }
        }
        clear().await;
        for k in 0..20 {
            assert_eq!(product.get(&k).await, None);
        }
        until_gone("cache:product:[0-9]*").await;
        for other in &others {
            for k in 0..20 {
                assert_eq!(other.get(&k).await, Some(k), "{}", other.name());
            }
        }
        // The other way round: those that look like patterns.
        product.insert(&1, 1).await.expect("stored");
        for other in &others {
            other.invalidate_all().await.expect("answered");
        }
        for other in &others {
            assert_eq!(other.get(&1).await, None, "{}", other.name());
        }
        until_gone("cache:pro[*]uct:*").await;
        until_gone("cache:product:reviews:*").await;
        until_gone("cache:[0-9]*").await;
        assert_eq!(product.get(&1).await, Some(1));
        assert_foreign(&foreign).await;
    })
    .await;
}

async fn case_b15_clearing_an_empty_cache() {
    #[cache_invalidate_all(cache = "product", manager = caches())]
    async fn clear() -> Result<u32, String> {
        Ok(7)
    }

    plant_foreign(&["session:1"]).await;
    assert_eq!(clear().await, Ok(7));
    let product: Cache<u32> = caches().cache("product").expect("a fresh cache");
    product.invalidate_all().await.expect("answered");
    product.insert(&1, 1).await.expect("stored");
    clear().await.expect("it never fails");
    assert_eq!(product.get(&1).await, None);
    assert_foreign(&["session:1"]).await;
}

async fn when_success_leaves_the_entry_if_the_body_fails() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key = k, manager = caches())]
    async fn default(k: u32, fails: bool) -> Result<u32, String> {
        if fails {
            Err("refused".to_owned())
        } else {
            Ok(k)
        }
    }

    #[cache_invalidate_all(cache = "c", when = "success", manager = caches())]
    async fn spelt(fails: bool) -> Result<(), String> {
        if fails {
            Err("refused".to_owned())
        } else {
            Ok(())
        }
    }

    f(1).await;
    assert_eq!(default(1, true).await, Err("refused".to_owned()));
    assert_eq!(spelt(true).await, Err("refused".to_owned()));
    f(1).await;
    assert_eq!(bodies("f"), 1);
    assert_eq!(default(1, false).await, Ok(1));
    f(1).await;
    assert_eq!(bodies("f"), 2);
    assert_eq!(spelt(false).await, Ok(()));
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

async fn when_always_ends_the_entry_if_the_body_fails() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key = k, when = "always", manager = caches())]
    async fn d(k: u32, fails: bool) -> Result<u32, String> {
        if fails {
            Err("refused".to_owned())
        } else {
            Ok(k)
        }
    }

    for fails in [true, false] {
        f(1).await;
        assert_eq!(d(1, fails).await.is_err(), fails);
    }
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

async fn when_before_ends_the_entry_before_the_body() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key = k, when = "before", manager = caches())]
    async fn d(k: u32, fails: bool) -> Result<u64, String> {
        // What the body reads, it reads anew, and what it reads stays.
        let read = f(k).await;
        if fails {
            Err("refused".to_owned())
        } else {
            Ok(read)
        }
    }

    f(1).await;
    d(1, false).await.expect("told to succeed");
    assert_eq!(bodies("f"), 2);
    f(1).await;
    assert_eq!(bodies("f"), 2);
    d(1, true).await.expect_err("told to fail");
    assert_eq!(bodies("f"), 3);
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

async fn value_of_the_body_decides() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key = k, invalidate_if = |changed: &u32| *changed > 0, manager = caches())]
    async fn one(k: u32, changed: Result<u32, String>) -> Result<u32, String> {
        let _ = k;
        changed
    }

    #[cache_invalidate_all(cache = "c", invalidate_if = Option::is_some, when = "always", manager = caches())]
    async fn all(changed: Option<u32>) -> Option<u32> {
        changed
    }

    f(1).await;
    assert_eq!(one(1, Ok(0)).await, Ok(0));
    assert_eq!(one(1, Err("no".to_owned())).await, Err("no".to_owned()));
    assert_eq!(all(None).await, None);
    f(1).await;
    assert_eq!(bodies("f"), 1);
    assert_eq!(one(1, Ok(2)).await, Ok(2));
    f(1).await;
    assert_eq!(bodies("f"), 2);
    assert_eq!(all(Some(1)).await, Some(1));
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

async fn panicking_body_invalidates() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(k: u32) {
        panic!("half of {k} is written");
    }

    f(1).await;
    f(2).await;
    let panic = spawn(d(1)).await.expect_err("the body panics");
    assert!(panic.is_panic());
    caches().settle().await;
    f(2).await;
    assert_eq!(bodies("f"), 2);
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

async fn dropped_body_invalidates() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_result(cache = "list", manager = caches())]
    async fn list() -> u64 {
        body("list")
    }

    #[cache_invalidate(cache = "c", key = k, manager = caches())]
    #[cache_invalidate_all(cache = "list", manager = caches())]
    async fn d(k: u32, begun: Arc<Notify>) -> Result<(), String> {
        begun.notify_one();
        std::future::pending::<()>().await;
        Err(format!("{k} is never reached"))
    }

    f(1).await;
    f(2).await;
    list().await;
    let begun = Arc::new(Notify::new());
    let interrupted = spawn(d(1, Arc::clone(&begun)));
    begun.notified().await;
    f(1).await;
    assert_eq!(bodies("f"), 2, "nothing has been invalidated yet");
    interrupted.abort();
    assert!(interrupted.await.expect_err("aborted").is_cancelled());
    caches().settle().await;
    f(2).await;
    assert_eq!(bodies("f"), 2);
    f(1).await;
    list().await;
    assert_eq!((bodies("f"), bodies("list")), (3, 2));
}

async fn dropped_body_without_a_known_key_invalidates_the_whole_cache() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key_with = |k: &u32| *k, manager = caches())]
    async fn d(begun: Arc<Notify>) -> u32 {
        begun.notify_one();
        std::future::pending().await
    }

    f(1).await;
    f(2).await;
    let begun = Arc::new(Notify::new());
    let interrupted = spawn(d(Arc::clone(&begun)));
    begun.notified().await;
    interrupted.abort();
    interrupted.await.expect_err("aborted");
    caches().settle().await;
    f(1).await;
    f(2).await;
    assert_eq!(bodies("f"), 4);
}

async fn dropped_or_panicking_put_invalidates() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_put(cache = "c", key = k, manager = caches())]
    async fn put(k: u32, begun: Option<Arc<Notify>>) -> u64 {
        match begun {
            None => panic!("half of {k} is written"),
            Some(begun) => begun.notify_one(),
        }
        std::future::pending().await
    }

    f(1).await;
    spawn(put(1, None)).await.expect_err("the body panics");
    caches().settle().await;
    f(1).await;
    assert_eq!(bodies("f"), 2);
    let begun = Arc::new(Notify::new());
    let interrupted = spawn(put(1, Some(Arc::clone(&begun))));
    begun.notified().await;
    interrupted.abort();
    interrupted.await.expect_err("aborted");
    caches().settle().await;
    f(1).await;
    assert_eq!(bodies("f"), 3);
}

/// A body that reads its value at once and returns it when it is allowed to.
#[derive(Clone, Default)]
struct Slow {
    begun: Arc<Notify>,
    go_on: Arc<Notify>,
}

impl Slow {
    async fn value(&self) -> u64 {
        let read = body("slow");
        self.begun.notify_one();
        self.go_on.notified().await;
        read
    }
}

async fn a_load_does_not_store_what_an_invalidation_has_ended() {
    #[cache_result(cache = "c", key = k, manager = caches())]
    async fn f(k: u32, slow: Slow) -> u64 {
        let _ = k;
        slow.value().await
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(k: u32) {
        let _ = k;
    }

    let (old, new) = (Slow::default(), Slow::default());
    let early = spawn(f(1, old.clone()));
    old.begun.notified().await;
    d(1).await;
    // Who comes after it does not join the old load …
    let late = spawn(f(1, new.clone()));
    new.begun.notified().await;
    new.go_on.notify_one();
    assert_eq!(late.await.expect("no panic"), 1);
    old.go_on.notify_one();
    assert_eq!(early.await.expect("no panic"), 0);
    // … and never meets its value.
    assert_eq!(f(1, Slow::default()).await, 1);
    caches().settle().await;
    assert_eq!(f(1, Slow::default()).await, 1);
    assert_eq!(bodies("slow"), 2);
}

async fn a_load_does_not_store_what_a_clear_has_ended() {
    #[cache_result(cache = "c", key = k, manager = caches())]
    async fn f(k: u32, slow: Slow) -> u64 {
        let _ = k;
        slow.value().await
    }

    let old = Slow::default();
    let early = spawn(f(1, old.clone()));
    old.begun.notified().await;
    let cache: Cache<u64> = caches().cache("c").expect("the function's type");
    cache.invalidate_all().await.expect("answered");
    old.go_on.notify_one();
    assert_eq!(early.await.expect("no panic"), 0);
    caches().settle().await;
    assert_eq!(cache.get(&1).await, None);
    assert_eq!(caches().stats()["c"].stores_refused, 1);
}

async fn a_put_supersedes_a_load() {
    #[cache_result(cache = "c", key = k, manager = caches())]
    async fn f(k: u32, slow: Slow) -> u64 {
        let _ = k;
        slow.value().await
    }

    #[cache_put(cache = "c", key = k, manager = caches())]
    async fn put(k: u32, value: u64) -> u64 {
        let _ = k;
        value
    }

    let old = Slow::default();
    let early = spawn(f(1, old.clone()));
    old.begun.notified().await;
    put(1, 100).await;
    old.go_on.notify_one();
    assert_eq!(early.await.expect("no panic"), 0);
    caches().settle().await;
    assert_eq!(f(1, Slow::default()).await, 100);
    assert_eq!(bodies("slow"), 1);
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

/// Once the body has succeeded, the invalidation goes on to its end, whoever waits for it.
#[tokio::test]
async fn dropped_caller_does_not_stop_an_invalidation() {
    World::memory().run(dropped_caller()).await;
}

async fn dropped_caller() {
    #[cache_result(cache = "one", manager = caches())]
    async fn one() -> u64 {
        body("one")
    }

    #[cache_result(cache = "all", manager = caches())]
    async fn all() -> u64 {
        body("all")
    }

    #[cache_invalidate(cache = "one", manager = caches())]
    #[cache_invalidate_all(cache = "all", manager = caches())]
    async fn d() {
        body("d");
    }

    let store = MapBackend::new();
    let backend = FaultyBackend::new(store.clone());
    let slow = CacheConfig::on(backend.clone());
    with_caches(|builder| builder.defaults(slow), async {
        one().await;
        all().await;
        caches().settle().await;
        assert_eq!(store.keys().len(), 2);
        backend.hang(&[Operation::Invalidate, Operation::InvalidateAll]);
        let caller = spawn(d());
        while backend.calls(Operation::Invalidate) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(bodies("d"), 1);
        caller.abort();
        caller.await.expect_err("aborted");
        backend.heal();
        caches().settle().await;
        assert_eq!(store.keys(), [""; 0]);
        one().await;
        all().await;
        assert_eq!((bodies("one"), bodies("all")), (2, 2));
    })
    .await;
}

/// Puts strings into the server that are not the framework's.
async fn plant_foreign(keys: &[&str]) {
    if on_redis() {
        for key in keys {
            ::redis::cmd("SET")
                .arg(key)
                .arg("foreign")
                .exec_async(&mut tests::redis().await)
                .await
                .expect("the server answers");
        }
    }
}

async fn assert_foreign(keys: &[&str]) {
    if on_redis() {
        for key in keys {
            let value: Option<String> = ::redis::cmd("GET")
                .arg(key)
                .query_async(&mut tests::redis().await)
                .await
                .expect("the server answers");
            assert_eq!(value.as_deref(), Some("foreign"), "{key}");
        }
    }
}

/// Waits until a clear has given back the memory of what it has ended. It has ended it long before.
async fn until_gone(pattern: &str) {
    let gone = async {
        while on_redis() && !scan(pattern).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .expect("what a clear leaves behind is swept");
}

/// Some keys that match, if there are any; found as the framework may find them.
async fn scan(pattern: &str) -> Vec<String> {
    let (_, found): (u64, Vec<String>) = ::redis::cmd("SCAN")
        .arg(&["0", "MATCH", pattern, "COUNT", "1000000"])
        .query_async(&mut tests::redis().await)
        .await
        .expect("the server answers");
    found
}
