//! By what a token is verified, and doing it.

use std::{fmt, time::Duration};

use cache_core::{Hashed, key::KeyText};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{error::Error, hs256};

/// The secret that tokens are signed with. `Debug` does not show it, and serialised it is a fingerprint.
#[derive(Clone)]
pub struct Secret {
    key: DecodingKey,
    /// Made once: a key has no need of more than to tell secrets apart.
    fingerprint: String,
}

impl Secret {
    /// A secret of at least 32 bytes, as HS256 asks for.
    ///
    /// ```
    /// use request_context::{Error, Secret};
    ///
    /// assert!(Secret::new(b"32 random bytes, known to nobody").is_ok());
    /// assert_eq!(Secret::new(b"secret").unwrap_err(), Error::WeakSecret);
    /// ```
    ///
    /// # Errors
    /// It is shorter.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() < 32 {
            return Err(Error::WeakSecret);
        }
        hs256::install();
        let key = DecodingKey::from_secret(bytes).map_err(|_| Error::WeakSecret)?;
        let fingerprint = KeyText::of(&Hashed(bytes), None).map_err(|_| Error::WeakSecret)?;
        Ok(Self {
            key,
            fingerprint: fingerprint.as_str().to_owned(),
        })
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.fingerprint)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What else a token has to be.
///
/// ```
/// use request_context::VerifyOptions;
///
/// let options = VerifyOptions { leeway: 5, ..VerifyOptions::default() };
/// assert!(options.issuers.is_empty()); // by anybody who has the secret
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct VerifyOptions {
    /// By how many seconds the clock of whoever made the token may differ from ours. Default 0.
    pub leeway: u16,
    /// By one of these; empty: by anybody. Default empty.
    pub issuers: Vec<String>,
}

/// What a token says, once it is verified.
pub(crate) struct Verified {
    pub(crate) claims: Map<String, Value>,
    /// Since 1970.
    pub(crate) not_before: Duration,
    pub(crate) expires: Duration,
}

/// Verifies a token. It must say when it expires, and be for one of the audiences; without any, one that is for somebody is refused.
pub(crate) fn verify(
    jwt: &str,
    secret: &Secret,
    audiences: &[String],
    options: &VerifyOptions,
) -> Result<Verified, Error> {
    let mut validation = Validation::new(Algorithm::HS256);
    validation.leeway = options.leeway.into();
    validation.validate_nbf = true;
    // A claim that is only checked where it is there would be checked where the caller likes.
    let mut required = vec!["exp"];
    if !audiences.is_empty() {
        validation.set_audience(audiences);
        required.push("aud");
    }
    if !options.issuers.is_empty() {
        validation.set_issuer(&options.issuers);
        required.push("iss");
    }
    validation.set_required_spec_claims(&required);
    let claims: Map<String, Value> = jsonwebtoken::decode(jwt, &secret.key, &validation)?.claims;

    let time = |claim| claims.get(claim).and_then(Value::as_f64);
    let duration = |seconds| Duration::try_from_secs_f64(seconds).map_err(|_| Error::Malformed);
    Ok(Verified {
        not_before: time("nbf").map_or(Ok(Duration::ZERO), duration)?,
        expires: time("exp").ok_or(Error::Malformed).and_then(duration)?,
        claims,
    })
}
