//! Functions that are written, boxed, stamped out or compiled in other than the usual way.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use cache_core::{Cache, cache_invalidate, cache_put, cache_result};
use tests::{bodies, body, both, caches};

both!(
    statements_before_a_boxed_block,
    boxed_futures_behind_an_alias,
    parameters_that_are_compiled_on_a_condition,
    receivers_of_every_type,
    functions_stamped_out_by_a_macro,
    recursion,
    b10_beside_instrument,
    b12_beside_instrument_under_async_trait,
);

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

async fn statements_before_a_boxed_block() {
    static CALLED: AtomicU64 = AtomicU64::new(0);

    // The future borrows nothing, and its argument is taken away and renamed before it is made.
    #[cache_result(cache = "c", manager = caches())]
    fn f(name: &str, mut id: u64, tags: Vec<String>) -> BoxFuture<'static, String> {
        CALLED.fetch_add(1, Ordering::Relaxed);
        let name = format!("<{name}>");
        id += 1;
        let tags = tags.join("");
        Box::pin(async move {
            body("f");
            format!("{name}{id}{tags}")
        })
    }

    // One that is left early never gets to the cache.
    #[cache_result(cache = "early", manager = caches())]
    fn early(id: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
        if id == 0 {
            return Box::pin(async { body("zero") });
        }
        return Box::pin(async move { id + body("early") });
    }

    let called = CALLED.load(Ordering::Relaxed);
    let tags = || vec!["x".to_owned()];
    for _ in 0..2 {
        assert_eq!(f("a", 1, tags()).await, "<a>2x");
    }
    drop(f("a", 1, tags()));
    assert_eq!(bodies("f"), 1);
    assert!(CALLED.load(Ordering::Relaxed) >= called + 3);
    // The key is what the caller gave.
    let cache: Cache<String> = caches().cache("c").expect("the function's type");
    let found = cache.get(&("a", 1, ["x"])).await;
    assert_eq!(found.as_deref(), Some("<a>2x"));

    assert_eq!((early(0).await, early(0).await), (0, 1));
    assert_eq!((early(5).await, early(5).await), (5, 5));
}

async fn boxed_futures_behind_an_alias() {
    #[cache_result(cache = "c", store_if = |n: &u64| *n < 5, manager = caches())]
    fn f(id: &u64) -> BoxFuture<'_, Result<u64, String>> {
        Box::pin(async move {
            body("f");
            if *id == 0 {
                Err("zero".to_owned())
            } else {
                Ok(*id)
            }
        })
    }

    for _ in 0..2 {
        assert_eq!((f(&1).await, f(&7).await), (Ok(1), Ok(7)));
        assert!(f(&0).await.is_err());
    }
    // One hit: what is stored is the value in the `Result`.
    assert_eq!(bodies("f"), 5);
    let cache: Cache<u64> = caches().cache("c").expect("the function's type");
    assert_eq!(cache.get(&1).await, Some(1));
}

async fn parameters_that_are_compiled_on_a_condition() {
    #[cache_result(cache = "c", manager = caches())]
    #[cfg_attr(test, cache_invalidate(cache = "d", key = id, manager = caches()))]
    #[cfg_attr(not(test), cache_invalidate(cache = "e", key = gone, manager = caches()))]
    async fn f(
        #[cfg(not(test))] gone: Missing,
        #[cfg(test)] id: u64,
        #[cfg_attr(not(test), cache_key)] name: &str,
    ) -> String {
        body("f");
        format!("{id}{name}")
    }

    let d: Cache<u64> = caches().cache("d").expect("nobody else's");
    d.insert(&1, 1).await.expect("it works");
    for _ in 0..2 {
        assert_eq!(f(1, "a").await, "1a");
    }
    assert_eq!((bodies("f"), d.get(&1).await), (1, None));
    let cache: Cache<String> = caches().cache("c").expect("the function's type");
    assert_eq!(cache.get(&(1, "a")).await.as_deref(), Some("1a"));
}

#[derive(Clone, serde::Serialize)]
struct Shop(u64);

