//! A cache in the hands of a user.

use std::{fmt, future::Future, marker::PhantomData, ops::Deref, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    cache::{CacheInner, LoadOptions, Target, Wish, cloned},
    config::EffectiveConfig,
    error::CacheError,
    stats::CacheStats,
    value::{IsPlain, IsResult, Outcome, Unstored, ValueKind, never_none},
};

/// A cache by name, to be used beside or instead of the attributes. The entries are the same.
///
/// Keys are any `Serialize` value and make the same text as the parameters of annotated functions do: a tuple is several
/// parts, `&()` is the key of a function without parameters, [`Hashed`](crate::Hashed) is `#[cache_key(hash)]`.
///
/// Cheap to clone. Values that implement serde's traits go through every store. For values that do not, the handle has
/// the same methods, found on [`LocalCache`]; they work in memory, and on a backend they find
/// nothing, store nothing and give [`CacheError::NotSerializable`] where there is an error to give.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let manager = cache_core::CacheManager::builder().build()?;
/// let names = manager.cache::<String>("names")?;
/// assert_eq!(names.get_or_load(&42, async { "Ada".to_owned() }).await, "Ada");
/// assert!(names.invalidate(&42).await?);
/// assert_eq!(names.get(&42).await, None);
/// # Ok(()) }
/// ```
pub struct Cache<V> {
    local: LocalCache<V>,
}

/// What [`Cache`] offers for values without serde's traits.
///
/// ```
/// /// A connection of this process: there is no way to serialise it.
/// #[derive(Clone)]
/// struct Connection(std::sync::Arc<str>);
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// # let (caches, clock) = cache_core::testing::manager();
/// let connections = caches.cache::<Connection>("connections")?;
/// connections.insert("db1", Connection("10.0.0.7".into())).await?;
/// assert_eq!(&*connections.get("db1").await.unwrap().0, "10.0.0.7");
/// # Ok(()) }
/// ```
pub struct LocalCache<V> {
    inner: Arc<CacheInner>,
    value: PhantomData<fn() -> V>,
}

impl<V: Clone + Send + Sync + 'static> Cache<V> {
    pub(crate) fn new(inner: Arc<CacheInner>) -> Result<Self, CacheError> {
        inner.claim::<V>()?;
        Ok(Self {
            local: LocalCache {
                inner,
                value: PhantomData,
            },
        })
    }
}

impl<V: Clone + Send + Sync + Serialize + DeserializeOwned + 'static> Cache<V> {
    fn kind() -> ValueKind {
        ValueKind::anywhere::<V>()
    }

    /// The value of `key`, if there is one that counts. A failing backend is a miss.
    ///
    /// `Some(None)` and `None` differ where the value is an `Option`: a stored `None`, and nothing stored.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let emails = caches.cache::<Option<String>>("emails")?;
    /// assert_eq!(emails.get(&7).await, None); // not known
    /// emails.insert(&7, None).await?;
    /// assert_eq!(emails.get(&7).await, Some(None)); // known to have none
    /// # Ok(()) }
    /// ```
    pub async fn get<K: Serialize + ?Sized>(&self, key: &K) -> Option<V> {
        self.local.get_as(key, Self::kind()).await
    }

    /// The value of `key`; if there is none, `load` runs and its value is stored. Callers of one key share one load.
    ///
    /// Dropped half-way, the load is dropped too, nothing is stored, and somebody who waits for it runs his own. Once there is a
    /// value, its way to a backend is a task of its own, which goes on.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let squares = caches.cache::<u64>("squares")?;
    /// let (one, other) = tokio::join!(
    ///     squares.get_or_load(&7, async {
    ///         tokio::task::yield_now().await;
    ///         49
    ///     }),
    ///     squares.get_or_load(&7, async { unreachable!("it waits for the first") }),
    /// );
    /// assert_eq!((one, other), (49, 49));
    /// # Ok(()) }
    /// ```
    pub async fn get_or_load<K: Serialize + ?Sized>(
        &self,
        key: &K,
        load: impl Future<Output = V>,
    ) -> V {
        self.local
            .load_as::<_, _, IsPlain<V>>(key, Self::kind(), load)
            .await
    }

    /// As [`get_or_load`](Self::get_or_load), for a load that may fail. An `Err` is returned and not stored; those who waited
    /// load one after another.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let ports = caches.cache::<u16>("ports")?;
    /// let failed = ports.try_get_or_load("http", async { "eighty".parse::<u16>() }).await;
    /// assert!(failed.is_err());
    /// let loaded = ports.try_get_or_load("http", async { "80".parse::<u16>() }).await;
    /// assert_eq!(loaded, Ok(80));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The load's own. The cache has none.
    pub async fn try_get_or_load<K: Serialize + ?Sized, E>(
        &self,
        key: &K,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        self.local
            .load_as::<_, _, IsResult<V, E>>(key, Self::kind(), load)
            .await
    }

    /// Stores a value in place of what is there. Loads that are under way may no longer store theirs.
    ///
    /// `Ok` says that what was there is gone; the value itself may be gone at once, as any entry may: when another
    /// invalidation or put comes at the same time, nobody knows which value is newer, and none is kept.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let prices = caches.cache::<u64>("prices")?;
    /// prices.insert(&(42, "EUR"), 2990).await?; // the key of a function with two parameters
    /// prices.insert(&(42, "EUR"), 3199).await?;
    /// assert_eq!(prices.get(&(42, "EUR")).await, Some(3199));
    ///
    /// assert!(prices.insert(&f64::NAN, 1).await.is_err()); // no two NaN are the same key
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What kept the value from being stored; then the old one is taken away too, as soon as the backend can be reached. None is
    /// left to take away where the key has no text or the type of the value is not that of the cache.
    ///
    /// Dropped half-way, it has stored the value, ended the entry or not begun.
    pub async fn insert<K: Serialize + ?Sized>(&self, key: &K, value: V) -> Result<(), CacheError> {
        self.local.insert_as(key, value, None, Self::kind()).await
    }

    /// As [`insert`](Self::insert), for at most `ttl`, and never longer than the cache's own. Less than a millisecond
    /// stores nothing, and ends what is there.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let tokens = caches.cache::<String>("tokens")?;
    /// tokens.insert_with_ttl(&7, "for a minute".to_owned(), Duration::from_secs(60)).await?;
    /// clock.advance(Duration::from_secs(61));
    /// assert_eq!(tokens.get(&7).await, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As `insert`.
    pub async fn insert_with_ttl<K: Serialize + ?Sized>(
        &self,
        key: &K,
        value: V,
        ttl: Duration,
    ) -> Result<(), CacheError> {
        self.local
            .insert_as(key, value, Some(ttl), Self::kind())
            .await
    }
}

