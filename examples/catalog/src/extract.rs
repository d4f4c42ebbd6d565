//! What handlers take from a request, refused with the errors of this service.

use std::error::Error as _;

use axum::{
    Json, RequestPartsExt,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Request, rejection::JsonRejection},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::Error;

/// The number at the end of a path; `None` if it is none that could be an id, which is for nothing to be found.
pub(crate) struct Id(pub(crate) Option<i64>);

impl Id {
    /// The id, or the error of not having found what it stands for.
    pub(crate) fn or(self, not_found: Error) -> Result<i64, Error> {
        self.0.ok_or(not_found)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Ok(Self(
            parts.extract::<Path<i64>>().await.ok().map(|Path(id)| id),
        ))
    }
}

/// A body of JSON that is a valid `T`.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        // All of the body is read before anything is said about it: an answer to a request that is still being sent may
        // never arrive, because the connection is closed.
        let mut read = Request::default();
        read.headers_mut().clone_from(request.headers());
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|rejection| {
                let status = rejection.status();
                Error::BadBody {
                    status,
                    message: rejection.body_text(),
                }
            })?;
        *read.body_mut() = body.into();

        let Json(text): Json<Box<RawValue>> =
            Json::from_request(read, state).await.map_err(bad_body)?;
        if !text.get().starts_with('{') {
            // Serde would take an array for a struct, too, its fields in the order of our source.
            let message = "a JSON object is needed".to_owned();
            return Err(Error::BadBody {
                status: StatusCode::BAD_REQUEST,
                message,
            });
        }
        Json::from_bytes(text.get().as_bytes())
            .map(|Json(body)| Self(body))
            .map_err(bad_body)
    }
}

fn bad_body(rejection: JsonRejection) -> Error {
    let status = match rejection {
        // Whether it is not JSON or not what was asked for: the caller sent a bad request.
        JsonRejection::JsonDataError(_) | JsonRejection::JsonSyntaxError(_) => {
            StatusCode::BAD_REQUEST
        }
        // Not said to be JSON.
        _ => rejection.status(),
    };
    // The source says what is wrong, without the sentence that every rejection begins with.
    let message = rejection
        .source()
        .map_or_else(|| rejection.body_text(), ToString::to_string);
    Error::BadBody { status, message }
}
