//! Whole caches.

use std::time::Duration;

use cache_core::{Cache, cache_invalidate_all, cache_result};
use tests::{Monitor, World, both, caches, keys_like, on_redis, stored, with_caches};

use crate::{assert_foreign, plant_foreign};

both!(
    case_b15_clearing_a_cache_leaves_its_siblings_alone,
    case_b15_clearing_an_empty_cache,
);

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