impl Shop {
    #[cache_result(cache = "c", manager = caches())]
    async fn shared(self: Arc<Self>, id: u64) -> u64 {
        self.0 + id + body("methods")
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn boxed(self: Box<Self>, id: u64) -> u64 {
        self.0 + id + body("methods")
    }

    #[allow(clippy::needless_lifetimes)] // to have one in the type of `self`
    #[cache_result(cache = "c", manager = caches())]
    #[allow(clippy::needless_lifetimes)] // a lifetime with a name is what this is about
    async fn named<'a>(self: &'a Arc<Self>, id: u64) -> u64 {
        self.0 + id + body("methods")
    }

    #[cache_put(cache = "c", manager = caches())]
    async fn pinned(mut self: Pin<&mut Self>, id: u64) -> u64 {
        self.0 += 1;
        self.0 + id
    }

    #[cache_put(cache = "c", manager = caches())]
    async fn changed(mut self, mut id: u64, mut other: Self) -> u64 {
        self.0 += 1;
        other.0 += self.0;
        id += other.0;
        id
    }

    #[cache_result(cache = "keyword", manager = caches())]
    async fn r#move(&self, r#type: u64) -> u64 {
        r#type + self.0 + body("methods")
    }
}

async fn receivers_of_every_type() {
    let shop = Arc::new(Shop(10));
    assert_eq!(shop.named(1).await, 11);
    assert_eq!(Arc::clone(&shop).shared(1).await, 11);
    assert_eq!(Box::new(Shop(20)).boxed(1).await, 11);
    assert_eq!(std::pin::pin!(Shop(20)).pinned(1).await, 22);
    assert_eq!(shop.named(1).await, 22);
    assert_eq!(Shop(1).changed(1, Shop(2)).await, 5);
    let cache: Cache<u64> = caches().cache("c").expect("the methods' type");
    assert_eq!(cache.get(&(1, Shop(2))).await, Some(5));
    assert_eq!((shop.r#move(1).await, shop.r#move(1).await), (12, 12));
    assert_eq!(bodies("methods"), 2);
}

async fn functions_stamped_out_by_a_macro() {
    macro_rules! service {
        ($type:ident<$life:lifetime> { $($(#[$meta:meta])* $vis:vis $name:ident($self:ident, $($arg:ident: $ty:ty),*) -> $ret:ty
            where cache = $cache:literal, key = $key:expr, ttl = $ttl:expr, store_if = $store_if:expr, manager = $manager:expr;
            $body:expr;)* }) => {
            struct $type<$life>(&$life str);
            impl<$life> $type<$life> {
                $($(#[$meta])*
                #[cache_result(cache = $cache, key = $key, ttl = $ttl, store_if = $store_if, manager = $manager)]
                $vis async fn $name(&$self, $($arg: $ty),*) -> $ret {
                    body(stringify!($name));
                    $body
                })*
            }
        };
    }
    service! {
        Service<'a> {
            /// Twice.
            pub(crate) double(self, n: u64) -> u64
                where cache = "stamped", key = (self.0, n), ttl = "30s", store_if = |n| *n > 2, manager = caches();
                n * 2;
            #[inline]
            longest(self, n: u64, names: &[&'a str]) -> Result<String, std::num::ParseIntError>
                where cache = "longest", key = n, ttl = std::time::Duration::from_secs(n), store_if = |_| true, manager = &caches();
                Ok(format!("{}{}", self.0.parse::<u64>()?, names.len()));
        }
    }

    let service = Service("1");
    for _ in 0..2 {
        assert_eq!((service.double(1).await, service.double(2).await), (2, 4));
        assert_eq!(service.longest(1, &["a"]).await.as_deref(), Ok("11"));
    }
    assert_eq!((bodies("double"), bodies("longest")), (3, 1));
}

async fn recursion() {
    #[cache_result(cache = "c", manager = caches())]
    async fn fibonacci(n: u64) -> u64 {
        body("fibonacci");
        if n < 2 {
            n
        } else {
            Box::pin(fibonacci(n - 1)).await + Box::pin(fibonacci(n - 2)).await
        }
    }

    assert_eq!(fibonacci(40).await, 102_334_155);
    assert_eq!(bodies("fibonacci"), 41);
}

async fn b10_beside_instrument() {
    #[tracing::instrument(skip(id))]
    #[cache_result(cache = "c", manager = caches())]
    async fn above(id: u64) -> Result<u64, String> {
        Ok(id + body("f"))
    }

    #[cache_result(cache = "c", manager = caches())]
    #[tracing::instrument(err, ret)]
    async fn below(id: u64) -> Result<u64, String> {
        Ok(id + body("f"))
    }

    assert_eq!((above(7).await, below(7).await), (Ok(7), Ok(7)));
    assert_eq!((below(8).await, above(8).await), (Ok(9), Ok(9)));
    assert_eq!(bodies("f"), 2);
}

/// Every place that the attributes can have among each other.
#[async_trait::async_trait]
trait Write {
    async fn first(&mut self, one: u64, two: u64) -> Result<u64, String>;
    async fn last(&mut self, one: u64, two: u64) -> Result<u64, String>;
    async fn between(&mut self, one: u64, two: u64) -> Result<u64, String>;
}

#[async_trait::async_trait]
impl Write for Shop {
    #[tracing::instrument(skip(self), err)]
    #[cache_invalidate(cache = "a", key = one, manager = caches())]
    #[cache_invalidate(cache = "b", key = two, manager = caches())]
    #[cache_core::cache_invalidate_all(cache = "d", manager = caches())]
    #[cache_put(cache = "c", key = (one, two), manager = caches())]
    async fn first(&mut self, one: u64, two: u64) -> Result<u64, String> {
        self.0 += 1;
        Ok(one.checked_add(two).ok_or("too much")?)
    }

    #[cache_put(cache = "c", key = (one, two), manager = caches())]
    #[cache_core::cache_invalidate_all(cache = "d", manager = caches())]
    #[cache_invalidate(cache = "b", key = two, manager = caches())]
    #[cache_invalidate(cache = "a", key = one, manager = caches())]
    #[tracing::instrument(skip(self), err)]
    async fn last(&mut self, one: u64, two: u64) -> Result<u64, String> {
        self.0 += 1;
        Ok(one.checked_add(two).ok_or("too much")?)
    }

    #[cache_invalidate(cache = "b", key = two, manager = caches())]
    #[cache_put(cache = "c", key = (one, two), manager = caches())]
    #[tracing::instrument(skip(self), err)]
    #[cache_core::cache_invalidate_all(cache = "d", manager = caches())]
    #[cache_invalidate(cache = "a", key = one, manager = caches())]
    async fn between(&mut self, one: u64, two: u64) -> Result<u64, String> {
        self.0 += 1;
        Ok(one.checked_add(two).ok_or("too much")?)
    }
}

async fn b12_beside_instrument_under_async_trait() {
    for order in 0..3 {
        let mut caches_of = Vec::new();
        for name in ["a", "b", "d"] {
            let cache: Cache<u64> = caches().cache(name).expect("a cache of numbers");
            cache.insert(&1, 10).await.expect("it works");
            cache.insert(&2, 20).await.expect("it works");
            caches_of.push(cache);
        }
        let mut shop = Shop(0);
        let sum = match order {
            0 => shop.first(1, 2).await,
            1 => shop.last(1, 2).await,
            _ => shop.between(1, 2).await,
        };
        assert_eq!((sum, shop.0), (Ok(3), 1));
        let mut left = Vec::new();
        for cache in &caches_of {
            left.push((cache.get(&1).await, cache.get(&2).await));
        }
        let expected = [(None, Some(20)), (Some(10), None), (None, None)];
        assert_eq!(left, expected, "{order}");
        let c: Cache<u64> = caches().cache("c").expect("a cache of numbers");
        assert_eq!(c.get(&(1, 2)).await, Some(3));
        c.invalidate_all().await.expect("it works");
    }
}
