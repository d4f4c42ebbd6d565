//! Types that borrow, where they may: errors from the arguments, values from the program itself.

use std::{borrow::Cow, sync::Arc};

use cache_core::{cache_invalidate, cache_put, cache_result};
use tests::{bodies, body, both, caches};

both!(
    errors_may_borrow,
    errors_may_hide_a_borrow,
    values_may_hold_what_is_static,
);

#[derive(Clone, Debug, PartialEq)]
struct Bad<'a>(&'a str);

trait HasError {
    type Error: Clone + Send + Sync;
}

impl<'a> HasError for Bad<'a> {
    type Error = Bad<'a>;
}

struct Repository<E>(E);

impl<E: Clone + Send + Sync> Repository<E> {
    #[cache_result(cache = "hidden", manager = caches())]
    async fn find(&self, #[cache_key] id: u64) -> Result<u64, E> {
        if id == 0 { Err(self.0.clone()) } else { Ok(id) }
    }
}

trait Service {
    type Error: Clone + Send + Sync;

    fn error(&self) -> Self::Error;

    #[cache_result(cache = "hidden", manager = caches())]
    async fn find(&self, #[cache_key] id: u64) -> Result<u64, Self::Error> {
        if id == 0 { Err(self.error()) } else { Ok(id) }
    }
}

impl<'a> Service for Bad<'a> {
    type Error = Self;

    fn error(&self) -> Self {
        self.clone()
    }

    #[cache_result(cache = "hidden", manager = caches())]
    async fn find(&self, #[cache_key] id: u64) -> Result<u64, Self> {
        if id == 0 { Err(self.clone()) } else { Ok(id) }
    }
}

/// Whether an error may be given to those who wait is asked only of one that cannot borrow.
async fn errors_may_hide_a_borrow() {
    #[cache_result(cache = "hidden", key = id, manager = caches())]
    async fn projected<H: HasError>(
        id: u64,
        error: H::Error,
    ) -> Result<u64, <H as HasError>::Error> {
        if id == 0 { Err(error) } else { Ok(id) }
    }

    #[cache_result(cache = "hidden", key = text.len(), manager = caches())]
    async fn object<'a>(text: &'a str) -> Result<u64, Arc<dyn Borrows + Send + Sync + 'a>> {
        Err(Arc::new(Bad(text)))
    }

    let local = "local".to_owned();
    let bad = Bad(&local);
    assert_eq!(Repository(&*local).find(0).await, Err("local"));
    assert_eq!(Service::find(&bad, 0).await, Err(bad.clone()));
    assert_eq!(projected::<Bad<'_>>(0, bad.clone()).await, Err(bad));
    assert_eq!(object(&local).await.map_err(|error| error.length()), Err(5));
}

trait Borrows {
    fn length(&self) -> usize;
}

impl Borrows for Bad<'_> {
    fn length(&self) -> usize {
        self.0.len()
    }
}

async fn errors_may_borrow() {
    #[cache_result(cache = "c", manager = caches())]
    async fn length<'a>(text: &'a str) -> Result<u64, Bad<'a>> {
        body("length");
        if text.is_empty() {
            Err(Bad(text))
        } else {
            Ok(text.len() as u64)
        }
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn again(text: &str) -> Result<u64, &str> {
        Err(text)
    }

    #[cache_put(cache = "c", manager = caches())]
    async fn put<'a>(text: &'a str) -> Result<u64, Bad<'a>> {
        Err(Bad(text))
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn forget<'a>(text: &'a str) -> Result<(), Bad<'a>> {
        Err(Bad(text))
    }

    #[cache_result(cache = "generic", manager = caches())]
    async fn generic<E: Clone + Send + Sync + serde::Serialize>(k: u8, error: E) -> Result<u64, E> {
        if k == 0 { Err(error) } else { Ok(k.into()) }
    }

    assert_eq!(length("").await, Err(Bad("")));
    assert_eq!((length("abc").await, length("abc").await), (Ok(3), Ok(3)));
    assert_eq!(bodies("length"), 2);
    assert_eq!(again("x").await, Err("x"));
    assert_eq!(put("x").await, Err(Bad("x")));
    assert_eq!(forget("x").await, Err(Bad("x")));
    let local = "local".to_owned();
    assert_eq!(generic(0, local.as_str()).await, Err("local"));
}

async fn values_may_hold_what_is_static() {
    #[cache_result(cache = "names", manager = caches())]
    async fn names(n: usize) -> Vec<&'static str> {
        body("names");
        vec!["a"; n]
    }

    #[cache_result(cache = "name", manager = caches())]
    async fn name(n: u8) -> Result<Cow<'static, str>, String> {
        body("name");
        Ok(if n == 0 {
            "none".into()
        } else {
            n.to_string().into()
        })
    }

    assert_eq!(
        (names(2).await, names(2).await),
        (vec!["a"; 2], vec!["a"; 2])
    );
    // What cannot be read back cannot be kept outside of this process.
    assert_eq!(bodies("names"), if tests::on_redis() { 2 } else { 1 });
    assert_eq!(name(7).await.as_deref(), Ok("7"));
    assert_eq!(name(7).await.as_deref(), Ok("7"));
    assert_eq!(bodies("name"), 1);
}
