//! When it happens, and whether.

use cache_core::{cache_invalidate, cache_invalidate_all, cache_result};
use tests::{bodies, body, both, caches};

both!(
    when_success_leaves_the_entry_if_the_body_fails,
    when_always_ends_the_entry_if_the_body_fails,
    when_before_ends_the_entry_before_the_body,
    value_of_the_body_decides,
);

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
