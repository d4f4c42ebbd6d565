//! The caches of a program, by name.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::{self, Write as _},
    panic::Location,
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use crate::{
    backend::{BackendHealth, CacheBackend},
    background::Background,
    cache::{CacheInner, Shared},
    clock::Clock,
    config::{CacheConfig, Configured},
    error::CacheError,
    handle::Cache,
    key::KeySecret,
    limit::has_timer,
    line::Lines,
    name,
    registry::{self, Warning},
    stats::CacheStats,
};

/// How often it is looked whether what is owed is paid, while a manager shuts down.
const DRAIN_STEP: Duration = Duration::from_millis(10);

/// The manager of the functions that name none, and who brought it in.
static GLOBAL: OnceLock<(CacheManager, String)> = OnceLock::new();

/// The caches of a program.
///
/// Cheap to clone; clones share their caches. A cache that nobody configured gets the defaults when it is first used.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let caches = CacheManager::builder()
///     .defaults(CacheConfig::memory().ttl(Duration::from_secs(60)))
///     .cache("sessions", CacheConfig::memory().max_capacity(2_000))
///     .build()?;
/// let sessions = caches.cache::<String>("sessions")?;
/// sessions.insert(&7, "Ada".to_owned()).await?;
/// assert_eq!(sessions.get(&7).await.as_deref(), Some("Ada"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct CacheManager {
    inner: Arc<Inner>,
}

struct Inner {
    configured: Configured,
    caches: RwLock<HashMap<Box<str>, Arc<CacheInner>>>,
    shared: Shared,
    strict: bool,
}

impl CacheManager {
    /// Begins to describe a manager.
    ///
    /// ```
    /// use cache_core::CacheManager;
    ///
    /// let caches = CacheManager::builder().build()?; // everything in memory, for 5 minutes
    /// assert!(caches.names().is_empty());
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn builder() -> CacheManagerBuilder {
        CacheManagerBuilder::default()
    }

    /// Makes this the manager of all functions that name none, after a [`check`](Self::check).
    ///
    /// ```standalone_crate
    /// use cache_core::{CacheConfig, CacheManager, cache_result};
    /// use std::time::Duration;
    ///
    /// #[cache_result(cache = "square")]
    /// async fn square(n: u64) -> u64 {
    ///     n * n
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let caches = CacheManager::builder()
    ///     .cache("square", CacheConfig::memory().ttl(Duration::from_secs(60)))
    ///     .build()?;
    /// caches.install()?; // before the first call
    /// square(3).await;
    /// assert_eq!(caches.stats()["square"].loads, 1);
    /// assert!(caches.install().is_err()); // once
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What `check` finds, and [`CacheError::AlreadyInstalled`] if there is one already: installed before, or brought in by a
    /// function that was called before and so has used the defaults. Then nothing changes.
    #[track_caller]
    pub fn install(&self) -> Result<(), CacheError> {
        let place = Location::caller();
        self.check()?;
        let mut installed = false;
        let (_, by) = GLOBAL.get_or_init(|| {
            installed = true;
            (
                self.clone(),
                format!("it was installed at {}:{}", place.file(), place.line()),
            )
        });
        if installed {
            Ok(())
        } else {
            Err(CacheError::AlreadyInstalled { by: by.clone() })
        }
    }

    /// The installed manager. Without one the defaults are installed now, for good: everything in memory.
    ///
    /// ```standalone_crate
    /// use cache_core::{CacheManager, cache_result};
    ///
    /// #[cache_result(cache = "square")]
    /// async fn square(n: u64) -> u64 {
    ///     n * n
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// square(3).await;
    /// assert_eq!(CacheManager::global().stats()["square"].misses, 1);
    /// # }
    /// ```
    #[track_caller]
    pub fn global() -> Self {
        let place = Location::caller();
        Self::global_for(|| {
            format!(
                "`CacheManager::global()` was called at {}:{}",
                place.file(),
                place.line()
            )
        })
        .clone()
    }

