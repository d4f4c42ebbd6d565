//! Bodies of every form, and the futures around them.

use std::{future::Future, pin::pin, rc::Rc, sync::Arc};

use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use tests::{assert_value_keys, bodies, body, both, caches, spawn};

both!(
    futures_can_be_sent,
    futures_stay_small,
    question_marks_and_early_returns,
    functions_that_call_functions,
    attributes_made_by_a_macro,
);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

type Job = Arc<dyn Fn(u32) -> u32 + Send + Sync>;

/// Compiles if a future can be sent. It is not run.
fn assert_send(future: impl Future + Send) {
    drop(future);
}

async fn futures_stay_small() {
    #[cache_result(cache = "c0", manager = caches())]
    async fn innermost(k: u32) -> u32 {
        tokio::task::yield_now().await;
        k
    }
    #[cache_result(cache = "c1", manager = caches())]
    async fn third(k: u32) -> u32 {
        innermost(k).await
    }
    #[cache_result(cache = "c2", manager = caches())]
    async fn second(k: u32) -> u32 {
        third(k).await
    }
    #[cache_result(cache = "c3", manager = caches())]
    async fn outermost(k: u32) -> u32 {
        second(k).await + third(k + 1).await
    }
    #[cache_result(cache = "large", manager = caches())]
    async fn large(k: u64) -> Result<Large, String> {
        tokio::task::yield_now().await;
        Ok(Large([k; 512]))
    }
    #[cache_put(cache = "large", manager = caches())]
    async fn put(k: u64) -> Result<Large, String> {
        large(k + 1).await
    }
    #[cache_invalidate(cache = "large", manager = caches())]
    #[cache_invalidate(cache = "c1", when = "always", manager = caches())]
    #[cache_invalidate_all(cache = "c0", manager = caches())]
    async fn invalidate(k: u64) -> Result<Large, String> {
        put(k).await
    }

    for (name, size) in [
        ("innermost", size_of_val(&innermost(1))),
        ("outermost", size_of_val(&outermost(1))),
        ("large", size_of_val(&large(1))),
        ("put", size_of_val(&put(1))),
        ("invalidate", size_of_val(&invalidate(1))),
    ] {
        println!("{name}: {size} bytes");
        assert!(size <= 1024, "the future of `{name}` has {size} bytes");
    }
    assert_eq!(outermost(1).await, 3);
    assert_eq!(invalidate(1).await.map(|large| large.0[511]), Ok(2));
}

#[derive(Clone)]
struct Large([u64; 512]);

