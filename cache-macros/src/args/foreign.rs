//! Options that other caching frameworks have, and what is written here instead.

use super::Kind;

/// Names of the cache.
const CACHE: [&str; 7] = [
    "name",
    "names",
    "value",
    "cache_name",
    "cache_names",
    "cacheName",
    "cacheNames",
];

/// Settings of a whole cache.
const SETTINGS: [&str; 22] = [
    "backend",
    "capacity",
    "codec",
    "disk",
    "idle",
    "jitter",
    "max_capacity",
    "max_size",
    "memory",
    "memory_ttl",
    "no_ttl",
    "none_ttl",
    "prefix",
    "redis",
    "refresh",
    "size",
    "store",
    "time_to_idle",
    "tti",
    "ttl_jitter",
    "value_type",
    "version",
];

/// Whether `word` names the cache elsewhere.
pub(super) fn cache(word: &str) -> bool {
    CACHE.contains(&word)
}

/// What to write instead of the option `word`, if it is one elsewhere.
pub(super) fn advice(word: &str, kind: Kind) -> Option<&'static str> {
    if cache(word) {
        return Some("write `cache = \"…\"`");
    }
    if SETTINGS.contains(&word) {
        return Some("that is set for a whole cache, on its `CacheConfig`");
    }
    Some(match word {
        "time" | "time_to_live" | "timeout" | "expire" | "expires" | "expiry" | "expiration"
        | "max_age" | "maxAge"
            if kind.stores() =>
        {
            "write `ttl = \"30s\"`"
        }
        "unless" if kind.stores() => "write when to store the value, with `store_if = |value| …`",
        "unless" => "write when to invalidate, with `invalidate_if = |value| …`",
        "option" if kind.stores() => {
            "`None` is stored, unless `store_if = Option::is_some` leaves it out"
        }
        "result" if kind.stores() => "remove it: an `Err` is never stored",
        "sync" | "sync_writes" | "sync_lock" | "lock" if kind == Kind::Result => {
            "remove it: callers of one key always wait for one load"
        }
        "convert" | "map" | "key_generator" | "keyGenerator" if kind != Kind::InvalidateAll => {
            "write `key = …`, a tuple for several parts"
        }
        "if" | "filter" | "predicate" => "write `condition = …`, over the arguments",
        "before" | "before_invocation" | "beforeInvocation" if !kind.stores() => {
            "write `when = \"before\"`"
        }
        "all" | "all_entries" | "allEntries" if kind == Kind::Invalidate => {
            "write `cache_invalidate_all`"
        }
        _ => return None,
    })
}
