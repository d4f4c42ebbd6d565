//! What a backend is asked about.

use std::{fmt, sync::Arc};

/// What the handles of one backend have in common and no other backend has. See
/// [`CacheBackend::instance`](super::CacheBackend::instance).
///
/// ```
/// use cache_core::backend::BackendInstance;
/// use std::sync::Arc;
///
/// let (one, other) = (Arc::new(()), Arc::new(()));
/// assert_eq!(BackendInstance::of(&one), BackendInstance::of(&Arc::clone(&one)));
/// assert_ne!(BackendInstance::of(&one), BackendInstance::of(&other));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BackendInstance(usize);

impl BackendInstance {
    /// The one whose handles share this. It is unique as long as one of the handles lives.
    #[must_use]
    pub fn of<T: ?Sized>(shared: &Arc<T>) -> Self {
        Self(Arc::as_ptr(shared).addr())
    }
}

/// One cache as a backend sees it.
///
/// ```
/// use cache_core::backend::CacheId;
///
/// let price = CacheId::new("price", "cache:price");
/// assert_eq!(price.name(), "price");
/// assert_eq!(price.prefix(), "cache:price");
/// assert_eq!(price.entry("42").storage_key(), "cache:price:42");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CacheId {
    name: Arc<str>,
    prefix: Arc<str>,
}

impl CacheId {
    /// A cache called `name` whose entries are stored under `prefix`.
    #[must_use]
    pub fn new(name: &str, prefix: &str) -> Self {
        Self {
            name: name.into(),
            prefix: prefix.into(),
        }
    }

    /// The name of the cache.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stands before the key text in the store, `cache:<name>` unless the configuration says otherwise.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The entry of this cache with that key text.
    #[must_use]
    pub const fn entry<'a>(&'a self, key_text: &'a str) -> EntryId<'a> {
        EntryId {
            cache: self,
            key_text,
        }
    }
}

/// One entry of one cache as a backend sees it.
///
/// `Debug` shows the cache, never the key.
///
/// ```
/// use cache_core::backend::CacheId;
///
/// let price = CacheId::new("price", "shop:prices");
/// let entry = price.entry(r#"[42,"en"]"#);
/// assert_eq!(entry.key_text(), r#"[42,"en"]"#);
/// assert_eq!(entry.storage_key(), r#"shop:prices:[42,"en"]"#);
/// assert_eq!(entry.cache(), &price);
/// assert!(!format!("{entry:?}").contains("42"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryId<'a> {
    cache: &'a CacheId,
    key_text: &'a str,
}

impl<'a> EntryId<'a> {
    /// The cache the entry belongs to.
    #[must_use]
    pub const fn cache(&self) -> &'a CacheId {
        self.cache
    }

    /// The key text; caches make none of more than 512 bytes. See [`key`](crate::key).
    #[must_use]
    pub const fn key_text(&self) -> &'a str {
        self.key_text
    }

    /// The name under which the entry is stored: `<prefix>:<key text>`.
    #[must_use]
    pub fn storage_key(&self) -> String {
        format!("{}:{}", self.cache.prefix, self.key_text)
    }
}

impl fmt::Debug for EntryId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EntryId")
            .field("cache", &self.cache.name)
            .finish_non_exhaustive()
    }
}
