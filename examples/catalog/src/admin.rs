//! For whoever runs the service: is it well, what do its caches do, empty one of them.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode, header},
};
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use crate::{error::Error, routes::App};

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
    // Without its caches the shop is slower, without its database it is closed.
    let status = if database {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    let word = |well: bool| if well { "UP" } else { "DOWN" };
    (
        status,
        Json(json!({ "status": word(database), "database": word(database) })),
    )
}

pub(crate) async fn cache_stats(State(_app): State<Arc<App>>) -> Json<Value> {
    Json(json!({}))
}

pub(crate) async fn clear_cache(
    State(app): State<Arc<App>>,
    Path(_name): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Error> {
    if !app.admin.admits(&headers) {
        return Err(Error::Forbidden);
    }
    Err(Error::CacheNotFound)
}