async fn futures_can_be_sent() {
    #[cache_result(cache = "c", manager = caches())]
    #[cache_invalidate_all(cache = "d", manager = caches())]
    async fn boxed_error(k: &str) -> Result<usize, BoxError> {
        tokio::task::yield_now().await;
        Ok(k.len())
    }

    #[cache_result(cache = "jobs", store_if = |job: &Job| job(1) > 0, manager = caches())]
    async fn job(plus: u32, #[cache_key(hash)] tags: &[&str]) -> Job {
        let plus = plus + u32::try_from(tags.len()).unwrap_or(0);
        Arc::new(move |n| n + plus)
    }

    #[cache_put(
        cache = "c",
        key_with = |n: &usize| (*n, "a"),
        ttl_with = |n: &usize| std::time::Duration::from_secs(*n as u64),
        manager = caches()
    )]
    async fn put(names: &[String]) -> Result<usize, BoxError> {
        Ok(names.len())
    }

    #[cache_invalidate(cache = "c", key_with = |k: &String| k.as_str(), manager = caches())]
    #[cache_invalidate(cache = "c", key = (k, 1), when = "always", manager = caches())]
    #[cache_invalidate_all(cache = "d", when = "before", condition = k.is_empty(), manager = caches())]
    async fn invalidate(k: &str, job: &Job) -> Result<String, BoxError> {
        job(1);
        Ok(k.to_owned())
    }

    let (plus_one, names): (Job, _) = (Arc::new(|n| n + 1), ["a".to_owned()]);
    assert_send(boxed_error("a"));
    assert_send(job(1, &["a"]));
    assert_send(put(&names));
    assert_send(invalidate("a", &plus_one));

    // An error that cannot be sent is no hindrance as long as no future holds one while it waits.
    #[cache_result(cache = "c", manager = caches())]
    #[cache_invalidate(cache = "d", manager = caches())]
    async fn local_error(k: &str) -> Result<usize, Box<dyn std::error::Error>> {
        tokio::task::yield_now().await;
        Ok(k.len())
    }

    #[cache_put(cache = "c", manager = caches())]
    async fn put_or_local_error(k: u8) -> Result<usize, Rc<str>> {
        tokio::task::yield_now().await;
        Ok(k.into())
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    #[cache_invalidate_all(cache = "d", manager = caches())]
    async fn invalidate_or_local_error(k: u8) -> Result<(), Rc<str>> {
        tokio::task::yield_now().await;
        assert!(k > 0);
        Ok(())
    }

    let (plus_one, names): (Job, _) = (Arc::new(|n| n + 1), ["a".to_owned()]);
    assert_send(local_error("a"));
    assert_send(put_or_local_error(1));
    assert_send(invalidate_or_local_error(1));

    assert_send(async {
        let n = boxed_error("a").await? + put(&names).await?;
        Ok::<_, BoxError>(
            invalidate(&n.to_string(), &job(1, &["a"]).await)
                .await?
                .len(),
        )
    });
    let by_hand = caches().cache::<usize>("c").expect("the functions' type");
    assert_send(by_hand.try_get_or_load("a", async { boxed_error("a").await }));
    assert_send(by_hand.get_or_load(&("a", 1), async { 1 }));
    assert_send(by_hand.insert("a", 1));
    assert_send(by_hand.get("a"));
    assert_send(by_hand.invalidate("a"));
    assert_send(by_hand.invalidate_all());
    assert_send(by_hand.invalidate_if(|text| text.is_empty()));
    let jobs = caches().cache::<Job>("jobs").expect("the functions' type");
    assert_send(jobs.get_or_load(&1, async { Arc::clone(&plus_one) }));
    assert_send(jobs.try_get_or_load(&1, async { Ok::<_, BoxError>(Arc::clone(&plus_one)) }));
    assert_eq!(
        spawn(async { boxed_error("abc").await.map_err(|error| error.to_string()) })
            .await
            .expect("no panic"),
        Ok(3)
    );

    // What a plain function may not do across threads, the annotated one need not.
    #[cache_result(cache = "c", key = *k, manager = caches())]
    async fn local(k: Rc<usize>) -> usize {
        tokio::task::yield_now().await;
        *k
    }
    assert_eq!((local(1.into()).await, local(2.into()).await), (1, 2));
}

async fn question_marks_and_early_returns() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(text: &str) -> Result<u32, std::num::ParseIntError> {
        body("f");
        if text == "seven" {
            return Ok(7);
        }
        let n: u32 = text.parse()?;
        Ok(n)
    }

    for _ in 0..2 {
        assert_eq!(f("seven").await, Ok(7));
        assert_eq!(f("8").await, Ok(8));
        assert!(f("x").await.is_err());
    }
    assert_eq!(bodies("f"), 4);
}

async fn functions_that_call_functions() {
    #[cache_result(cache = "inner", manager = caches())]
    async fn inner(k: u32) -> String {
        body("inner");
        k.to_string()
    }

    #[cache_result(cache = "outer", manager = caches())]
    async fn outer(k: &str) -> String {
        body("outer");
        format!("{k}:{}", inner(42).await)
    }

    for _ in 0..2 {
        assert_eq!(outer("fubar").await, "fubar:42");
    }
    assert_eq!((bodies("inner"), bodies("outer")), (1, 1));
    assert_value_keys(&["cache:inner:42", "cache:outer:fubar"]).await;
}

async fn attributes_made_by_a_macro() {
    macro_rules! cached {
        ($name:ident, $cache:literal, $ttl:expr, $key:ident: $type:ty => $value:expr) => {
            #[cache_result(cache = $cache, ttl = $ttl, key = $key, manager = caches())]
            async fn $name($key: $type) -> u64 {
                body(stringify!($name));
                $value
            }
        };
    }
    cached!(double, "doubles", "30s", n: u64 => n * 2);
    cached!(triple, "triples", std::time::Duration::from_secs(30), n: u64 => n * 3);

    for _ in 0..2 {
        assert_eq!((double(2).await, triple(2).await), (4, 6));
    }
    assert_eq!((bodies("double"), bodies("triple")), (1, 1));
    // Pinned and polled by hand, as a combinator would.
    let mut pinned = pin!(double(2));
    assert_eq!(pinned.as_mut().await, 4);
}
