//! For whoever runs the service: is it well, what do its caches do, empty one of them.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, StatusCode, header},
};
use cache_core::{CacheStats, backend::BackendHealth};
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use crate::{caches, error::Error, routes::App};

/// Who may clear a cache.
pub(crate) enum Admin {
    /// Everybody: only this machine reaches the service.
    Loopback,
    /// Whoever sends this token.
    Token(String),
    Nobody,
}

impl Admin {
    fn admits(&self, headers: &HeaderMap) -> bool {
        match self {
            // A page of another site can make the browser of somebody on this machine send a request, too.
            Self::Loopback => headers
                .get("sec-fetch-site")
                .is_none_or(|site| site == "same-origin" || site == "none"),
            Self::Token(token) => headers
                .get(header::AUTHORIZATION)
                .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "))
                // In constant time: how long the comparison takes must not tell how much of it was right.
                .is_some_and(|sent| sent.ct_eq(token.as_bytes()).into()),
            Self::Nobody => false,
        }
    }
}

pub(crate) async fn healthz(State(app): State<Arc<App>>) -> (StatusCode, Json<Value>) {
    let database = app.shop.store().ping().await.is_ok();
    let caches = app.caches.health();
    let word = |well: bool| if well { "UP" } else { "DOWN" };
    // A cache in memory has no backend to be down.
    let is_up = |name: &String| {
        caches
            .caches
            .get(name)
            .is_none_or(|health| *health == BackendHealth::Up)
    };
    let by_name: BTreeMap<_, _> = app
        .caches
        .names()
        .into_iter()
        .map(|name| {
            let state = word(is_up(&name));
            (name, state)
        })
        .collect();
    let (status, overall) = match (database, caches.is_up()) {
        // Without its database the shop is closed,
        (false, _) => (StatusCode::SERVICE_UNAVAILABLE, "DOWN"),
        // without its caches only slower.
        (true, false) => (StatusCode::OK, "DEGRADED"),
        (true, true) => (StatusCode::OK, "UP"),
    };
    (
        status,
        Json(json!({ "status": overall, "database": word(database), "caches": by_name })),
    )
}

/// The counters of every cache, those that were not used yet, too.
pub(crate) async fn cache_stats(State(app): State<Arc<App>>) -> Json<BTreeMap<String, Value>> {
    let mut stats: BTreeMap<String, CacheStats> = app
        .caches
        .names()
        .into_iter()
        .map(|name| (name, CacheStats::default()))
        .collect();
    stats.extend(app.caches.stats());
    Json(
        stats
            .into_iter()
            .map(|(name, stats)| (name, camel_case(&stats)))
            .collect(),
    )
}

pub(crate) async fn clear_cache(
    State(app): State<Arc<App>>,
    name: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<StatusCode, Error> {
    if !app.admin.admits(&headers) {
        return Err(Error::Forbidden);
    }
    let Ok(Path(name)) = name else {
        return Err(Error::CacheNotFound);
    };
    caches::clear(&app.caches, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Counters with their names as everything else in this service spells them.
fn camel_case(stats: &CacheStats) -> Value {
    let Ok(Value::Object(counters)) = serde_json::to_value(stats) else {
        return Value::Null;
    };
    let renamed = counters.into_iter().map(|(name, count)| {
        let mut words = name.split('_');
        let first = words.next().unwrap_or_default().to_owned();
        let name = words.fold(first, |name, word| {
            name + &word[..1].to_uppercase() + &word[1..]
        });
        (name, count)
    });
    Value::Object(renamed.collect())
}
