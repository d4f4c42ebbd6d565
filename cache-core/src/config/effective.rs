//! What caches run with, when all who have a say are heard.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use super::{CacheConfig, MAX_TTL, Mode, NAME_PLACE, Store};
use crate::{
    backend::{CacheBackend, CacheId},
    codec::CodecHandle,
    error::CacheError,
    name,
    value::ValueType,
};

/// The settings of all caches of a manager.
#[derive(Debug)]
pub(crate) struct Configured {
    defaults: EffectiveConfig,
    named: BTreeMap<String, EffectiveConfig>,
}

impl Configured {
    pub(crate) fn new(
        defaults: &CacheConfig,
        configs: Vec<(String, CacheConfig)>,
    ) -> Result<Self, CacheError> {
        let own = defaults.effective(&CacheConfig::default());
        own.validate("the defaults of the caches")?;
        let mut configured = Self {
            defaults: EffectiveConfig {
                // An attribute may change what was set for all caches, but not what was set for its own.
                ttl_is_own: false,
                lock_timeout_is_own: false,
                ..own
            },
            named: BTreeMap::new(),
        };
        for (name, config) in configs {
            name::validate(&name)?;
            if configured.named.contains_key(&name) {
                return Err(CacheError::Config(format!(
                    "cache `{name}` is configured twice: write all its settings in one place"
                )));
            }
            let config = config.effective(defaults).of_cache(&name);
            config.validate(&format!("cache `{name}`"))?;
            configured.refuse_shared_prefix(&name, &config, [])?;
            configured.named.insert(name, config);
        }
        Ok(configured)
    }

    /// The settings of a cache, whether somebody configured it or not.
    pub(crate) fn of(&self, name: &str) -> EffectiveConfig {
        match self.named.get(name) {
            Some(config) => config.clone(),
            None => self.defaults.clone().of_cache(name),
        }
    }

    pub(crate) fn defaults(&self) -> &EffectiveConfig {
        &self.defaults
    }

    /// The caches that somebody configured.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.keys().map(String::as_str)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.named.contains_key(name)
    }

    /// Two caches with one prefix would take each other's entries for damaged ones, and clear each other. `more` are caches
    /// that nobody configured.
    pub(crate) fn refuse_shared_prefix<'a>(
        &'a self,
        name: &str,
        config: &EffectiveConfig,
        more: impl IntoIterator<Item = (&'a str, &'a EffectiveConfig)>,
    ) -> Result<(), CacheError> {
        if config.backend().is_none() {
            return Ok(());
        }
        let configured = self
            .named
            .iter()
            .map(|(name, config)| (name.as_str(), config));
        let twin = configured.chain(more).find(|(other, others)| {
            *other != name && others.backend().is_some() && others.prefix == config.prefix
        });
        match twin {
            None => Ok(()),
            Some((other, _)) => Err(CacheError::Config(format!(
                "caches `{other}` and `{name}` have the same prefix `{}`: write `{NAME_PLACE}` into it, or give each its own",
                config.prefix
            ))),
        }
    }
}

/// The settings a cache runs with. See [`CacheConfig`] for what each means.
///
/// ```
/// # fn main() -> Result<(), cache_core::CacheError> {
/// let manager = cache_core::CacheManager::builder().build()?;
/// let config = manager.cache::<u32>("numbers")?.config();
/// assert_eq!(config.max_capacity, 10_000);
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct EffectiveConfig {
    /// `None`: without limit.
    pub ttl: Option<Duration>,
    /// `None`: an entry may be idle as long as it lives.
    pub time_to_idle: Option<Duration>,
    /// `None`: a `None` lives as long as any value.
    pub none_ttl: Option<Duration>,
    /// A share, `0.0` to `1.0`.
    pub ttl_jitter: f64,
    /// Entries.
    pub max_capacity: u64,
    /// `None`: as long as in the backend.
    pub memory_ttl: Option<Duration>,
    /// How long a caller waits for somebody else's load.
    pub lock_timeout: Duration,
    /// What stands before the key in a backend.
    pub prefix: String,
    /// The version of the stored values.
    pub version: u32,
    pub(crate) codec: CodecHandle,
    pub(crate) value_type: Option<ValueType>,
    /// Whether the time to live was set for this very cache: then an attribute does not change it.
    pub(crate) ttl_is_own: bool,
    pub(crate) lock_timeout_is_own: bool,
    pub(crate) store: Store,
}