    pub(crate) fn global_for(who: impl FnOnce() -> String) -> &'static Self {
        let (manager, _) = GLOBAL.get_or_init(|| {
            let manager = Self::builder().build().expect("the defaults of the framework are valid");
            if let Err(error) = manager.check() {
                warn!(%error, "the default caches are in use, and do not fit the annotated functions");
            }
            (manager, who())
        });
        manager
    }

    /// Holds the annotated functions of the program, except those with `manager = …`, against this configuration. Called by
    /// [`install`](Self::install).
    ///
    /// Warnings come back and are logged: an invalidation whose key fits no reader of its cache, a configured cache no function
    /// names, a name that nobody configured, or in which no function stores, while another is near.
    ///
    /// Only functions in crates that the linker keeps are seen: a library of which the program uses nothing is left out.
    ///
    /// Of keys the types of parameters are compared, in `key = …` too; what other expressions and `key_with` give
    /// may fit anything. A struct of one field is another type than its field, although their texts are the same.
    ///
    /// ```standalone_crate
    /// use cache_core::{CacheManager, cache_invalidate, cache_result};
    ///
    /// #[cache_result(cache = "price")]
    /// async fn price(product: u64, currency: String) -> u64 {
    ///     2990
    /// }
    ///
    /// #[cache_invalidate(cache = "price")]
    /// async fn set_price(#[cache_key] product: u64, cents: u64) {} // which currency?
    ///
    /// let warnings = CacheManager::builder().build()?.check()?;
    /// assert_eq!(warnings.len(), 1);
    /// assert!(warnings[0].to_string().contains("may never find what it is to invalidate"));
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    ///
    /// # Errors
    /// [`CacheError::Check`] if functions, or a function and `value_type`, disagree about the value type of a cache, or if
    /// a cache on a backend has values that cannot be serialised; under
    /// [`strict`](CacheManagerBuilder::strict) for any warning.
    pub fn check(&self) -> Result<Vec<Warning>, CacheError> {
        let report = registry::check(&self.inner.configured);
        for warning in &report.warnings {
            warn!("{warning}");
        }
        let mut problems = report.errors;
        if self.inner.strict {
            problems.extend(report.warnings.iter().map(ToString::to_string));
        }
        if problems.is_empty() {
            Ok(report.warnings)
        } else {
            Err(CacheError::Check { problems })
        }
    }

    /// A cache, to be used by hand. It is the same cache that annotated functions name.
    ///
    /// ```
    /// use cache_core::{CacheManager, cache_result};
    ///
    /// #[cache_result(cache = "square", manager = caches, key = n)]
    /// async fn square(caches: &CacheManager, n: u64) -> u64 {
    ///     n * n
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let caches = CacheManager::builder().build()?;
    /// square(&caches, 3).await;
    /// assert_eq!(caches.cache::<u64>("square")?.get(&3).await, Some(9));
    /// assert!(caches.cache::<String>("square").is_err());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the name cannot be one, if the cache holds values of another type, or if nobody configured it and the prefix of
    /// the defaults would make it share the entries of another.
    pub fn cache<V: Clone + Send + Sync + 'static>(
        &self,
        name: &str,
    ) -> Result<Cache<V>, CacheError> {
        Cache::new(self.inner(name)?)
    }

    /// The names of the caches that were configured or used, in order.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// let caches = CacheManager::builder().cache("users", CacheConfig::memory()).build()?;
    /// caches.cache::<u64>("price")?;
    /// assert_eq!(caches.names(), ["price", "users"]);
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let used = self.caches();
        let mut names: Vec<String> = used.iter().map(|cache| cache.name().to_owned()).collect();
        names.extend(self.inner.configured.names().map(str::to_owned));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The counters of every cache used so far, by name.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let (caches, _clock) = cache_core::testing::manager();
    /// caches.cache("price")?.insert(&42, 2990).await?;
    /// for (name, stats) in caches.stats() {
    ///     println!("{name}: {} entries, {} hits", stats.entries, stats.hits);
    /// }
    /// # assert_eq!(caches.stats()["price"].entries, 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn stats(&self) -> BTreeMap<String, CacheStats> {
        self.caches()
            .into_iter()
            .map(|cache| (cache.name().to_owned(), cache.stats()))
            .collect()
    }

    /// How the backends of the caches are, as far as is known without asking them.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// let caches = CacheManager::builder()
    ///     .cache("price", CacheConfig::on(MapBackend::new()))
    ///     .cache("square", CacheConfig::memory())
    ///     .build()?;
    /// let health = caches.health();
    /// assert!(health.is_up());
    /// assert!(health.caches.keys().eq(["price"])); // those in memory have no backend
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    #[must_use]
    pub fn health(&self) -> Health {
        let health = |name: String| {
            let config = self.inner.configured.of(&name);
            let health = self.inner.shared.lines.to(config.backend()?).health();
            Some((name, health))
        };
        let caches = self.names().into_iter().filter_map(health).collect();
        Health { caches }
    }

    /// The settings of every cache that was configured or used, one line each, defaults first.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    /// use std::time::Duration;
    ///
    /// let caches = CacheManager::builder()
    ///     .cache("price", CacheConfig::memory().ttl(Duration::from_secs(60)))
    ///     .build()?;
    /// assert_eq!(
    ///     caches.effective(),
    ///     "(defaults): memory, ttl 300s, max_capacity 10000, lock_timeout 5s\n\
    ///      price: memory, ttl 60s, max_capacity 10000, lock_timeout 5s\n"
    /// );
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    #[must_use]
    pub fn effective(&self) -> String {
        let configured = &self.inner.configured;
        let mut table = format!("(defaults): {}\n", configured.defaults());
        for name in self.names() {
            let _ = writeln!(table, "{name}: {}", configured.of(&name));
        }
        table
    }

    /// Returns when no store and no invalidation is under way. Invalidations that failed and are to be tried again are not waited
    /// for; [`shutdown`](Self::shutdown) does that.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let config = CacheConfig::on(MapBackend::new());
    /// let caches = CacheManager::builder().defaults(config).build()?;
    /// caches.cache("price")?.get_or_load(&42, async { 2990 }).await; // does not wait for the store
    /// caches.settle().await;
    /// assert_eq!(caches.stats()["price"].stores, 1);
    /// # Ok(()) }
    /// ```
    pub async fn settle(&self) {
        self.inner.shared.background.settled().await;
    }

    /// Waits until everything under way is done and every invalidation is acknowledged, failed ones too, at most for `limit`;
    /// and says what was given up. Outside of a Tokio runtime with timers it does not wait.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// let (caches, _clock) = cache_core::testing::manager();
    /// let report = caches.shutdown(std::time::Duration::from_secs(5)).await;
    /// assert_eq!((report.unfinished, report.pending_invalidations), (0, 0));
    /// # }
    /// ```
    pub async fn shutdown(&self, limit: Duration) -> ShutdownReport {
        if has_timer() {
            let drained = async {
                self.settle().await;
                // Whoever did so may have ended with another runtime.
                for cache in self.caches().iter().filter(|cache| cache.owes()) {
                    cache.recover();
                }
                while self.pending_invalidations() > 0 {
                    sleep(DRAIN_STEP).await;
                }
            };
            let _ = timeout(limit, drained).await;
        }
        let report = ShutdownReport {
            unfinished: self.inner.shared.background.running(),
            pending_invalidations: self.pending_invalidations(),
        };
        info!(?report, "caches are shut down");
        report
    }

    fn pending_invalidations(&self) -> u64 {
        let caches = self.caches();
        caches
            .iter()
            .map(|cache| cache.pending_invalidations())
            .sum()
    }

    /// The cache `name`, made at its first use.
    pub(crate) fn inner(&self, name: &str) -> Result<Arc<CacheInner>, CacheError> {
        if let Some(cache) = self
            .inner
            .caches
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
        {
            return Ok(Arc::clone(cache));
        }
        name::validate(name)?;
        let config = self.inner.configured.of(name);
        let mut caches = self
            .inner
            .caches
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(cache) = caches.get(name) {
            return Ok(Arc::clone(cache));
        }
        let others = caches.values().map(|cache| (cache.name(), cache.config()));
        self.inner
            .configured
            .refuse_shared_prefix(name, &config, others)?;
        let cache = Arc::new(CacheInner::new(name, config, self.inner.shared.clone()));
        cache.enlist();
        caches.insert(name.into(), Arc::clone(&cache));
        Ok(cache)
    }

    pub(crate) fn busy_keys(&self) -> usize {
        self.caches().iter().map(|cache| cache.busy_keys()).sum()
    }

    fn caches(&self) -> Vec<Arc<CacheInner>> {
        self.inner
            .caches
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }
}

