//! One attribute in the source: what is looked up once and then known.

// For generated code, which is documented where it is generated.
#![allow(missing_docs, missing_debug_implementations)]

use std::{
    fmt,
    ops::Deref,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use tracing::warn;

use crate::{cache::CacheInner, manager::CacheManager, registry::Types};

/// Which attribute it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    Result,
    Put,
    Invalidate,
    InvalidateAll,
}

impl Attribute {
    pub(crate) fn stores(self) -> bool {
        matches!(self, Self::Result | Self::Put)
    }
}

/// One attribute on one function. A `static` in the function's body.
#[derive(Debug)]
pub struct Site {
    attribute: Attribute,
    cache: &'static str,
    /// The module and the name.
    function: [&'static str; 2],
    line: u32,
    /// Whether the function names its manager.
    managed: bool,
    /// Called by [`check`](crate::registry::check) alone.
    types: fn() -> Types,
    /// Whether it was said that the cache cannot be made.
    said: AtomicBool,
    /// The cache of the process-wide manager.
    resolved: OnceLock<Option<Box<dyn Resolved>>>,
}

/// A cache, as an object: that one is `Sync` need not be found out for every `static` again, from everything that a cache is made
/// of.
trait Resolved: fmt::Debug + Send + Sync {
    fn cache(&self) -> &Arc<CacheInner>;
}

impl Resolved for Arc<CacheInner> {
    fn cache(&self) -> &Arc<CacheInner> {
        self
    }
}

impl Site {
    pub const fn new(
        attribute: Attribute,
        cache: &'static str,
        function: [&'static str; 2],
        line: u32,
        managed: bool,
        types: fn() -> Types,
    ) -> Self {
        Self {
            attribute,
            cache,
            function,
            line,
            managed,
            types,
            said: AtomicBool::new(false),
            resolved: OnceLock::new(),
        }
    }

    #[inline]
    pub(crate) const fn attribute(&self) -> Attribute {
        self.attribute
    }

    pub(crate) const fn cache(&self) -> &'static str {
        self.cache
    }

    pub(crate) fn function(&self) -> String {
        self.function.join("::")
    }

    pub(crate) const fn line(&self) -> u32 {
        self.line
    }

    pub(crate) const fn is_managed(&self) -> bool {
        self.managed
    }

    pub(crate) fn types(&self) -> Types {
        (self.types)()
    }

    /// The cache the attribute names. `None` if it cannot be made: then the function runs as if it were not annotated.
    pub(crate) fn resolve(&'static self, manager: Option<&CacheManager>) -> Option<SiteCache> {
        match manager {
            Some(manager) => self.find(manager).map(SiteCache::Looked),
            None => self.known(),
        }
    }

    /// The same where it is that of the process-wide manager.
    #[inline]
    pub(crate) fn known(&'static self) -> Option<SiteCache> {
        let resolved = match self.resolved.get() {
            Some(resolved) => resolved,
            None => self.find_global(),
        };
        resolved
            .as_ref()
            .map(|resolved| SiteCache::Known(resolved.cache()))
    }

    #[cold]
    fn find_global(&self) -> &Option<Box<dyn Resolved>> {
        self.resolved.get_or_init(|| {
            let cache = self.find(CacheManager::global_for(|| {
                format!("`{}` was called before any was installed", self.function())
            }));
            cache.map(|cache| Box::new(cache) as _)
        })
    }

    fn find(&self, manager: &CacheManager) -> Option<Arc<CacheInner>> {
        manager
            .inner(self.cache)
            .inspect_err(|error| {
                if !self.said.swap(true, Ordering::Relaxed) {
                    warn!(%error, function = self.function(), "the function runs without its cache");
                }
            })
            .ok()
    }
}

/// The cache of a site. One that is known is only pointed to: if every call counted itself among its owners, all threads would
/// write to one place.
pub(crate) enum SiteCache {
    Known(&'static Arc<CacheInner>),
    Looked(Arc<CacheInner>),
}

impl SiteCache {
    pub(crate) fn into_owned(self) -> Arc<CacheInner> {
        match self {
            Self::Known(cache) => Arc::clone(cache),
            Self::Looked(cache) => cache,
        }
    }
}

impl Deref for SiteCache {
    type Target = Arc<CacheInner>;

    #[inline]
    fn deref(&self) -> &Arc<CacheInner> {
        match self {
            Self::Known(cache) => cache,
            Self::Looked(cache) => cache,
        }
    }
}
