//! What a cache is told to do, and what comes out when all who have a say are heard.

mod effective;

use std::{fmt, sync::Arc, time::Duration};

pub(crate) use self::effective::Configured;
pub use self::effective::EffectiveConfig;
use crate::{backend::CacheBackend, codec::CodecHandle, value::ValueType};

/// Longer than any entry lives.
pub(crate) const MAX_TTL: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
const DEFAULT_TTL: Duration = Duration::from_secs(5 * 60);
const DEFAULT_CAPACITY: u64 = 10_000;
const DEFAULT_LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Stands for the name of the cache in a prefix.
const NAME_PLACE: &str = "{cache-name}";

/// Where a cache keeps its entries, and for how long.
///
/// A setting that is not made here comes from the attribute, from the manager's
/// [`defaults`](crate::CacheManagerBuilder::defaults), or is the framework's own, in that order.
///
/// ```
/// use cache_core::CacheConfig;
/// use std::time::Duration;
///
/// let config = CacheConfig::memory().ttl(Duration::from_secs(30)).max_capacity(2_000);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct CacheConfig {
    store: Option<Store>,
    ttl: Option<Ttl>,
    time_to_idle: Option<Duration>,
    none_ttl: Option<Duration>,
    ttl_jitter: Option<f64>,
    max_capacity: Option<u64>,
    memory_ttl: Option<Duration>,
    lock_timeout: Option<Duration>,
    codec: Option<CodecHandle>,
    prefix: Option<String>,
    version: Option<u32>,
    value_type: Option<ValueType>,
}

/// A time to live, or the decision to have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ttl {
    Limited(Duration),
    Unlimited,
}

#[derive(Clone)]
pub(crate) enum Store {
    Memory,
    Disabled,
    Backend(Mode, Arc<dyn CacheBackend>),
}

/// How this process stands to the backend of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    On,
    Validated,
    Tiered,
}

impl CacheConfig {
    /// In this process: at most 10 000 entries unless [`max_capacity`](Self::max_capacity) says otherwise.
    pub fn memory() -> Self {
        Self::stored(Store::Memory)
    }

    /// In that backend. Whoever shares the backend shares the entries.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new(); // or a `RedisBackend`
    /// let caches = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// caches.cache("price")?.insert(&42, 2990).await?;
    /// assert_eq!(backend.keys(), ["cache:price:42"]);
    /// # Ok(()) }
    /// ```
    pub fn on(backend: impl CacheBackend) -> Self {
        Self::stored(Store::Backend(Mode::On, Arc::new(backend)))
    }

    /// In that backend, with decoded copies here that are confirmed by the backend on every hit.
    ///
    /// As strict as [`on`](Self::on), and as dependent on the backend: each hit asks it, in one small round trip, whether the
    /// entry is still the one that was decoded. If it is, the value is neither sent nor decoded again, only cloned. Worth it from about
    /// half a kilobyte on; have functions return `Arc<T>`, so that a clone is a reference count.
    ///
    /// At most 10 000 values are kept here unless [`max_capacity`](Self::max_capacity) says otherwise. The backend is told
    /// nothing of them, and a copy that it does not confirm is not used, so there is nothing that could go stale. A value that
    /// has changed costs a second round trip, once.
    ///
    /// With a backend that does not have [`revalidate`](CacheBackend::revalidate) it works as `on` does.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    /// use std::sync::Arc;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new(); // or a `RedisBackend`
    /// let caches = CacheManager::builder().defaults(CacheConfig::validated(backend)).build()?;
    /// let names = caches.cache::<Arc<Vec<String>>>("names")?;
    /// names.insert(&"en", Arc::new(vec!["apple".into(), "pear".into()])).await?;
    /// let first = names.get(&"en").await.unwrap();
    /// let second = names.get(&"en").await.unwrap();
    /// assert!(Arc::ptr_eq(&first, &second)); // it was decoded once
    /// # Ok(()) }
    /// ```
    pub fn validated(backend: impl CacheBackend) -> Self {
        Self::stored(Store::Backend(Mode::Validated, Arc::new(backend)))
    }

