//! Methods of types and traits.

use std::future::Future;

use cache_core::{CacheManager, cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use tests::{assert_value_keys, bodies, body, both, caches};

both!(
    methods_of_a_type,
    methods_of_a_trait,
    methods_under_async_trait,
    default_methods_of_a_trait,
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
