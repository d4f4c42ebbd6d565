//! Clearing a cache: at once for every reader, whatever it holds, and nobody else's business.

mod support;

use cache_core::{
    CacheBackend, CacheConfig, CacheManager,
    backend::{CacheId, Token},
};
use support::{
    Fixture, Monitor, eventually, fence, fill, new_entry, patient, product, read, stored_form,
};

/// Puts that many entries under the present epoch, faster than a cache would.
async fn fill_many(f: &mut Fixture, cache: &CacheId, entries: usize) {
    let epoch = fence(&f.backend, cache, "0").await.epoch;
    for batch in (0..entries).collect::<Vec<_>>().chunks(1000) {
        let mut pipeline = redis::pipe();
        for number in batch {
            let key = cache.entry(&number.to_string()).storage_key();
            pipeline
                .set_ex(key, stored_form("value", epoch).as_ref(), 600)
                .ignore();
        }
        let () = pipeline.query_async(&mut f.outside).await.unwrap();
    }
}

/// How many keys match. Counted by the server, for there are many.
async fn count(outside: &mut redis::aio::MultiplexedConnection, pattern: &str) -> u64 {
    let script = "return #redis.call('KEYS', ARGV[1])";
    support::ask(outside, &["EVAL", script, "0", pattern]).await
}

async fn eventually_at_most(f: &Fixture, pattern: &str, keys: u64) {
    eventually("the sweep removes the rest", || {
        let mut outside = f.outside.clone();
        async move { count(&mut outside, pattern).await <= keys }
    })
    .await;
}

/// Case 35.
#[tokio::test]
async fn many_entries_are_cleared_by_one_command_and_swept_in_small_steps() {
    for entries in [102, 25_000] {
        let mut f = Fixture::new().await;
        let product = product();
        let _: () = f.ask(&["SET", "session:1", "foreign"]).await;
        fill_many(&mut f, &product, entries).await;
        let mut monitor = Monitor::start(&f.server);

        f.backend.invalidate_all(&product).await.unwrap();
        assert_eq!(read(&f.backend, &product, "1").await, None);

        eventually_at_most(&f, "cache:*", 0).await;
        let commands = monitor.commands(&mut f).await;
        assert_eq!(commands[0][0], "SET", "what a caller waits for");
        for command in &commands[1..] {
            assert!(command.len() < 1000, "a command of {} words", command.len());
            // The load above, the sweep, and the looking of the test itself.
            let expected = ["MGET", "SET", "SCAN", "EVALSHA", "EVAL"];
            assert!(expected.contains(&command[0].as_str()), "{}", command[0]);
        }
        let steps = commands
            .iter()
            .filter(|command| command[0] == "SCAN")
            .count();
        assert!(
            steps <= 2 + (entries + 100) / 200,
            "one sweep only: {steps} steps"
        );
        let mut left = f.keys("*").await;
        left.retain(|key| !key.starts_with("cs:product:"));
        assert_eq!(left, ["session:1"]);
    }
}

/// B15. Some of these are no names that a program could give, but prefixes that it could.
#[tokio::test]
async fn clearing_one_cache_leaves_its_siblings_and_foreign_keys_alone() {
    let prefixes = [
        "cache:product",
        "cache:products",
        "cache:product:reviews",
        "cache:pro*uct",
        "cache:p[ab]",
        "cache:p\\a",
    ];
    let siblings = prefixes.map(|prefix| CacheId::new("any", prefix));
    let foreign = [
        "session:1",
        "cache:product:planted",
        "cache:pro*uct:planted",
        "cache:product",
        "product:1",
    ];
    for cleared in &siblings {
        let mut f = Fixture::new().await;
        for key in foreign {
            let _: () = f.ask(&["SET", key, &"x".repeat(100)]).await;
        }
        let _: () = f.ask(&["RPUSH", "cache:product:list", "element"]).await;
        // Once empty.
        f.backend.invalidate_all(cleared).await.unwrap();
        for sibling in &siblings {
            fill(&f.backend, sibling, "1").await;
            fill(&f.backend, sibling, "x:1").await;
        }
        // Once full.
        f.backend.invalidate_all(cleared).await.unwrap();

        eventually("the sweep removes the old entry", || {
            let (mut outside, key) = (f.outside.clone(), cleared.entry("1").storage_key());
            async move { support::ask::<u64>(&mut outside, &["EXISTS", &key]).await == 0 }
        })
        .await;
        for sibling in &siblings {
            for key in ["1", "x:1"] {
                let expected = (sibling != cleared).then_some(key);
                assert_eq!(
                    read(&f.backend, sibling, key).await.as_deref(),
                    expected,
                    "{sibling:?} {cleared:?}"
                );
            }
        }
        for key in foreign.into_iter().chain(["cache:product:list"]) {
            assert_eq!(f.ask::<u64>(&["EXISTS", key]).await, 1, "{key} {cleared:?}");
        }
    }
}

/// Where an entry carries its epoch is for the caches to say, and the sweep has to find it there.
#[tokio::test]
async fn what_a_cache_has_stored_is_swept_when_it_is_cleared() {
    let mut f = Fixture::new().await;
    let caches = CacheManager::builder()
        .cache("kept", CacheConfig::on(f.backend.clone()))
        .defaults(CacheConfig::on(f.backend.clone()).no_ttl())
        .build()
        .unwrap();
    let product = caches.cache::<Vec<u64>>("product").unwrap();
    for key in 0..10_u64 {
        let stored = (0..key).collect();
        product.insert(&key, stored).await.unwrap();
    }
    let kept = caches.cache::<u64>("kept").unwrap();
    kept.insert(&1, 1).await.unwrap();
    caches.settle().await;
    assert_eq!(f.value_keys().await.len(), 11);

    product.invalidate_all().await.unwrap();
    eventually_at_most(&f, "cache:product:*", 0).await;
    assert_eq!(f.value_keys().await, ["cache:kept:1"]);
}

