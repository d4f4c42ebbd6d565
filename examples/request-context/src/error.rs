//! Everything a request can be refused for.

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use jsonwebtoken::errors::ErrorKind;

/// Why there is no context. It never shows a token, a claim or a secret.
///
/// `Clone`, so that callers who waited for somebody else's failed verification share its error instead of verifying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its time is over.
    #[error("the token has expired")]
    Expired,
    /// Its time has not come.
    #[error("the token is not valid yet")]
    NotYetValid,
    /// It is signed with another secret, or was changed.
    #[error("the signature of the token is wrong")]
    Signature,
    /// It is not signed by HS256.
    #[error("the token is not signed by HS256")]
    Algorithm,
    /// It is for somebody else, or says not for whom it is.
    #[error("the token is for another audience")]
    Audience,
    /// It is by somebody else, or says not by whom it is.
    #[error("the token is by another issuer")]
    Issuer,
    /// The claim that names the role is something else than a string.
    #[error("the role in the token is not a string")]
    Role,
    /// It is no token, or claims are missing or of the wrong type.
    #[error("the token cannot be read")]
    Malformed,
    /// A setting would stand in the place of what is verified.
    #[error(
        "a setting may not be called `role` or begin with `jwt.`: these are for what the token says"
    )]
    Setting,
    /// Whoever knows a token could find the secret by trying.
    #[error("the secret is too short for HS256: use 32 random bytes or more")]
    WeakSecret,
}

impl From<jsonwebtoken::errors::Error> for Error {
    fn from(error: jsonwebtoken::errors::Error) -> Self {
        match error.kind() {
            ErrorKind::ExpiredSignature => Self::Expired,
            ErrorKind::ImmatureSignature => Self::NotYetValid,
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm => Self::Algorithm,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::MissingRequiredClaim(claim) if claim == "aud" => Self::Audience,
            ErrorKind::MissingRequiredClaim(claim) if claim == "iss" => Self::Issuer,
            _ => Self::Malformed,
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let message = Json(serde_json::json!({ "message": self.to_string() }));
        match self {
            // Faults of the program, not of who calls it.
            Self::Setting | Self::WeakSecret => {
                (StatusCode::INTERNAL_SERVER_ERROR, message).into_response()
            }
            _ => {
                let challenge = [(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")];
                (StatusCode::UNAUTHORIZED, challenge, message).into_response()
            }
        }
    }
}
