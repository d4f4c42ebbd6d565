//! What is known of a call before its body runs.

use std::{sync::Arc, time::Duration};

use super::KeyArgument;
use crate::{
    cache::{Arrived, CacheInner, LoadOptions, Soon},
    front::Found,
    key::{Hashed, KeyParts, KeyText},
    manager::CacheManager,
    site::{Attribute, Site, SiteCache},
    value::{ValueKind, Wanted},
};

/// One attribute's part in one call, as far as it is known before the body runs.
pub struct Plan {
    /// `None`: the attribute does nothing for this call.
    cache: Option<SiteCache>,
    key: PlannedKey,
    pub(super) options: LoadOptions,
}

enum PlannedKey {
    /// From the arguments, part by part.
    Parts(KeyParts),
    FromValue,
    All,
}

impl Plan {
    /// For the entry whose key the arguments give, in so many parts. They are to be added next.
    pub fn keyed(site: &'static Site, parts: usize) -> Self {
        Self {
            cache: enabled(site, site.known(), true),
            key: PlannedKey::Parts(KeyParts::new(parts)),
            options: LoadOptions::default(),
        }
    }

    /// The same where the function says which manager, or when.
    pub fn keyed_where(
        site: &'static Site,
        parts: usize,
        manager: Option<&CacheManager>,
        condition: bool,
    ) -> Self {
        Self::new(
            site,
            manager,
            condition,
            PlannedKey::Parts(KeyParts::new(parts)),
        )
    }

    /// For the entry whose key the value will give.
    pub fn from_value(site: &'static Site) -> Self {
        Self::from_value_where(site, None, true)
    }

    /// The same where the function says which manager, or when.
    pub fn from_value_where(
        site: &'static Site,
        manager: Option<&CacheManager>,
        condition: bool,
    ) -> Self {
        Self::new(site, manager, condition, PlannedKey::FromValue)
    }

    /// For all entries.
    pub fn all(site: &'static Site) -> Self {
        Self::all_where(site, None, true)
    }

    /// The same where the function says which manager, or when.
    pub fn all_where(site: &'static Site, manager: Option<&CacheManager>, condition: bool) -> Self {
        Self::new(site, manager, condition, PlannedKey::All)
    }

    fn new(
        site: &'static Site,
        manager: Option<&CacheManager>,
        condition: bool,
        key: PlannedKey,
    ) -> Self {
        Self {
            cache: enabled(site, site.resolve(manager), condition),
            key,
            options: LoadOptions::default(),
        }
    }

    /// `ttl = …`
    pub fn ttl(&mut self, ttl: Duration) {
        self.options.ttl = Some(ttl);
    }

    /// `lock_timeout = …`
    pub fn lock_timeout(&mut self, timeout: Duration) {
        self.options.lock_timeout = Some(timeout);
    }

    /// Whether the parts of the key are needed.
    pub fn wants_key(&self) -> bool {
        self.cache.is_some()
    }

    pub fn part<T: KeyArgument + ?Sized>(&mut self, part: &T) {
        if let (Some(cache), PlannedKey::Parts(parts)) = (&self.cache, &mut self.key) {
            parts.part(cache.secret(), part);
        }
    }

    pub fn hashed<T: KeyArgument + ?Sized>(&mut self, part: &T) {
        if let (Some(cache), PlannedKey::Parts(parts)) = (&self.cache, &mut self.key) {
            parts.part(cache.secret(), &Hashed(part));
        }
    }

    /// All parts are added: what was hit lately under this key.
    pub(super) fn look(&mut self, kind: &ValueKind) -> Found {
        match (&self.cache, &mut self.key) {
            (Some(cache), PlannedKey::Parts(parts)) => match parts.close(cache.secret()) {
                Some(key) => cache.hit_in_front(key, kind),
                None => Found::nothing(),
            },
            _ => Found::nothing(),
        }
    }

    /// What a call comes to that [looked](Self::look) and found nothing.
    pub(super) fn arrive(&mut self, wanted: &Wanted) -> Soon<Arrived> {
        let key = std::mem::replace(&mut self.key, PlannedKey::All);
        match (&self.cache, key) {
            (Some(cache), PlannedKey::Parts(parts)) => cache.arrive(
                cache.key_of(parts),
                wanted.kind,
                wanted.shares,
                self.options,
            ),
            _ => Arrived::past(),
        }
    }

    /// The cache, if there is one to be used, and what the key is; without a key text the call goes past the cache.
    pub(super) fn decide(self) -> Option<(Arc<CacheInner>, Option<Decided>)> {
        let cache = self.cache?.into_owned();
        let key = match self.key {
            PlannedKey::Parts(mut parts) => {
                parts.close(cache.secret());
                cache.key_of(parts).map(Decided::Key)
            }
            PlannedKey::FromValue => Some(Decided::FromValue),
            PlannedKey::All => Some(Decided::All),
        };
        Some((cache, key))
    }
}

/// The cache of a call that is to use it; no other evaluates what is only for the cache.
#[inline]
fn enabled(site: &'static Site, cache: Option<SiteCache>, condition: bool) -> Option<SiteCache> {
    let cache = cache?;
    if condition && !cache.is_disabled() {
        return Some(cache);
    }
    if site.attribute() == Attribute::Result {
        cache.bypass();
    }
    None
}

/// What an attribute is about.
pub(super) enum Decided {
    Key(KeyText),
    FromValue,
    All,
}