    /// Memory in front of that backend.
    ///
    /// In this version it works as [`on`](Self::on) does, stricter and slower than it will be: the memory tier is not
    /// there yet.
    pub fn tiered(backend: impl CacheBackend) -> Self {
        Self::stored(Store::Backend(Mode::Tiered, Arc::new(backend)))
    }

    /// No cache at all: every call runs its function, invalidations do nothing.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let caches = CacheManager::builder().cache("price", CacheConfig::disabled()).build()?;
    /// let price = caches.cache("price")?;
    /// assert_eq!(price.get_or_load(&42, async { 2990 }).await, 2990);
    /// assert_eq!(price.get_or_load(&42, async { 3199 }).await, 3199);
    /// # Ok(()) }
    /// ```
    pub fn disabled() -> Self {
        Self::stored(Store::Disabled)
    }

    fn stored(store: Store) -> Self {
        Self {
            store: Some(store),
            ..Self::default()
        }
    }

    /// How long an entry lives, counted from when its value is there; 5 minutes unless set. A backend counts in whole
    /// milliseconds.
    ///
    /// Less than a millisecond and more than 100 years are errors of [`build`](crate::CacheManagerBuilder::build), here as in the
    /// other settings that are times.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::TestClock};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let clock = TestClock::new();
    /// let caches = CacheManager::builder()
    ///     .clock(&clock)
    ///     .defaults(CacheConfig::memory().ttl(Duration::from_secs(30)))
    ///     .cache("countries", CacheConfig::memory().no_ttl())
    ///     .build()?;
    /// let (rates, countries) = (caches.cache("rates")?, caches.cache("countries")?);
    /// rates.insert("EUR", 109).await?;
    /// countries.insert("NO", 47).await?;
    ///
    /// clock.advance(Duration::from_secs(31));
    /// assert_eq!(rates.get("EUR").await, None);
    /// assert_eq!(countries.get("NO").await, Some(47));
    /// # Ok(()) }
    /// ```
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(Ttl::Limited(ttl));
        self
    }

    /// Entries live until they are invalidated or there is no room. An attribute's `ttl` does not count then;
    /// [`none_ttl`](Self::none_ttl) does.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// let caches = CacheManager::builder().cache("countries", CacheConfig::memory().no_ttl()).build()?;
    /// assert_eq!(caches.cache::<u32>("countries")?.config().ttl, None);
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn no_ttl(mut self) -> Self {
        self.ttl = Some(Ttl::Unlimited);
        self
    }

    /// An entry also goes when nobody has asked for it for that long. In memory only: set for a cache on a backend, it is an
    /// error of [`build`](crate::CacheManagerBuilder::build); set in the defaults, it leaves such caches alone.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::TestClock};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let clock = TestClock::new();
    /// let config = CacheConfig::memory().time_to_idle(Duration::from_secs(60));
    /// let caches = CacheManager::builder().clock(&clock).cache("sessions", config).build()?;
    /// let sessions = caches.cache("sessions")?;
    /// sessions.insert(&7, "Ada".to_owned()).await?;
    /// for _ in 0..3 {
    ///     clock.advance(Duration::from_secs(40));
    ///     assert!(sessions.get(&7).await.is_some());
    /// }
    /// clock.advance(Duration::from_secs(60));
    /// assert!(sessions.get(&7).await.is_none());
    /// # Ok(()) }
    /// ```
    pub fn time_to_idle(mut self, idle: Duration) -> Self {
        self.time_to_idle = Some(idle);
        self
    }

    /// How long a `None` lives, where the value is an `Option`; never longer than [`ttl`](Self::ttl).
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::TestClock};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let clock = TestClock::new();
    /// let config = CacheConfig::memory().none_ttl(Duration::from_secs(5));
    /// let caches = CacheManager::builder().clock(&clock).cache("users", config).build()?;
    /// let users = caches.cache::<Option<String>>("users")?;
    /// users.insert(&7, None).await?;
    /// users.insert(&8, Some("Ada".to_owned())).await?;
    ///
    /// clock.advance(Duration::from_secs(6));
    /// assert_eq!(users.get(&7).await, None); // looked up again: there may be one now
    /// assert_eq!(users.get(&8).await, Some(Some("Ada".to_owned())));
    /// # Ok(()) }
    /// ```
    pub fn none_ttl(mut self, ttl: Duration) -> Self {
        self.none_ttl = Some(ttl);
        self
    }

    /// Shortens every time to live by a random part of at most this share, `0.0` to `1.0`, so that what was stored together
    /// does not expire together. `0.0` unless set; anything else is an error of [`build`](crate::CacheManagerBuilder::build).
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    /// use std::time::Duration;
    ///
    /// // Each entry lives for 54 to 60 seconds.
    /// let config = CacheConfig::memory().ttl(Duration::from_secs(60)).ttl_jitter(0.1);
    /// assert!(CacheManager::builder().defaults(config).build().is_ok());
    /// assert!(CacheManager::builder().defaults(CacheConfig::memory().ttl_jitter(10.0)).build().is_err());
    /// ```
    pub fn ttl_jitter(mut self, share: f64) -> Self {
        self.ttl_jitter = Some(share);
        self
    }

    /// The most entries kept in memory, 10 000 unless set. What is asked for least goes, or is not taken in. None at all is an error of
    /// [`build`](crate::CacheManagerBuilder::build): that is [`disabled`](Self::disabled).
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// assert!(CacheManager::builder().defaults(CacheConfig::memory().max_capacity(500)).build().is_ok());
    /// assert!(CacheManager::builder().defaults(CacheConfig::memory().max_capacity(0)).build().is_err());
    /// ```
    pub fn max_capacity(mut self, entries: u64) -> Self {
        self.max_capacity = Some(entries);
        self
    }

    /// How long an entry lives in the memory tier at most; as long as in the backend unless set. Without effect in this
    /// version, which has no memory tier yet.
    pub fn memory_ttl(mut self, ttl: Duration) -> Self {
        self.memory_ttl = Some(ttl);
        self
    }

    /// How long a caller waits for somebody else's load before it runs the function itself, 5 seconds unless set. Outside
    /// of Tokio it waits without limit.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let config = CacheConfig::memory().lock_timeout(Duration::from_millis(1));
    /// let caches = CacheManager::builder().cache("report", config).build()?;
    /// let report = caches.cache("report")?;
    /// let stuck = report.get_or_load(&(), std::future::pending::<String>());
    /// let patient = report.get_or_load(&(), async { "done".to_owned() });
    /// tokio::select! {
    ///     biased; // the load that never ends begins first
    ///     _ = stuck => unreachable!(),
    ///     report = patient => assert_eq!(report, "done"),
    /// }
    /// # Ok(()) }
    /// ```
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = Some(timeout);
        self
    }

    /// The form of the values in a backend, [`Bincode`](crate::Bincode) unless set.
    ///
    /// ```
    /// use cache_core::{CacheConfig, Json, testing::MapBackend};
    ///
    /// let config = CacheConfig::on(MapBackend::new()).codec(Json);
    /// ```
    pub fn codec(mut self, codec: impl Into<CodecHandle>) -> Self {
        self.codec = Some(codec.into());
        self
    }

    /// What stands before the key in a backend, `cache:{cache-name}` unless set; `{cache-name}` stands for the
    /// name of the cache.
    ///
    /// An error of [`build`](crate::CacheManagerBuilder::build) if it is empty, is `cs` or begins with `cs:`, holds a control
    /// character, or if two caches have the same on a backend.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new();
    /// let config = CacheConfig::on(backend.clone()).prefix("shop:{cache-name}");
    /// let caches = CacheManager::builder().defaults(config).build()?;
    /// caches.cache("price")?.insert(&42, 2990).await?;
    /// assert_eq!(backend.keys(), ["shop:price:42"]);
    /// # Ok(()) }
    /// ```
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// A number to raise when stored values change their meaning but not their type: entries of another version are
    /// misses. 0 unless set.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager, testing::MapBackend};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let backend = MapBackend::new();
    /// let cents = CacheManager::builder().defaults(CacheConfig::on(backend.clone())).build()?;
    /// cents.cache("price")?.insert(&42, 2990_u64).await?;
    ///
    /// // The next release of the program counts in tenths of a cent.
    /// let config = CacheConfig::on(backend).version(1);
    /// let tenths = CacheManager::builder().defaults(config).build()?;
    /// assert_eq!(tenths.cache::<u64>("price")?.get(&42).await, None);
    /// # Ok(()) }
    /// ```
    pub fn version(mut self, version: u32) -> Self {
        self.version = Some(version);
        self
    }

    /// Declares the type of the values: functions and handles that use another are refused.
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    ///
    /// let config = CacheConfig::memory().value_type::<u64>();
    /// let caches = CacheManager::builder().cache("price", config).build()?;
    /// assert!(caches.cache::<u64>("price").is_ok());
    /// assert!(caches.cache::<f32>("price").is_err());
    /// # Ok::<(), cache_core::CacheError>(())
    /// ```
    pub fn value_type<V: Send + Sync + 'static>(mut self) -> Self {
        self.value_type = Some(ValueType::declared::<V>());
        self
    }

    /// Fills what is not set here from `defaults`.
    pub(crate) fn or(&self, defaults: &Self) -> Self {
        Self {
            store: self.store.clone().or_else(|| defaults.store.clone()),
            ttl: self.ttl.or(defaults.ttl),
            time_to_idle: self.time_to_idle.or(defaults.time_to_idle),
            none_ttl: self.none_ttl.or(defaults.none_ttl),
            ttl_jitter: self.ttl_jitter.or(defaults.ttl_jitter),
            max_capacity: self.max_capacity.or(defaults.max_capacity),
            memory_ttl: self.memory_ttl.or(defaults.memory_ttl),
            lock_timeout: self.lock_timeout.or(defaults.lock_timeout),
            codec: self.codec.clone().or_else(|| defaults.codec.clone()),
            prefix: self.prefix.clone().or_else(|| defaults.prefix.clone()),
            version: self.version.or(defaults.version),
            value_type: self.value_type.or(defaults.value_type),
        }
    }

    /// What a cache runs with whose settings these are, filled from `defaults`. `{cache-name}` is left in the prefix.
    pub(crate) fn effective(&self, defaults: &Self) -> EffectiveConfig {
        let config = self.or(defaults);
        let store = config.store.unwrap_or(Store::Memory);
        EffectiveConfig {
            ttl: match config.ttl {
                None => Some(DEFAULT_TTL),
                Some(Ttl::Limited(ttl)) => Some(ttl),
                Some(Ttl::Unlimited) => None,
            },
            // Set for all caches, it concerns those in memory; set for this one, `validate` has its say.
            time_to_idle: match store {
                Store::Backend(..) => self.time_to_idle,
                Store::Memory | Store::Disabled => config.time_to_idle,
            },
            none_ttl: config.none_ttl,
            ttl_jitter: config.ttl_jitter.unwrap_or(0.0),
            max_capacity: config.max_capacity.unwrap_or(DEFAULT_CAPACITY),
            memory_ttl: config.memory_ttl,
            lock_timeout: config.lock_timeout.unwrap_or(DEFAULT_LOCK_TIMEOUT),
            prefix: config
                .prefix
                .unwrap_or_else(|| format!("cache:{NAME_PLACE}")),
            version: config.version.unwrap_or(0),
            codec: config.codec.unwrap_or_default(),
            value_type: config.value_type,
            ttl_is_own: self.ttl.is_some(),
            lock_timeout_is_own: self.lock_timeout.is_some(),
            store,
        }
    }
}

impl fmt::Debug for CacheConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheConfig")
            .field("store", &self.store)
            .field("ttl", &self.ttl)
            .field("max_capacity", &self.max_capacity)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

impl Store {
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disabled => "disabled",
            Self::Backend(Mode::On, _) => "on a backend",
            Self::Backend(Mode::Validated, _) => "validated by a backend",
            Self::Backend(Mode::Tiered, _) => "memory in front of a backend",
        }
    }
}