impl<V> Deref for Cache<V> {
    type Target = LocalCache<V>;

    fn deref(&self) -> &LocalCache<V> {
        &self.local
    }
}

impl<V> LocalCache<V> {
    /// Ends the entry of `key`, in every process that shares the backend. Loads that are under way may no longer store.
    /// Once begun it goes on to its end, even if this future is dropped.
    ///
    /// Says whether there was an entry.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let prices = caches.cache::<u64>("prices")?;
    /// prices.insert(&42, 2990).await?;
    /// assert!(prices.invalidate(&42).await?);
    /// assert!(!prices.invalidate(&42).await?);
    /// assert_eq!(prices.get(&42).await, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the key has no text; or if the backend did not acknowledge it in time. Then it is tried again in the background until
    /// it is acknowledged, and as long as it is not this process takes nothing of that key from the backend; others may.
    pub async fn invalidate<K: Serialize + ?Sized>(&self, key: &K) -> Result<bool, CacheError> {
        self.inner
            .invalidate(Target::Key(self.inner.key(key)?))
            .await
    }

    /// Ends all entries of the cache, at the same cost for ten as for ten million.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let prices = caches.cache::<u64>("prices")?;
    /// prices.insert(&42, 2990).await?;
    /// prices.invalidate_all().await?;
    /// assert_eq!(prices.get(&42).await, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`invalidate`](Self::invalidate).
    pub async fn invalidate_all(&self) -> Result<(), CacheError> {
        self.inner.invalidate(Target::All).await.map(drop)
    }