impl fmt::Debug for CacheManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheManager")
            .field("caches", &self.names())
            .finish_non_exhaustive()
    }
}

/// Describes a [`CacheManager`].
///
/// ```
/// use cache_core::{CacheConfig, CacheManager};
/// use std::time::Duration;
///
/// let caches = CacheManager::builder()
///     .defaults(CacheConfig::memory().ttl(Duration::from_secs(60)))
///     .cache("sessions", CacheConfig::memory().max_capacity(2_000)) // and 60 seconds
///     .key_secret(std::env::var("CACHE_KEY_SECRET").unwrap_or_default())
///     .strict()
///     .build()?;
/// # Ok::<(), cache_core::CacheError>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct CacheManagerBuilder {
    defaults: CacheConfig,
    named: Vec<(String, CacheConfig)>,
    backends: Vec<(String, Arc<dyn CacheBackend>)>,
    secret: Option<KeySecret>,
    strict: bool,
    clock: Option<Clock>,
}

impl CacheManagerBuilder {
    /// The settings of caches that make none of their own; setting by setting.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    /// use std::time::Duration;
    ///
    /// let caches = CacheManager::builder()
    ///     .defaults(CacheConfig::memory().ttl(Duration::from_secs(60)).max_capacity(500))
    ///     .cache("price", CacheConfig::memory().max_capacity(2_000))
    ///     .build()?;
    /// let config = caches.cache::<u64>("price")?.config();
    /// assert_eq!((config.ttl, config.max_capacity), (Some(Duration::from_secs(60)), 2_000));
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn defaults(mut self, config: CacheConfig) -> Self {
        self.defaults = config;
        self
    }

