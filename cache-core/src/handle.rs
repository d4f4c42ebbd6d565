//! A cache in the hands of a user.

use std::{fmt, future::Future, marker::PhantomData, ops::Deref, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    cache::{CacheInner, Keep, LoadOptions, PutKey, Target},
    codec::ValueForm,
    config::EffectiveConfig,
    error::CacheError,
    stats::CacheStats,
    value::{IsPlain, IsResult, Outcome, Returns, ValueTraits},
};

/// A cache by name, to be used beside or instead of the attributes. The entries are the same.
///
/// Keys are any `Serialize` value and make the same text as the parameters of annotated functions do: a tuple is several
/// parts, `&()` is the key of a function without parameters, [`Hashed`](crate::Hashed) is `#[cache_key(hash)]`.
///
/// Cheap to clone. Values that implement serde's traits go through every store. For values that do not, the handle has
/// the same methods, found on [`LocalCache`]; they work in memory, and on a backend they answer as if nothing were cached.
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
    fn traits() -> ValueTraits<V> {
        ValueTraits::new(Some(ValueForm::of()), |_| false)
    }

    /// The value of `key`, if there is one that counts. A failing backend is a miss.
    ///
    /// `Some(None)` and `None` differ where the value is an `Option`: a stored `None`, and nothing stored.
    pub async fn get<K: Serialize + ?Sized>(&self, key: &K) -> Option<V> {
        self.local.get_as(key, Self::traits()).await
    }

    /// The value of `key`; if there is none, `load` runs and its value is stored. Callers of one key share one load.
    ///
    /// Dropped half-way, the load is handed to somebody who waits for it, who runs his own.
    pub async fn get_or_load<K: Serialize + ?Sized>(
        &self,
        key: &K,
        load: impl Future<Output = V>,
    ) -> V {
        self.local
            .load_as::<_, _, IsPlain<V>>(key, Self::traits(), load)
            .await
    }

    /// As [`get_or_load`](Self::get_or_load), for a load that may fail. An `Err` is returned and not stored; those who waited
    /// load one after another.
    ///
    /// # Errors
    /// The load's own. The cache has none.
    pub async fn try_get_or_load<K: Serialize + ?Sized, E>(
        &self,
        key: &K,
        load: impl Future<Output = Result<V, E>>,
    ) -> Result<V, E> {
        self.local
            .load_as::<_, _, IsResult<V, E>>(key, Self::traits(), load)
            .await
    }

    /// Stores a value in place of what is there. Loads that are under way may no longer store theirs.
    ///
    /// `Ok` says that what was there is gone; the value itself may be gone at once, as any entry may: when another
    /// invalidation or put comes at the same time, nobody knows which value is newer, and none is kept.
    ///
    /// # Errors
    /// What kept the value from being stored; then the old one is taken away too, if the backend can be reached.
    pub async fn insert<K: Serialize + ?Sized>(&self, key: &K, value: V) -> Result<(), CacheError> {
        self.local.insert_as(key, value, None, Self::traits()).await
    }

    /// As [`insert`](Self::insert), for at most `ttl`, and never longer than the cache's own. Less than a millisecond
    /// stores nothing.
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
            .insert_as(key, value, Some(ttl), Self::traits())
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
    /// # Errors
    /// If the backend did not acknowledge it in time. It may still happen.
    pub async fn invalidate<K: Serialize + ?Sized>(&self, key: &K) -> Result<bool, CacheError> {
        self.inner
            .invalidate(Target::Key(self.inner.key(key)?))
            .await
    }

    /// Ends all entries of the cache, at the same cost for ten as for ten million.
    ///
    /// # Errors
    /// As [`invalidate`](Self::invalidate).
    pub async fn invalidate_all(&self) -> Result<(), CacheError> {
        self.inner.invalidate(Target::All).await.map(drop)
    }

    /// Ends the entries whose key text the predicate accepts, and says how many there were. It walks through the whole
    /// cache: for rare occasions.
    ///
    /// # Errors
    /// If the backend failed on the way; then some may be left.
    pub async fn invalidate_if(
        &self,
        predicate: impl for<'k> Fn(&'k str) -> bool + Send + Sync,
    ) -> Result<u64, CacheError> {
        self.inner.invalidate_if(&predicate).await
    }

    /// The counters of the cache.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.inner.stats()
    }

    /// The name of the cache.
    #[must_use]
    pub fn name(&self) -> &str {
        self.inner.name()
    }

    /// The settings the cache runs with.
    #[must_use]
    pub fn config(&self) -> EffectiveConfig {
        self.inner.config().clone()
    }
}

/// The methods that read or store values. [`Cache`] documents them.
impl<V: Clone + Send + Sync + 'static> LocalCache<V> {
    fn traits() -> ValueTraits<V> {
        ValueTraits::new(None, |_| false)
    }

    /// See [`Cache::get`].
    pub async fn get<K: Serialize + ?Sized>(&self, key: &K) -> Option<V> {
        self.get_as(key, Self::traits()).await
    }

    /// See [`Cache::get_or_load`].
    pub async fn get_or_load<K: Serialize + ?Sized>(
        &self,
        key: &K,
        load: impl Future<Output = V>,
    ) -> V {
        self.load_as::<_, _, IsPlain<V>>(key, Self::traits(), load)
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
        self.load_as::<_, _, IsResult<V, E>>(key, Self::traits(), load)
            .await
    }

    /// See [`Cache::insert`].
    ///
    /// # Errors
    /// What kept the value from being stored.
    pub async fn insert<K: Serialize + ?Sized>(&self, key: &K, value: V) -> Result<(), CacheError> {
        self.insert_as(key, value, None, Self::traits()).await
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
        self.insert_as(key, value, Some(ttl), Self::traits()).await
    }

    async fn get_as<K: Serialize + ?Sized>(&self, key: &K, traits: ValueTraits<V>) -> Option<V> {
        let Ok(key) = self.inner.key(key) else {
            self.inner.bypass();
            return None;
        };
        self.inner.get(&key, traits).await
    }

    async fn load_as<K, R, O>(
        &self,
        key: &K,
        traits: ValueTraits<V>,
        load: impl Future<Output = R>,
    ) -> R
    where
        K: Serialize + ?Sized,
        O: Outcome<Returned = R, Value = V>,
    {
        let place = match self.inner.key(key) {
            Ok(key) => Some((Arc::clone(&self.inner), key)),
            Err(_) => {
                self.inner.bypass();
                None
            }
        };
        let returns = Returns::<R, O>::with(traits, None);
        let keep = Keep {
            store_if: |_: &V| true,
            ttl_with: |_: &V| Duration::MAX,
        };
        CacheInner::load(place, returns, LoadOptions::default(), keep, || load).await
    }

    async fn insert_as<K: Serialize + ?Sized>(
        &self,
        key: &K,
        value: V,
        ttl: Option<Duration>,
        traits: ValueTraits<V>,
    ) -> Result<(), CacheError> {
        let key: PutKey<fn(&V) -> _> = PutKey::Known(self.inner.key(key)?);
        let returns = Returns::<V, IsPlain<V>>::with(traits, None);
        let keep = Keep {
            store_if: |_: &V| true,
            ttl_with: |_: &V| ttl.unwrap_or(Duration::MAX),
        };
        self.inner
            .put(key, returns, None, keep, || async { value })
            .await
            .1
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
