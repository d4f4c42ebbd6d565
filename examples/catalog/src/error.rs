//! Everything a request can be refused for.

use std::sync::Arc;

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use cache_core::CacheError;

/// The error of every service function and handler. It becomes the answer `{"message": "…"}`.
///
/// `Clone`, so that callers who waited for somebody else's failed load share its error instead of loading again.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("Product details not found")]
    ProductNotFound,
    #[error("Category not found")]
    CategoryNotFound,
    #[error("Product price not found")]
    PriceNotFound,
    #[error("Product inventory not found")]
    InventoryNotFound,
    #[error("Order not found")]
    OrderNotFound,
    #[error("Cache not found")]
    CacheNotFound,
    #[error("No such page")]
    RouteNotFound,

    /// A body names a category that does not exist.
    #[error("Category not found")]
    UnknownCategory,
    #[error("Product with sku {0} not found")]
    UnknownSku(String),
    #[error("Product with sku {0} is not for sale")]
    NotForSale(String),
    #[error("{what} for sku {sku} already exists")]
    AlreadyExists { what: &'static str, sku: String },
    #[error("The payment amount is wrong")]
    WrongPayment,
    #[error("Not enough items on inventory for product with sku {0}")]
    NotEnough(String),

    /// The body was refused before the service saw it.
    #[error("{message}")]
    BadBody { status: StatusCode, message: String },
    #[error("Method not allowed")]
    MethodNotAllowed,
    #[error("Clearing a cache needs a service that is bound to loopback, or its admin token")]
    Forbidden,

    #[error("The database is busy")]
    Busy,
    /// What happened is for the log, not for the caller.
    #[error("Internal error")]
    Database(#[source] Arc<sqlx::Error>),
    /// The backend did not acknowledge it: other processes may still serve the entries, until it does.
    #[error("The cache could not be cleared")]
    NotCleared(#[source] CacheError),
}

impl Error {
    fn status(&self) -> StatusCode {
        match self {
            Self::ProductNotFound
            | Self::CategoryNotFound
            | Self::PriceNotFound
            | Self::InventoryNotFound
            | Self::OrderNotFound
            | Self::CacheNotFound
            | Self::RouteNotFound => StatusCode::NOT_FOUND,
            Self::UnknownCategory
            | Self::UnknownSku(_)
            | Self::NotForSale(_)
            | Self::AlreadyExists { .. }
            | Self::WrongPayment
            | Self::NotEnough(_) => StatusCode::BAD_REQUEST,
            Self::BadBody { status, .. } => *status,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Busy | Self::NotCleared(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::PoolTimedOut => Self::Busy,
            // SQLite's SQLITE_BUSY: another process keeps the file locked.
            sqlx::Error::Database(cause) if cause.code().as_deref() == Some("5") => Self::Busy,
            error => Self::Database(Arc::new(error)),
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        match &self {
            Self::Database(error) => tracing::error!(%error, "the database failed"),
            Self::NotCleared(error) => tracing::error!(%error, "a cache could not be cleared"),
            _ => {}
        }
        (
            self.status(),
            Json(serde_json::json!({ "message": self.to_string() })),
        )
            .into_response()
    }
}
