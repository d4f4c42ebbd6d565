//! The contexts of a server, and how they are cached.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use cache_core::{CacheConfig, CacheError, CacheManager, CacheName, cache_result};
use serde::{Serialize, Serializer};

use crate::{
    context::RequestContext,
    error::Error,
    verify::{Secret, VerifyOptions, verify},
};

const CONTEXTS: CacheName<Arc<RequestContext>> = CacheName::new("request-context");

/// What the program wants PostgreSQL to know besides: names and values, of a request or of all.
pub type Settings<'a> = [(&'a str, &'a str)];

/// What tells the time of day.
pub type WallClock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Gives each request its context.
#[derive(Clone)]
pub struct Contexts {
    caches: CacheManager,
    wall: WallClock,
    cached: bool,
}

/// All that a context is made of. What is cached sees nothing else, and all of it is the key: a field that is added is in both.
#[derive(Clone, Copy)]
struct Asked<'a> {
    jwt: Option<&'a str>,
    secret: &'a Secret,
    audiences: &'a [String],
    role: &'a [String],
    options: &'a VerifyOptions,
    default_role: Option<&'a str>,
    settings: &'a Settings<'a>,
}

impl Contexts {
    /// Contexts in a cache of their own.
    ///
    /// # Errors
    /// The operating system has no random bytes, or the configuration is wrong.
    pub fn new() -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        // Digests that nobody outside of this process can compute; nobody has to, as no entry leaves it.
        let mut secret = [0; 32];
        getrandom::fill(&mut secret)?;
        let caches = CacheManager::builder()
            .key_secret(secret)
            .cache(CONTEXTS.name(), Self::config())
            .strict()
            .build()?;
        Ok(Self::in_caches(caches)?)
    }

    /// The same in the caches of a program that has some, where `request-context` should be [`config`](Self::config).
    ///
    /// # Errors
    /// The cache called `request-context` holds something else.
    pub fn in_caches(caches: CacheManager) -> Result<Self, CacheError> {
        caches.cache::<Arc<RequestContext>>(CONTEXTS.name())?;
        Ok(Self {
            caches,
            wall: Arc::new(SystemTime::now),
            cached: true,
        })
    }

    /// What the cache should be: in memory, 2 000 entries, verified anew after five minutes at most.
    pub fn config() -> CacheConfig {
        CacheConfig::memory()
            .max_capacity(2_000)
            .ttl(Duration::from_secs(300))
            .value_type::<Arc<RequestContext>>()
    }

    /// Whose statistics tell how often there was an entry.
    #[must_use]
    pub fn caches(&self) -> &CacheManager {
        &self.caches
    }

    /// By another clock, for tests.
    #[must_use]
    pub fn by(mut self, wall: WallClock) -> Self {
        self.wall = wall;
        self
    }

    /// Without caching, for comparison.
    #[must_use]
    pub fn uncached(mut self) -> Self {
        self.cached = false;
        self
    }

    /// The context of a request.
    ///
    /// `role` is the path to the claim that names the role, `default_role` the role where there is no token or it names none.
    ///
    /// ```
    /// use request_context::{Contexts, Secret, VerifyOptions};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    /// let contexts = Contexts::new()?;
    /// let secret = Secret::new(b"32 random bytes, known to nobody")?;
    /// let options = VerifyOptions::default();
    /// let settings = [("app.language", "en")];
    /// let context = contexts
    ///     .request_context(None, &secret, &[], &["role".to_owned()], &options, Some("visitor"), &settings)
    ///     .await?;
    /// assert_eq!(context.statement(), "select set_config($1, $2, true), set_config($3, $4, true)");
    /// assert_eq!(context.values(), ["app.language", "en", "role", "visitor"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The token is not to be trusted, now; or a setting has a name that is for what the token says.
    #[expect(clippy::too_many_arguments, reason = "one for each thing that decides")]
    pub async fn request_context(
        &self,
        jwt: Option<&str>,
        secret: &Secret,
        audiences: &[String],
        role: &[String],
        options: &VerifyOptions,
        default_role: Option<&str>,
        settings: &Settings<'_>,
    ) -> Result<Arc<RequestContext>, Error> {
        let asked = Asked {
            jwt,
            secret,
            audiences,
            role,
            options,
            default_role,
            settings,
        };
        let context = self.made_of(asked).await?;
        // An entry's time is measured by a clock that only runs. The time of day can be set, and a machine can sleep: so it is asked
        // whether the context came from the cache or not.
        context.check((self.wall)())?;
        Ok(context)
    }

    /// The cached part. It depends on nothing but what it is asked, or the key would not be all of it.
    #[cache_result(
        cache = CONTEXTS,
        manager = self.caches,
        condition = self.cached,
        ttl_with = |context: &Arc<RequestContext>| context.left((self.wall)())
    )]
    async fn made_of(
        &self,
        #[cache_key(hash)] asked: Asked<'_>,
    ) -> Result<Arc<RequestContext>, Error> {
        asked.context().map(Arc::new)
    }
}

impl fmt::Debug for Contexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contexts")
            .field("cached", &self.cached)
            .finish_non_exhaustive()
    }
}

impl Serialize for Asked<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // As a tuple: names of fields would be digested with each request, and tell nothing apart.
        let Self {
            jwt,
            secret,
            audiences,
            role,
            options,
            default_role,
            settings,
        } = self;
        (
            jwt,
            secret,
            audiences,
            role,
            options,
            default_role,
            settings,
        )
            .serialize(serializer)
    }
}

impl Asked<'_> {
    fn context(&self) -> Result<RequestContext, Error> {
        let verified = self
            .jwt
            .map(|jwt| verify(jwt, self.secret, self.audiences, self.options))
            .transpose()?;
        RequestContext::new(
            verified,
            Duration::from_secs(self.options.leeway.into()),
            self.role,
            self.default_role,
            self.settings,
        )
    }
}