impl EffectiveConfig {
    /// These settings for the cache of that name.
    fn of_cache(self, name: &str) -> Self {
        Self {
            prefix: self.prefix.replace(NAME_PLACE, name),
            ..self
        }
    }

    pub(crate) fn id(&self, name: &str) -> CacheId {
        CacheId::new(name, &self.prefix)
    }

    pub(crate) fn backend(&self) -> Option<&Arc<dyn CacheBackend>> {
        match &self.store {
            Store::Backend(_, backend) => Some(backend),
            Store::Memory | Store::Disabled => None,
        }
    }

    fn keeps_entries_here(&self) -> bool {
        matches!(
            self.store,
            Store::Memory | Store::Backend(Mode::Validated, _)
        )
    }

    /// Refuses what cannot be. `whose` says in the error whose settings these are.
    fn validate(&self, whose: &str) -> Result<(), CacheError> {
        let wrong = |what: String| Err(CacheError::Config(format!("{whose}: {what}")));
        let durations = [
            ("ttl", self.ttl),
            ("time_to_idle", self.time_to_idle),
            ("none_ttl", self.none_ttl),
            ("memory_ttl", self.memory_ttl),
            ("lock_timeout", Some(self.lock_timeout)),
        ];
        for (setting, duration) in durations {
            let Some(duration) = duration else { continue };
            // A backend counts in milliseconds: less than one would be rounded to nothing.
            if duration < Duration::from_millis(1) {
                let to_disable = match setting {
                    "ttl" => ", or `CacheConfig::disabled()` to store nothing",
                    _ => "",
                };
                return wrong(format!(
                    "a `{setting}` of {duration:?} is too short: write at least 1 ms{to_disable}"
                ));
            }
            if duration > MAX_TTL {
                let instead = match setting {
                    "ttl" => "`no_ttl()` to keep entries without limit",
                    _ => "a shorter time",
                };
                return wrong(format!(
                    "a `{setting}` of {duration:?} is over 100 years: write {instead}"
                ));
            }
        }
        if !(0.0..=1.0).contains(&self.ttl_jitter) {
            return wrong(format!(
                "a `ttl_jitter` of {} is not a share: write a number from 0.0 to 1.0",
                self.ttl_jitter
            ));
        }
        if self.max_capacity == 0 {
            return wrong("a `max_capacity` of 0 keeps nothing: write `CacheConfig::disabled()` to switch the cache off".into());
        }
        if self.prefix.is_empty()
            || self.prefix == "cs"
            || self.prefix.starts_with("cs:")
            || self.prefix.chars().any(char::is_control)
        {
            return wrong(
                "this `prefix` cannot be used: write one that is not empty, holds no control character and does not begin with `cs:`".into(),
            );
        }
        if self.time_to_idle.is_some() && self.backend().is_some() {
            return wrong(
                "`time_to_idle` works in memory only: remove it, or write `CacheConfig::memory()`"
                    .into(),
            );
        }
        Ok(())
    }
}

impl fmt::Debug for EffectiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// One line: the store, the times, the bounds.
impl fmt::Display for EffectiveConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.store.label())?;
        if matches!(self.store, Store::Disabled) {
            return Ok(());
        }
        match self.ttl {
            Some(ttl) => write!(f, ", ttl {ttl:?}")?,
            None => f.write_str(", no ttl")?,
        }
        for (setting, duration) in [
            ("time_to_idle", self.time_to_idle),
            ("none_ttl", self.none_ttl),
            ("memory_ttl", self.memory_ttl),
        ] {
            if let Some(duration) = duration {
                write!(f, ", {setting} {duration:?}")?;
            }
        }
        if self.ttl_jitter > 0.0 {
            write!(f, ", ttl_jitter {}", self.ttl_jitter)?;
        }
        if self.backend().is_some() {
            write!(
                f,
                ", codec {}, prefix {}, version {}",
                self.codec.name(),
                self.prefix,
                self.version
            )?;
        }
        if self.keeps_entries_here() {
            write!(f, ", max_capacity {}", self.max_capacity)?;
        }
        write!(f, ", lock_timeout {:?}", self.lock_timeout)
    }
}
