//! Every shape of function with every attribute, in every store: each hits, misses, invalidates and has the key that it should.

use std::{fmt::Display, future::Future, pin::Pin, sync::Arc};

use cache_core::{Cache, cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use serde::Serialize;
use tests::{body, both, caches};

both!(
    result_of_all_arguments,
    result_of_a_key,
    put_of_all_arguments,
    put_of_a_key,
    put_of_the_value,
    invalidate_of_all_arguments,
    invalidate_of_a_key,
    invalidate_all,
    refresh,
);

type Value = Result<u64, String>;

/// What every function here does: its values tell its runs apart.
fn run(id: u64, name: &str) -> Value {
    if name.is_empty() {
        return Err("no name".to_owned());
    }
    Ok(id * 1000 + body("matrix"))
}

/// The functions of every shape with the same attributes, whose names for the arguments are handed in with them.
macro_rules! shapes {
    ($module:ident($id:ident, $name:ident) $(#[$attribute:meta])+) => {
        mod $module {
            use super::*;

            $(#[$attribute])+
            async fn free($id: u64, $name: &str) -> Value {
                run($id, $name)
            }

            $(#[$attribute])+
            async fn generic<T, const N: usize>($id: u64, $name: &T) -> Value
            where
                T: Display + Serialize + Send + Sync + ?Sized,
            {
                run($id + N as u64, &$name.to_string())
            }

            $(#[$attribute])+
            async fn any($id: u64, $name: impl Display + Serialize + Send) -> Value {
                let name = $name.to_string();
                run($id, &name)
            }

            $(#[$attribute])+
            async fn changing(mut $id: u64, mut $name: String) -> Value {
                $name.insert(0, 'x');
                $id *= u64::from(!$name.is_empty());
                run($id, &$name[1..])
            }

            $(#[$attribute])+
            fn boxed($id: u64, $name: &str) -> Pin<Box<dyn Future<Output = Value> + Send>> {
                let name = $name.to_owned();
                Box::pin(async move { run($id, &name) })
            }

            pub(super) struct Service(u64);

            impl Service {
                $(#[$attribute])+
                async fn method(&self, $id: u64, $name: &str) -> Value {
                    run($id + self.0, $name)
                }

                $(#[$attribute])+
                async fn shared(self: Arc<Self>, $id: u64, $name: &str) -> Value {
                    run($id + self.0, $name)
                }
            }

            trait Native {
                async fn native(&mut self, $id: u64, $name: &str) -> Value;

                $(#[$attribute])+
                async fn default($id: u64, $name: &str) -> Value {
                    run($id, $name)
                }
            }

            impl Native for Service {
                $(#[$attribute])+
                async fn native(&mut self, $id: u64, $name: &str) -> Value {
                    self.0 = 0;
                    run($id, $name)
                }
            }

            #[async_trait::async_trait]
            trait Dynamic {
                async fn dynamic(&self, $id: u64, $name: &str) -> Value;
            }

            #[async_trait::async_trait]
            impl Dynamic for Service {
                #[tracing::instrument(skip_all, err)]
                $(#[$attribute])+
                async fn dynamic(&self, $id: u64, $name: &str) -> Value {
                    run($id + self.0, $name)
                }
            }

            /// Checks them one after another, each on an empty cache.
            pub(super) async fn check(check: impl AsyncFn(&dyn Call)) {
                let shapes: [(&str, Shape); 10] = [
                    ("free", |id, name| Box::pin(free(id, name))),
                    ("generic", |id, name| Box::pin(generic::<_, 0>(id, name))),
                    ("any", |id, name| Box::pin(any(id, name))),
                    ("changing", |id, name| Box::pin(changing(id, name.to_owned()))),
                    ("boxed", |id, name| Box::pin(boxed(id, name))),
                    ("method", |id, name| Box::pin(async move { Service(0).method(id, name).await })),
                    ("shared", |id, name| Box::pin(Arc::new(Service(0)).shared(id, name))),
                    ("native", |id, name| Box::pin(async move { Service(0).native(id, name).await })),
                    ("default", |id, name| Box::pin(Service::default(id, name))),
                    ("dynamic", |id, name| Box::pin(async move { Service(0).dynamic(id, name).await })),
                ];
                for (name, shape) in shapes {
                    println!("{}: {name}", stringify!($module));
                    cache().invalidate_all().await.expect("it works");
                    check(&shape).await;
                    caches().settle().await;
                }
            }
        }
    };
}

type Shape = for<'a> fn(u64, &'a str) -> Pin<Box<dyn Future<Output = Value> + 'a>>;

/// One of the functions, whatever its shape.
trait Call {
    fn call<'a>(&self, id: u64, name: &'a str) -> Pin<Box<dyn Future<Output = Value> + 'a>>;
}

impl Call for Shape {
    fn call<'a>(&self, id: u64, name: &'a str) -> Pin<Box<dyn Future<Output = Value> + 'a>> {
        self(id, name)
    }
}

fn cache() -> Cache<u64> {
    caches().cache("c").expect("a cache of numbers")
}

/// What is stored under a key.
async fn stored(key: &impl Serialize) -> Option<u64> {
    caches().settle().await;
    cache().get(key).await
}

shapes!(result(id, name) #[cache_result(cache = "c", manager = caches())]);

async fn result_of_all_arguments() {
    result::check(async |f| {
        let first = f.call(1, "a").await;
        assert_eq!(f.call(1, "a").await, first);
        assert_eq!(stored(&(1, "a")).await, first.ok());
        assert!(f.call(1, "b").await > f.call(1, "a").await);
        f.call(1, "").await.expect_err("no name");
        assert_eq!(stored(&(1, "")).await, None);
    })
    .await;
}

shapes!(result_key(id, name) #[cache_result(cache = "c", key = id, manager = caches())]);

async fn result_of_a_key() {
    result_key::check(async |f| {
        let first = f.call(1, "a").await;
        assert_eq!(f.call(1, "b").await, first);
        assert_eq!(stored(&1).await, first.ok());
        assert_ne!(f.call(2, "a").await, f.call(1, "a").await);
    })
    .await;
}

shapes!(put(id, name) #[cache_put(cache = "c", manager = caches())]);

async fn put_of_all_arguments() {
    put::check(async |f| {
        let first = f.call(1, "a").await.expect("a name");
        assert_eq!(stored(&(1, "a")).await, Some(first));
        assert_eq!(f.call(1, "a").await, Ok(first + 1));
        assert_eq!(stored(&(1, "a")).await, Some(first + 1));
        assert_eq!(stored(&(1, "b")).await, None);
    })
    .await;
}

shapes!(put_key(id, name) #[cache_put(cache = "c", key = (id, "put"), manager = caches())]);

async fn put_of_a_key() {
    put_key::check(async |f| {
        let first = f.call(1, "a").await;
        assert_eq!(stored(&(1, "put")).await, first.ok());
        f.call(1, "").await.expect_err("no name");
        assert!(stored(&(1, "put")).await.is_some());
    })
    .await;
}

shapes!(put_value(id, name) #[cache_put(cache = "c", key_with = |value: &u64| value / 1000, manager = caches())]);

async fn put_of_the_value() {
    put_value::check(async |f| {
        let first = f.call(7, "a").await;
        assert_eq!(stored(&7).await, first.ok());
    })
    .await;
}

/// Entries for an invalidation to choose from.
async fn fill() {
    let cache = cache();
    for id in [1, 2] {
        cache.insert(&id, id).await.expect("it works");
        cache.insert(&(id, "a"), id).await.expect("it works");
    }
}

async fn left() -> [bool; 4] {
    [
        stored(&1).await.is_some(),
        stored(&2).await.is_some(),
        stored(&(1, "a")).await.is_some(),
        stored(&(2, "a")).await.is_some(),
    ]
}

shapes!(invalidate(id, name) #[cache_invalidate(cache = "c", manager = caches())]);

async fn invalidate_of_all_arguments() {
    invalidate::check(async |f| {
        fill().await;
        f.call(1, "").await.expect_err("no name");
        assert_eq!(left().await, [true; 4]);
        f.call(1, "a").await.expect("a name");
        assert_eq!(left().await, [true, true, false, true]);
    })
    .await;
}

shapes!(invalidate_key(id, name) #[cache_invalidate(cache = "c", key = id, when = "always", manager = caches())]);

async fn invalidate_of_a_key() {
    invalidate_key::check(async |f| {
        fill().await;
        f.call(1, "").await.expect_err("no name");
        assert_eq!(left().await, [false, true, true, true]);
    })
    .await;
}

shapes!(all(id, name) #[cache_invalidate_all(cache = "c", condition = id > 1, manager = caches())]);

async fn invalidate_all() {
    all::check(async |f| {
        fill().await;
        f.call(1, "a").await.expect("a name");
        assert_eq!(left().await, [true; 4]);
        f.call(2, "a").await.expect("a name");
        assert_eq!(left().await, [false; 4]);
    })
    .await;
}

shapes!(refreshing(id, name)
    #[cache_result(cache = "c", manager = caches())]
    #[cache_invalidate(cache = "c", manager = caches())]
    #[cache_invalidate(cache = "other", key = id, manager = caches())]
);

async fn refresh() {
    refreshing::check(async |f| {
        fill().await;
        let first = f.call(1, "a").await.expect("a name");
        assert_eq!(stored(&(1, "a")).await, Some(first));
        assert_eq!(f.call(1, "a").await, Ok(first + 1));
        assert_eq!(left().await, [true; 4]);
    })
    .await;
}
