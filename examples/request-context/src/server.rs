//! The context of a request as a handler takes it.

use std::{fmt, sync::Arc};

use axum::{
    Router,
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
    routing::get,
};

use crate::{
    context::RequestContext,
    contexts::Contexts,
    error::Error,
    verify::{Secret, VerifyOptions},
};

/// Whom a server trusts, and what it says to PostgreSQL by itself.
pub struct Policy {
    /// Where contexts come from.
    pub contexts: Contexts,
    /// What tokens are signed with.
    pub secret: Secret,
    /// For whom tokens have to be.
    pub audiences: Vec<String>,
    /// The path to the claim that names the role.
    pub role: Vec<String>,
    /// What else tokens have to be.
    pub options: VerifyOptions,
    /// The role of those without a token.
    pub default_role: Option<String>,
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").finish_non_exhaustive()
    }
}

/// What a handler that needs the context takes; without a good token it does not run.
struct Context(Arc<RequestContext>);

impl FromRequestParts<Arc<Policy>> for Context {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, policy: &Arc<Policy>) -> Result<Self, Error> {
        let headers = &parts.headers;
        let language = language(headers);
        policy
            .contexts
            .request_context(
                bearer(headers)?,
                &policy.secret,
                &policy.audiences,
                &policy.role,
                &policy.options,
                policy.default_role.as_deref(),
                language
                    .map(|language| ("app.language", language))
                    .as_slice(),
            )
            .await
            .map(Self)
    }
}

/// The service: `GET /role` answers with the role of who asks.
pub fn router(policy: Arc<Policy>) -> Router {
    Router::new().route("/role", get(role)).with_state(policy)
}

/// A handler with a database would begin a transaction here, run the context's statement in it, and then its own.
async fn role(Context(context): Context) -> String {
    context.role().unwrap_or_default().to_owned()
}

/// The token of a request. One that is there and cannot be read is an error: who sent it does not want to be a visitor.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    let Some(sent) = text(headers, header::AUTHORIZATION)? else {
        return Ok(None);
    };
    match sent.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err(Error::Malformed),
    }
}

/// The language somebody reads, as two letters. Not all that the header says: whoever writes it would decide how many entries there are.
fn language(headers: &HeaderMap) -> Option<&str> {
    let accepted = text(headers, header::ACCEPT_LANGUAGE).ok()??;
    let (tag, _) = accepted.split_at_checked(2)?;
    tag.bytes()
        .all(|letter| letter.is_ascii_lowercase())
        .then_some(tag)
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<&str>, Error> {
    headers
        .get(name)
        .map(|value| value.to_str().map_err(|_| Error::Malformed))
        .transpose()
}
