//! Words that are options in other caching frameworks, or settings of a whole cache in this one, and what to write instead.

use super::Kind;

/// What says what the key is.
pub(super) const KEY: &str = "write `key = …`, a tuple for several parts";

/// Whether `word` names the cache elsewhere.
pub(super) fn names_the_cache(word: &str) -> bool {
    matches!(
        word,
        "name" | "names" | "value" | "cache_name" | "cache_names" | "cacheName" | "cacheNames"
    )
}

/// What to write instead of the option `word`.
pub(super) fn advice(word: &str, kind: Kind) -> Option<&'static str> {
    if names_the_cache(word) {
        return Some("write `cache = \"…\"`");
    }
    Some(match word {
        "time" | "time_to_live" | "expire" | "expires" | "expiry" | "expiration" | "max_age"
        | "maxAge"
            if kind.stores() =>
        {
            "write `ttl = \"30s\"`"
        }
        "timeout" if kind == Kind::Result => {
            "write `ttl` for how long a value lives, `lock_timeout` for how long a caller waits for another's load"
        }
        "unless" if kind.stores() => "write when to store the value, with `store_if = |value| …`",
        "unless" => "write when to invalidate, with `invalidate_if = |value| …`",
        "option" if kind.stores() => "write `store_if = Option::is_some` to leave out `None`",
        "result" if kind.stores() => "remove it: an `Err` is never stored",
        "sync" | "sync_writes" | "sync_lock" | "lock" if kind == Kind::Result => {
            "remove it: callers of one key share one load"
        }
        "convert" | "map" | "key_generator" | "keyGenerator" if kind != Kind::InvalidateAll => KEY,
        "if" | "filter" | "predicate" => "write `condition = …`, over the arguments",
        "before" | "before_invocation" | "beforeInvocation" if !kind.stores() => {
            "write `when = \"before\"`"
        }
        "always" if !kind.stores() => "write `when = \"always\"`",
        "all" | "all_entries" | "allEntries" if kind == Kind::Invalidate => {
            "write `cache_invalidate_all`"
        }
        "capacity" | "max_capacity" | "max_size" | "size" => {
            "that is set for a whole cache, by `CacheConfig::max_capacity`"
        }
        "idle" | "time_to_idle" | "tti" => {
            "that is set for a whole cache, by `CacheConfig::time_to_idle`"
        }
        "backend" | "memory" | "redis" | "store" => {
            "that is set for a whole cache, as in `CacheConfig::on(backend)`"
        }
        "codec" | "jitter" | "memory_ttl" | "no_ttl" | "none_ttl" | "prefix" | "ttl_jitter"
        | "value_type" | "version" => "that is set for a whole cache, on its `CacheConfig`",
        _ => return None,
    })
}