    /// The settings of one cache. Twice for the same one is an error of [`build`](Self::build).
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// let builder = CacheManager::builder()
    ///     .cache("price", CacheConfig::memory().max_capacity(500))
    ///     .cache("users", CacheConfig::disabled());
    /// assert_eq!(builder.build()?.names(), ["price", "users"]);
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn cache(mut self, name: impl Into<String>, config: CacheConfig) -> Self {
        self.named.push((name.into(), config));
        self
    }

    /// Gives a backend the name by which settings files speak of it. In this version there are none yet: the name is checked and
    /// not used.
    ///
    /// ```
    /// use cache_core::{CacheManager, testing::MapBackend};
    ///
    /// let caches = CacheManager::builder().backend("main", MapBackend::new()).build()?;
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn backend(mut self, name: impl Into<String>, backend: impl CacheBackend) -> Self {
        self.backends.push((name.into(), Arc::new(backend)));
        self
    }

    /// Keys the digests that stand for hashed and long keys, so that nobody without the secret can find out what was
    /// digested by trying. Processes that share a backend need the same secret.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, Hashed, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new();
    /// for secret in ["one", "another"] {
    ///     let caches = CacheManager::builder()
    ///         .defaults(CacheConfig::on(backend.clone()))
    ///         .key_secret(secret)
    ///         .build()?;
    ///     caches.cache("sessions")?.insert(&Hashed("a session token"), 7).await?;
    /// }
    /// assert_eq!(backend.keys().len(), 2);
    /// # Ok(()) }
    /// ```
    pub fn key_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.secret = Some(KeySecret::new(secret));
        self
    }

    /// Makes the warnings of [`CacheManager::check`] errors.
    ///
    /// ```standalone_crate
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// // No function of this program names the cache.
    /// let builder = CacheManager::builder().cache("pirce", CacheConfig::memory()).strict();
    /// assert!(builder.build()?.install().is_err());
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// The clock the caches go by.
    pub(crate) fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The manager. Nothing is connected and nothing is waited for.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// let error = CacheManager::builder().cache("the price", CacheConfig::memory()).build().unwrap_err();
    /// assert!(error.to_string().contains("cannot be the name of a cache"));
    /// ```
    ///
    /// # Errors
    /// A name that cannot be one or stands twice, a setting that cannot be, two caches with one prefix on a backend.
    pub fn build(self) -> Result<CacheManager, CacheError> {
        for (i, (name, _)) in self.backends.iter().enumerate() {
            name::validate(name)?;
            if self.backends[..i].iter().any(|(other, _)| other == name) {
                return Err(CacheError::Config(format!(
                    "two backends are called `{name}`: give each a name of its own"
                )));
            }
        }
        let configured = Configured::new(&self.defaults, self.named)?;
        let shared = Shared {
            clock: self.clock.unwrap_or_else(Clock::new),
            background: Background::new(),
            secret: self.secret.map(Arc::new),
            lines: Lines::default(),
        };
        Ok(CacheManager {
            inner: Arc::new(Inner {
                configured,
                caches: RwLock::default(),
                shared,
                strict: self.strict,
            }),
        })
    }
}

