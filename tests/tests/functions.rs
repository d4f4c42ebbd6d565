//! Where the attributes can stand: functions, methods, traits, generic or not.

use std::{fmt::Display, future::Future, pin::pin, rc::Rc, sync::Arc};

use cache_core::{CacheManager, cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use serde::{Serialize, de::DeserializeOwned};
use tests::{assert_value_keys, bodies, body, both, caches, spawn};

both!(
    methods_of_a_type,
    methods_of_a_trait,
    methods_under_async_trait,
    default_methods_of_a_trait,
    generic_functions,
    generic_types,
    instances_of_a_generic_function_never_get_each_others_values,
    borrowed_arguments_need_not_live_for_ever,
    futures_can_be_sent,
    futures_stay_small,
    question_marks_and_early_returns,
    functions_that_call_functions,
    attributes_made_by_a_macro,
);

/// A service that has its caches with it, as a program without a process-wide manager would.
struct Service {
    caches: CacheManager,
    name: String,
}

impl Service {
    fn new() -> Self {
        Self {
            caches: caches(),
            name: "s".to_owned(),
        }
    }

    /// A method with everything around it that a method can have.
    #[must_use]
    #[cache_result(cache = "c", ttl = "30s", manager = self.caches)]
    pub(crate) async fn read(&self, #[cache_key] id: u32, trace: &str) -> String {
        body("read");
        format!("{} {id} {trace}", self.name)
    }

    #[cache_put(cache = "c", key = id, manager = self.caches)]
    async fn write(&mut self, id: u32, name: &str) -> Result<String, String> {
        name.clone_into(&mut self.name);
        Ok(format!("{name} {id}"))
    }

    #[cache_invalidate(cache = "c", manager = &self.caches)]
    async fn delete(self, id: u32) -> Option<u32> {
        Some(id)
    }

    #[cache_invalidate_all(cache = "c", manager = manager)]
    async fn clear(manager: &CacheManager) {
        let _ = manager;
    }
}

async fn methods_of_a_type() {
    let mut service = Service::new();
    assert_eq!(service.read(1, "a").await, "s 1 a");
    assert_eq!(service.read(1, "b").await, "s 1 a");
    assert_eq!(bodies("read"), 1);
    assert_value_keys(&["cache:c:1"]).await;
    assert_eq!(service.write(1, "t").await.as_deref(), Ok("t 1"));
    assert_eq!(service.read(1, "c").await, "t 1");
    assert_eq!(bodies("read"), 1);
    assert_eq!(service.delete(1).await, Some(1));
    let service = Service::new();
    assert_eq!(service.read(1, "d").await, "s 1 d");
    Service::clear(&service.caches).await;
    assert_eq!(service.read(1, "e").await, "s 1 e");
}

trait Read {
    fn read(&self, id: u32) -> impl Future<Output = u64> + Send;
    fn forget(&self, id: u32) -> impl Future<Output = ()> + Send;
}

struct One;
struct Two;

impl Read for One {
    #[cache_result(cache = "one", manager = caches())]
    async fn read(&self, id: u32) -> u64 {
        u64::from(id) + body("one")
    }

    #[cache_invalidate(cache = "one", manager = caches())]
    async fn forget(&self, id: u32) {
        let _ = id;
    }
}

impl Read for Two {
    #[cache_result(cache = "two", manager = caches())]
    async fn read(&self, id: u32) -> u64 {
        u64::from(id) + body("two")
    }

    #[cache_invalidate_all(cache = "two", manager = caches())]
    async fn forget(&self, _id: u32) {}
}

async fn read_twice(from: &impl Read) {
    assert_eq!(from.read(7).await, from.read(7).await);
}

async fn methods_of_a_trait() {
    read_twice(&One).await;
    read_twice(&Two).await;
    assert_eq!((bodies("one"), bodies("two")), (1, 1));
    One.forget(7).await;
    read_twice(&One).await;
    read_twice(&Two).await;
    assert_eq!((bodies("one"), bodies("two")), (2, 1));
    Two.forget(0).await;
    read_twice(&Two).await;
    assert_eq!(bodies("two"), 2);
}

#[async_trait::async_trait]
trait Repository: Send + Sync {
    async fn find(&self, id: u32) -> Result<Option<String>, String>;
    async fn save(&self, id: u32, name: &str) -> Result<(), String>;

    #[cache_result(cache = "count", manager = caches())]
    async fn count(&self) -> usize {
        body("count");
        self.size()
    }

    fn size(&self) -> usize;
}

struct Inside;
struct Boxed;

#[async_trait::async_trait]
impl Repository for Inside {
    #[cache_result(cache = "names", manager = caches())]
    async fn find(&self, id: u32) -> Result<Option<String>, String> {
        body("inside");
        Ok((id == 1).then(|| "Ada".to_owned()))
    }

    #[cache_invalidate(cache = "names", key = id, manager = caches())]
    #[cache_invalidate_all(cache = "count", manager = caches())]
    async fn save(&self, id: u32, name: &str) -> Result<(), String> {
        let _ = id;
        if name.is_empty() {
            Err("empty".to_owned())
        } else {
            Ok(())
        }
    }

    fn size(&self) -> usize {
        1
    }
}

impl Boxed {
    /// Boxed by hand.
    #[cache_result(cache = "boxed", manager = caches())]
    fn find<'a>(
        &'a self,
        id: u32,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<u32, String>> + Send + 'a>> {
        Box::pin(async move {
            body("boxed");
            Ok(id)
        })
    }
}

