//! What `build` refuses, and what it says.

use std::time::Duration;

use cache_core::{CacheConfig, CacheManager, CacheManagerBuilder, testing::MapBackend};
use tests::assert_says;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn refusal(builder: CacheManagerBuilder) -> String {
    let refused = builder.build().map(drop);
    refused
        .expect_err("such a configuration is refused")
        .to_string()
}

#[test]
fn a_name_that_cannot_be_one() {
    let long = "x".repeat(129);
    for name in ["", "a b", "a:b", "a*", ".a", "-a", "größe", "a\n", &long] {
        let refused = refusal(CacheManager::builder().cache(name, CacheConfig::memory()));
        assert_says(
            &refused,
            &["cannot be the name of a cache", "letters, digits"],
        );
        let caches = CacheManager::builder()
            .build()
            .expect("the defaults are valid");
        assert_eq!(
            caches.cache::<u64>(name).map(drop).unwrap_err().to_string(),
            refused
        );
        let refused = refusal(CacheManager::builder().backend(name, MapBackend::new()));
        assert_says(&refused, &["letters, digits"]);
    }
    for name in ["a", "0", "Store.products_v2/new-ones", &long[1..]] {
        let built = CacheManager::builder()
            .cache(name, CacheConfig::memory())
            .build();
        assert!(built.is_ok());
    }
}

#[test]
fn a_cache_or_a_backend_described_twice() {
    let refused = refusal(
        CacheManager::builder()
            .cache("twin", CacheConfig::memory())
            .cache("other", CacheConfig::memory())
            .cache("twin", CacheConfig::disabled()),
    );
    assert_says(&refused, &["`twin` is configured twice"]);
    let refused = refusal(
        CacheManager::builder()
            .backend("redis", MapBackend::new())
            .backend("redis", MapBackend::new()),
    );
    assert_says(&refused, &["two backends", "`redis`"]);
}

#[test]
fn case_b18_a_time_that_no_store_can_keep() {
    let century = 100 * 365 * DAY;
    for ttl in [
        Duration::ZERO,
        Duration::from_nanos(1),
        Duration::from_micros(999),
    ] {
        for config in [CacheConfig::memory(), CacheConfig::on(MapBackend::new())] {
            let refused = refusal(CacheManager::builder().cache("c", config.ttl(ttl)));
            assert_says(&refused, &["`c`", "`ttl`", "too short", "disabled()"]);
        }
    }
    for ttl in [century + Duration::from_nanos(1), Duration::MAX] {
        let refused = refusal(CacheManager::builder().defaults(CacheConfig::memory().ttl(ttl)));
        assert_says(&refused, &["`ttl`", "100 years", "no_ttl()"]);
    }
    for ttl in [
        Duration::from_millis(1),
        Duration::from_micros(1500),
        30 * DAY,
        century,
    ] {
        let built = CacheManager::builder()
            .cache("c", CacheConfig::memory().ttl(ttl))
            .build();
        assert!(built.is_ok());
    }
    type Setting = fn(CacheConfig, Duration) -> CacheConfig;
    let settings: [(&str, Setting); 4] = [
        ("`none_ttl`", CacheConfig::none_ttl),
        ("`memory_ttl`", CacheConfig::memory_ttl),
        ("`lock_timeout`", CacheConfig::lock_timeout),
        ("`time_to_idle`", CacheConfig::time_to_idle),
    ];
    for (setting, set) in settings {
        for (time, advice) in [
            (Duration::ZERO, "at least 1 ms"),
            (Duration::MAX, "a shorter time"),
        ] {
            let config = set(CacheConfig::memory(), time);
            let refused = refusal(CacheManager::builder().cache("c", config));
            assert_says(&refused, &["`c`", setting, advice]);
            assert!(
                !refused.contains("disabled()") && !refused.contains("no_ttl()"),
                "{refused}"
            );
        }
    }
}

#[test]
fn other_settings_that_cannot_be() {
    for (config, says) in [
        (CacheConfig::memory().ttl_jitter(1.5), "`ttl_jitter`"),
        (CacheConfig::memory().ttl_jitter(-0.1), "`ttl_jitter`"),
        (CacheConfig::memory().ttl_jitter(f64::NAN), "`ttl_jitter`"),
        (CacheConfig::memory().max_capacity(0), "`max_capacity`"),
        (CacheConfig::memory().prefix(""), "`prefix`"),
        (CacheConfig::memory().prefix("cs:mine"), "`prefix`"),
        (CacheConfig::memory().prefix("a\r\nb"), "`prefix`"),
    ] {
        assert_says(
            &refusal(CacheManager::builder().cache("c", config)),
            &["`c`", says],
        );
    }
}

#[test]
fn case_019_two_caches_with_one_prefix() {
    let on = |prefix: &str| CacheConfig::on(MapBackend::new()).prefix(prefix);
    let refused = refusal(
        CacheManager::builder()
            .cache("a", on("shop"))
            .cache("b", on("shop")),
    );
    assert_says(&refused, &["`a`", "`b`", "`shop`", "{cache-name}"]);
    // It may also be another cache's own prefix, and come from the defaults.
    let refused = refusal(
        CacheManager::builder()
            .cache("a", on("cache:b"))
            .cache("b", CacheConfig::on(MapBackend::new())),
    );
    assert_says(&refused, &["`a`", "`b`", "`cache:b`"]);

    let caches = CacheManager::builder()
        .defaults(on("shop"))
        .build()
        .expect("one cache may have such a prefix");
    assert!(caches.cache::<u64>("a").is_ok());
    let refused = caches.cache::<u64>("b").map(drop).unwrap_err().to_string();
    assert_says(&refused, &["`a`", "`b`", "`shop`"]);

    let both = CacheManager::builder()
        .cache("a", on("shop:{cache-name}"))
        .cache("b", on("shop:{cache-name}"))
        // In memory a prefix means nothing.
        .cache("c", CacheConfig::memory().prefix("shop:a"))
        .build();
    assert!(both.is_ok());
}

#[test]
fn case_077_idleness_is_not_known_on_a_backend() {
    let config = CacheConfig::on(MapBackend::new()).time_to_idle(DAY);
    let refused = refusal(CacheManager::builder().cache("c", config));
    assert_says(
        &refused,
        &["`c`", "`time_to_idle`", "CacheConfig::memory()"],
    );
}