impl fmt::Debug for CacheManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let caches: Vec<_> = self.named.iter().map(|(name, _)| name).collect();
        f.debug_struct("CacheManagerBuilder")
            .field("caches", &caches)
            .finish_non_exhaustive()
    }
}

/// How the backends of the caches are.
///
/// ```
/// use cache_core::{CacheManager, backend::BackendHealth};
///
/// /// What a readiness probe may say. The program works without its backends, only slower.
/// fn state(caches: &CacheManager) -> &'static str {
///     if caches.health().is_up() { "ok" } else { "degraded" }
/// }
/// # assert_eq!(state(&cache_core::testing::manager().0), "ok");
/// # let _ = BackendHealth::Up;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Each cache that is on a backend, with the state of that backend.
    pub caches: BTreeMap<String, BackendHealth>,
}

impl Health {
    /// Whether all backends answer. Without backends they do.
    ///
    /// ```
    /// let (caches, _clock) = cache_core::testing::manager();
    /// assert!(caches.health().is_up());
    /// ```
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.caches
            .values()
            .all(|health| *health == BackendHealth::Up)
    }
}

/// What [`CacheManager::shutdown`] could not wait for.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager};
/// use cache_core::testing::{FaultyBackend, MapBackend, Operation};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let backend = FaultyBackend::new(MapBackend::new());
/// let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
/// backend.fail(&[Operation::Invalidate]);
/// assert!(caches.cache::<u64>("price")?.invalidate(&42).await.is_err());
///
/// let report = caches.shutdown(Duration::from_millis(20)).await;
/// assert_eq!(report.pending_invalidations, 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Stores and invalidations that were still under way.
    pub unfinished: usize,
    /// Invalidations that no backend has acknowledged. What they were to end may be read by other processes until it expires.
    pub pending_invalidations: u64,
}
