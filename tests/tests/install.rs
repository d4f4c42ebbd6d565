//! The process-wide manager, of which there is one in a program: hence one test.

use std::time::Duration;

use cache_core::{CacheConfig, CacheError, CacheManager, cache_result};

#[cache_result(cache = "c")]
async fn f(k: u64) -> u64 {
    k
}

#[tokio::test]
async fn the_first_to_install_wins_and_is_named_to_the_second() {
    let strict = CacheManager::builder()
        .strict()
        .cache("nobody-names-it", CacheConfig::memory())
        .build()
        .expect("the configuration is valid");
    let refused = strict.install();
    assert!(
        matches!(refused, Err(CacheError::Check { .. })),
        "{refused:?}"
    );

    // What was refused has changed nothing.
    let first = CacheManager::builder()
        .defaults(CacheConfig::memory().ttl(Duration::from_secs(7)))
        .build()
        .expect("the configuration is valid");
    let line = line!() + 1;
    first.install().expect("nobody was there before");

    let second = CacheManager::builder()
        .build()
        .expect("the defaults are valid");
    for late in [&second, &first] {
        let Err(CacheError::AlreadyInstalled { by }) = late.install() else {
            panic!("there is one already");
        };
        assert!(by.contains("installed"), "{by}");
        assert!(by.ends_with(&format!("tests/install.rs:{line}")), "{by}");
    }

    assert_eq!((f(1).await, f(1).await), (1, 1));
    assert_eq!(first.stats()["c"].hits, 1);
    assert!(second.stats().is_empty());
    let global = CacheManager::global()
        .cache::<u64>("c")
        .expect("a valid name");
    assert_eq!(global.config().ttl, Some(Duration::from_secs(7)));
    assert_eq!(global.get(&1).await, Some(1));
}
