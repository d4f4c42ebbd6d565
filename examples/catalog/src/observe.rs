//! Whether an answer came from a cache, seen from outside: it did if the request ran no SQL.

use std::cell::Cell;

use axum::{extract::Request, http::HeaderValue, middleware::Next, response::Response};

tokio::task_local! {
    static RAN_SQL: Cell<bool>;
}

/// To be called by everything that reads or writes the tables.
pub(crate) fn sql_ran() {
    // Outside of a request, as at the start, nobody asks.
    let _ = RAN_SQL.try_with(|ran| ran.set(true));
}

/// Adds `x-cache: hit` to an answer for which no statement was run, else `x-cache: miss`. A caller who waited for the load
/// of another has a hit.
pub(crate) async fn x_cache(request: Request, next: Next) -> Response {
    RAN_SQL
        .scope(Cell::new(false), async {
            let mut response = next.run(request).await;
            let outcome = if RAN_SQL.with(Cell::get) {
                "miss"
            } else {
                "hit"
            };
            response
                .headers_mut()
                .insert("x-cache", HeaderValue::from_static(outcome));
            response
        })
        .await
}