async fn methods_under_async_trait() {
    let repository: Box<dyn Repository> = Box::new(Inside);
    for _ in 0..2 {
        assert_eq!(repository.find(1).await, Ok(Some("Ada".to_owned())));
        assert_eq!(repository.find(2).await, Ok(None));
        assert_eq!(repository.count().await, 1);
        assert_eq!(Boxed.find(7).await, Ok(7));
    }
    assert_eq!(
        (bodies("inside"), bodies("count"), bodies("boxed")),
        (2, 1, 1)
    );
    repository.save(1, "").await.expect_err("refused");
    repository.find(1).await.expect("found");
    assert_eq!(bodies("inside"), 2);
    repository.save(1, "Ada").await.expect("saved");
    repository.find(1).await.expect("found");
    repository.find(2).await.expect("found");
    repository.count().await;
    assert_eq!((bodies("inside"), bodies("count")), (3, 2));
}

#[allow(async_fn_in_trait)] // as an application may have it
trait Greet {
    fn name(&self) -> String;

    #[cache_result(cache = "greetings", key = (self.name(), language), manager = caches())]
    async fn greet(&self, language: &str) -> String {
        body("greet");
        format!("{language}: {}", self.name())
    }
}

impl Greet for &str {
    fn name(&self) -> String {
        (*self).to_owned()
    }
}

impl Greet for u8 {
    fn name(&self) -> String {
        self.to_string()
    }
}

async fn default_methods_of_a_trait() {
    for _ in 0..2 {
        assert_eq!("Ada".greet("en").await, "en: Ada");
        assert_eq!(7.greet("en").await, "en: 7");
    }
    assert_eq!(bodies("greet"), 2);
}

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

#[derive(Clone)]
struct Large([u64; 512]);

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

    // As they would be without attributes, they are smaller than 100 bytes but for the value that a caller waits for.
    for (name, size) in [
        ("innermost", size_of_val(&innermost(1))),
        ("outermost", size_of_val(&outermost(1))),
        ("large", size_of_val(&large(1))),
        ("put", size_of_val(&put(1))),
        ("invalidate", size_of_val(&invalidate(1))),
    ] {
        assert!(size <= 1024, "the future of `{name}` has {size} bytes");
    }
    assert_eq!(outermost(1).await, 3);
    assert_eq!(invalidate(1).await.map(|large| large.0[511]), Ok(2));
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Job = Arc<dyn Fn(u32) -> u32 + Send + Sync>;

/// Compiles if a future can be sent. It is not run.
fn assert_send(future: impl Future + Send) {
    drop(future);
}

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
    assert_send(boxed_error("a"));
    assert_send(job(1, &["a"]));
    assert_send(put(&names));
    assert_send(invalidate("a", &plus_one));
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
