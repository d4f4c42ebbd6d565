//! The pages for a browser: plain HTML and a script that speaks to the REST interface as anybody else does.

use axum::{
    Router,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Nothing of a page is loaded from elsewhere, and a name of a product is never a script.
const POLICY: &str = "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", page(HTML, include_str!("pages/shop.html")))
        .route("/caches", page(HTML, include_str!("pages/caches.html")))
        .route(
            "/pages/page.js",
            page(SCRIPT, include_str!("pages/page.js")),
        )
        .route(
            "/pages/shop.js",
            page(SCRIPT, include_str!("pages/shop.js")),
        )
        .route(
            "/pages/caches.js",
            page(SCRIPT, include_str!("pages/caches.js")),
        )
        .route(
            "/pages/style.css",
            page(STYLE, include_str!("pages/style.css")),
        )
}

fn page<S: Clone + Send + Sync + 'static>(
    kind: &'static str,
    text: &'static str,
) -> MethodRouter<S> {
    get(async move || answer(kind, text))
}

fn answer(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // They change with the service.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (
        headers.map(|(name, value)| (name, HeaderValue::from_static(value))),
        text,
    )
        .into_response()
}
