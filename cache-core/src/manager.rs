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
    pub fn builder() -> CacheManagerBuilder {
        CacheManagerBuilder::default()
    }

    /// Makes this the manager of all functions that name none, after a [`check`](Self::check).
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
    /// Warnings come back and are logged: an invalidation whose key fits no reader of its cache, a cache no function
    /// names, a name that nobody configured while another is near.
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
    #[must_use]
    pub fn stats(&self) -> BTreeMap<String, CacheStats> {
        self.caches()
            .into_iter()
            .map(|cache| (cache.name().to_owned(), cache.stats()))
            .collect()
    }

    /// How the backends of the caches are, as far as is known without asking them.
    #[must_use]
    pub fn health(&self) -> Health {
        let health = |name: String| {
            let health = self.inner.configured.of(&name).backend()?.health();
            Some((name, health))
        };
        let caches = self.names().into_iter().filter_map(health).collect();
        Health { caches }
    }

    /// The settings of every cache that was configured or used, one line each, defaults first.
    #[must_use]
    pub fn effective(&self) -> String {
        let configured = &self.inner.configured;
        let mut table = format!("(defaults): {}\n", configured.defaults());
        for name in self.names() {
            let _ = writeln!(table, "{name}: {}", configured.of(&name));
        }
        table
    }

    /// Returns when no store and no invalidation is under way.
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
        caches.insert(name.into(), Arc::clone(&cache));
        Ok(cache)
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
    pub fn defaults(mut self, config: CacheConfig) -> Self {
        self.defaults = config;
        self
    }

    /// The settings of one cache.
    pub fn cache(mut self, name: impl Into<String>, config: CacheConfig) -> Self {
        self.named.push((name.into(), config));
        self
    }

    /// Gives a backend the name by which settings files speak of it. In this version there are none yet: the name is checked and
    /// not used.
    pub fn backend(mut self, name: impl Into<String>, backend: impl CacheBackend) -> Self {
        self.backends.push((name.into(), Arc::new(backend)));
        self
    }

    /// Keys the digests that stand for hashed and long keys, so that nobody without the secret can find out what was
    /// digested by trying. Processes that share a backend need the same secret.
    pub fn key_secret(mut self, secret: impl AsRef<[u8]>) -> Self {
        self.secret = Some(KeySecret::new(secret));
        self
    }

    /// Makes the warnings of [`CacheManager::check`] errors.
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
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// Each cache that is on a backend, with the state of that backend.
    pub caches: BTreeMap<String, BackendHealth>,
}

impl Health {
    /// Whether all backends answer. Without backends they do.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.caches
            .values()
            .all(|health| *health == BackendHealth::Up)
    }
}

/// What [`CacheManager::shutdown`] could not wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Stores and invalidations that were still under way.
    pub unfinished: usize,
    /// Invalidations that no backend has acknowledged. What they were to end may be read by other processes until it expires.
    pub pending_invalidations: u64,
}
