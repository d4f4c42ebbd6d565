//! Contexts as a program sees them.

mod caching;
mod keys;
mod serving;
mod verifying;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime},
};

use cache_core::{CacheConfig, CacheManager, CacheStats, testing::TestClock};
use jsonwebtoken::{EncodingKey, Header};
use request_context::{Contexts, Error, RequestContext, Secret, VerifyOptions};
use serde_json::{Value, json};

const SECRET: &[u8] = b"0123456789 a secret of the tests";
const OTHER_SECRET: &[u8] = b"another secret of the same tests";

/// Contexts with clocks of their own.
struct Fixture {
    contexts: Contexts,
    caches: CacheManager,
    /// What the cache goes by.
    clock: TestClock,
    /// By how many seconds the time of day was set forward.
    set: Arc<AtomicI64>,
}

impl Fixture {
    fn new() -> Self {
        Self::with(Contexts::config())
    }

    fn with(config: CacheConfig) -> Self {
        let clock = TestClock::new();
        let caches = CacheManager::builder()
            .clock(&clock)
            .cache("request-context", config)
            .build()
            .unwrap();
        let set = Arc::<AtomicI64>::default();
        let by = Arc::clone(&set);
        let wall = move || {
            let seconds = by.load(Ordering::Relaxed);
            let by = Duration::from_secs(seconds.unsigned_abs());
            let now = SystemTime::now();
            if seconds < 0 { now - by } else { now + by }
        };
        let contexts = Contexts::in_caches(caches.clone()).unwrap();
        Self {
            contexts: contexts.by(Arc::new(wall)),
            caches,
            clock,
            set,
        }
    }

    async fn ask(&self, question: &Question) -> Result<Arc<RequestContext>, Error> {
        question.ask(&self.contexts).await
    }

    fn stats(&self) -> CacheStats {
        self.caches.stats()["request-context"]
    }

    async fn keys(&self) -> Vec<String> {
        keys(&self.caches).await
    }
}

/// The keys of all entries.
async fn keys(caches: &CacheManager) -> Vec<String> {
    let seen = Mutex::new(Vec::new());
    let cache = caches
        .cache::<Arc<RequestContext>>("request-context")
        .unwrap();
    cache
        .invalidate_if(|key| {
            seen.lock().unwrap().push(key.to_owned());
            false
        })
        .await
        .unwrap();
    seen.into_inner().unwrap()
}

/// The arguments of `request_context`, with something for each.
#[derive(Clone)]
struct Question {
    jwt: Option<String>,
    secret: Secret,
    audiences: Vec<String>,
    role: Vec<String>,
    options: VerifyOptions,
    default_role: Option<String>,
    settings: Vec<(&'static str, &'static str)>,
}

impl Question {
    fn new(claims: &Value) -> Self {
        let secret = Secret::new(SECRET).unwrap();
        Self {
            jwt: Some(sign(claims)),
            secret,
            audiences: texts(&["shop"]),
            role: texts(&["role"]),
            options: VerifyOptions::default(),
            default_role: Some("visitor".to_owned()),
            settings: vec![("app.language", "en")],
        }
    }

    fn with_token(jwt: impl Into<String>) -> Self {
        Self {
            jwt: Some(jwt.into()),
            ..Self::new(&claims())
        }
    }

    async fn ask(&self, contexts: &Contexts) -> Result<Arc<RequestContext>, Error> {
        contexts
            .request_context(
                self.jwt.as_deref(),
                &self.secret,
                &self.audiences,
                &self.role,
                &self.options,
                self.default_role.as_deref(),
                &self.settings,
            )
            .await
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// What is the matter with nothing.
fn claims() -> Value {
    json!({ "sub": "ada", "role": "customer", "aud": "shop", "exp": in_seconds(3_600) })
}

/// The same with one claim more, or another one in its place.
fn claims_with(name: &str, value: impl Into<Value>) -> Value {
    let mut claims = claims();
    claims[name] = value.into();
    claims
}

fn claims_without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

fn in_seconds(seconds: i64) -> i64 {
    i64::try_from(jsonwebtoken::get_current_timestamp()).unwrap() + seconds
}

fn sign(claims: &Value) -> String {
    // A `Secret` brings the cryptography along.
    Secret::new(SECRET).unwrap();
    let key = EncodingKey::from_secret(SECRET).unwrap();
    jsonwebtoken::encode(&Header::default(), claims, &key).unwrap()
}