#[tokio::test]
async fn the_sweep_removes_neither_fresh_entries_nor_those_it_cannot_place() {
    let mut f = Fixture::new().await;
    let product = product();
    let unknown = Token::random();
    fill_many(&mut f, &product, 3000).await;
    for key in ["short", "empty"] {
        let bytes = if key == "short" { "tiny" } else { "" };
        let _: () = f
            .ask(&["SET", &format!("cache:product:{key}"), bytes])
            .await;
    }
    let mut set = redis::cmd("SET");
    set.arg("cache:product:unknown")
        .arg(stored_form("value", unknown).as_ref());
    let () = set.query_async(&mut f.outside).await.unwrap();

    f.backend.invalidate_all(&product).await.unwrap();
    // While the sweep is on its way: overwritten entries are fresh ones.
    for number in 0..100 {
        fill(&f.backend, &product, &(number * 30).to_string()).await;
    }
    eventually_at_most(&f, "cache:*", 103).await;
    assert_eq!(f.value_keys().await.len(), 103);
    for number in 0..100 {
        assert!(
            read(&f.backend, &product, &(number * 30).to_string())
                .await
                .is_some()
        );
    }
}

#[tokio::test]
async fn clears_during_a_sweep_share_the_next_one() {
    let mut f = Fixture::new().await;
    let product = product();
    fill_many(&mut f, &product, 2000).await;
    let mut monitor = Monitor::start(&f.server);
    for round in 0..10 {
        f.backend.invalidate_all(&product).await.unwrap();
        fill(&f.backend, &product, &format!("round {round}")).await;
    }
    f.backend.invalidate_all(&product).await.unwrap();
    eventually_at_most(&f, "cache:*", 0).await;

    // One for the first clear, one for all that came while it was under way.
    let commands = monitor.commands(&mut f).await;
    let sweeps = commands
        .iter()
        .filter(|command| command[..2] == ["SCAN", "0"])
        .count();
    assert!((1..=3).contains(&sweeps), "{sweeps}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_whose_runtime_ended_is_made_up_for_by_the_next_one() {
    let mut f = Fixture::new().await;
    let product = product();
    fill_many(&mut f, &product, 20_000).await;
    let backend = f.backend.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime
            .block_on(backend.invalidate_all(&support::product()))
            .unwrap();
    })
    .join()
    .unwrap();
    assert!(
        f.value_keys().await.len() > 10_000,
        "it had no time to sweep"
    );
    let _ = fence(&f.backend, &product, "1").await;
    f.backend.invalidate_all(&product).await.unwrap();
    eventually_at_most(&f, "cache:*", 0).await;
}

/// Case 37.
#[tokio::test]
async fn a_predicate_chooses_what_is_invalidated() {
    let mut f = Fixture::new().await;
    let product = product();
    for key in [
        "key1",
        "key2",
        "key3",
        "key4",
        "key5",
        "special",
        "[1,\"*\"]",
    ] {
        fill(&f.backend, &product, key).await;
    }
    fill(
        &f.backend,
        &CacheId::new("products", "cache:products"),
        "key1",
    )
    .await;
    let removed = f
        .backend
        .invalidate_if(&product, &|key| key.starts_with("key"))
        .await
        .unwrap();
    assert_eq!(removed, 5);
    assert_eq!(
        f.value_keys().await,
        [
            "cache:product:[1,\"*\"]",
            "cache:product:special",
            "cache:products:key1"
        ]
    );
    assert_eq!(
        f.backend.invalidate_if(&product, &|_| false).await.unwrap(),
        0
    );
    assert_eq!(
        f.backend
            .invalidate_if(&product, &|key| key == "[1,\"*\"]")
            .await
            .unwrap(),
        1
    );
}

#[tokio::test]
async fn a_predicate_is_asked_about_every_entry_of_a_large_cache() {
    let mut f = Fixture::new().await;
    let product = product();
    fill_many(&mut f, &product, 5000).await;
    let mut monitor = Monitor::start(&f.server);
    let removed = f
        .backend
        .invalidate_if(&product, &|key| key.ends_with('7'))
        .await
        .unwrap();
    assert_eq!(removed, 500);
    assert!(
        monitor
            .commands(&mut f)
            .await
            .iter()
            .all(|command| command.len() < 1000 && command[0] != "KEYS")
    );
    assert_eq!(f.value_keys().await.len(), 4500);
}

#[tokio::test]
async fn a_predicate_refuses_the_stores_of_what_is_being_computed() {
    let f = Fixture::new().await;
    let product = product();
    let other = patient(&f.server.url());
    // Nothing is stored under this key, so no walk finds it.
    let before = fence(&other, &product, "key1").await;
    assert_eq!(
        f.backend
            .invalidate_if(&product, &|key| key == "key1")
            .await
            .unwrap(),
        0
    );
    assert!(
        !other
            .store(product.entry("key1"), new_entry("old", before))
            .await
            .unwrap()
    );
}