    /// Ends the entries whose key text the predicate accepts, and says how many there were. It walks through the whole
    /// cache: for rare occasions.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let prices = caches.cache::<u64>("prices")?;
    /// for key in [(1, "EUR"), (1, "NOK"), (2, "NOK")] {
    ///     prices.insert(&key, 2990).await?;
    /// }
    /// // The text of a tuple is a JSON array: [1,"NOK"]
    /// assert_eq!(prices.invalidate_if(|key| key.ends_with(r#","NOK"]"#)).await?, 2);
    /// assert_eq!(prices.get(&(1, "EUR")).await, Some(2990));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// If the backend failed on the way. Then it is not known which are left, and the whole cache is ended in their place, in the
    /// background, as soon as the backend acknowledges it.
    ///
    /// Dropped half-way, it may have left some.
    pub async fn invalidate_if(
        &self,
        predicate: impl for<'k> Fn(&'k str) -> bool + Send + Sync,
    ) -> Result<u64, CacheError> {
        self.inner.invalidate_if(&predicate).await
    }

    /// The counters of the cache.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let prices = caches.cache::<u64>("prices")?;
    /// prices.get(&42).await;
    /// prices.insert(&42, 2990).await?;
    /// prices.get(&42).await;
    /// let stats = prices.stats();
    /// assert_eq!((stats.misses, stats.hits, stats.stores), (1, 1, 1));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.inner.stats()
    }

    /// The name of the cache.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// assert_eq!(caches.cache::<u64>("prices")?.name(), "prices");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// The settings the cache runs with.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// # let (caches, clock) = cache_core::testing::manager();
    /// let prices = caches.cache::<u64>("prices")?;
    /// assert_eq!(prices.config().ttl, Some(Duration::from_secs(300)));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn config(&self) -> EffectiveConfig {
        self.inner.config().clone()
    }
}

/// The methods that read or store values. [`Cache`] documents them.
impl<V: Clone + Send + Sync + 'static> LocalCache<V> {
    fn kind() -> ValueKind {
        ValueKind::here::<V>(never_none)
    }

    /// See [`Cache::get`].
    pub async fn get<K: Serialize + ?Sized>(&self, key: &K) -> Option<V> {
        self.get_as(key, Self::kind()).await
    }

    /// See [`Cache::get_or_load`].
    pub async fn get_or_load<K: Serialize + ?Sized>(
        &self,
        key: &K,
        load: impl Future<Output = V>,
    ) -> V {
        self.load_as::<_, _, IsPlain<V>>(key, Self::kind(), load)
            .await
    }

    /// See [`Cache::try_get_or_load`].
    ///
    /// # Errors
    /// The load's own.
    pub async fn try_get_or_load<K: Serialize + ?Sized, E>(
        &self,
        key: &K,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        self.load_as::<_, _, IsResult<V, E>>(key, Self::kind(), load)
            .await
    }

    /// See [`Cache::insert`].
    ///
    /// # Errors
    /// What kept the value from being stored.
    pub async fn insert<K: Serialize + ?Sized>(&self, key: &K, value: V) -> Result<(), CacheError> {
        self.insert_as(key, value, None, Self::kind()).await
    }

    /// See [`Cache::insert_with_ttl`].
    ///
    /// # Errors
    /// What kept the value from being stored.
    pub async fn insert_with_ttl<K: Serialize + ?Sized>(
        &self,
        key: &K,
        value: V,
        ttl: Duration,
    ) -> Result<(), CacheError> {
        self.insert_as(key, value, Some(ttl), Self::kind()).await
    }

    async fn get_as<K: Serialize + ?Sized>(&self, key: &K, kind: ValueKind) -> Option<V> {
        let Ok(key) = self.inner.key(key) else {
            self.inner.bypass();
            return None;
        };
        self.inner.get(&key, kind).await
    }

    async fn load_as<K, R, O>(&self, key: &K, kind: ValueKind, load: impl Future<Output = R>) -> R
    where
        K: Serialize + ?Sized,
        O: Outcome<Returned = R, Value = V>,
    {
        let returns = Unstored::<O>::INFERRED;
        let key = self.inner.key(key);
        if let Ok(key) = &key
            && let Some(value) = cloned(self.inner.hit_in_front(key.sought(), &kind).value())
        {
            return O::success(value);
        }
        let arrived = self
            .inner
            .arrive(key.ok(), kind, None, LoadOptions::default());
        let leader = match arrived.await.conclude(returns) {
            Ok(returned) => return returned,
            Err(leader) => leader,
        };
        let returned = load.await;
        leader.finish(returns, returned)
    }

    async fn insert_as<K: Serialize + ?Sized>(
        &self,
        key: &K,
        value: V,
        ttl: Option<Duration>,
        kind: ValueKind,
    ) -> Result<(), CacheError> {
        let key = Some(self.inner.key(key)?);
        let Some(attempt) = self.inner.attempt_put(key, kind, None).await? else {
            return Ok(());
        };
        let wish = Wish { ttl, ..Wish::USUAL };
        attempt.finish(&value, &|_| None, wish).await
    }
}

impl<V> Clone for Cache<V> {
    fn clone(&self) -> Self {
        Self {
            local: LocalCache {
                inner: Arc::clone(&self.local.inner),
                value: PhantomData,
            },
        }
    }
}

impl<V> fmt::Debug for Cache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

impl<V> fmt::Debug for LocalCache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalCache")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}
