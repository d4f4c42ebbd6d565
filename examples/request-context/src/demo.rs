//! A policy and tokens to try the service with. The secret is made anew each time, so that none is written down anywhere.

use std::error::Error;

use jsonwebtoken::{EncodingKey, Header, get_current_timestamp};
use request_context::{Contexts, Policy, Secret, VerifyOptions};
use serde_json::json;

/// How long the tokens are, in bytes: what is usual with a dozen claims.
const TOKEN_BYTES: usize = 620;

pub(crate) struct Demo {
    /// Letters, as secrets in settings files are.
    pub(crate) secret: String,
    verified_by: Secret,
}

impl Demo {
    pub(crate) fn new() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut random = [0; 32];
        getrandom::fill(&mut random)?;
        let secret: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            // Also brings the cryptography that tokens are signed by.
            verified_by: Secret::new(secret.as_bytes())?,
            secret,
        })
    }

    pub(crate) fn policy(&self, contexts: Contexts) -> Policy {
        Policy {
            contexts,
            secret: self.verified_by.clone(),
            audiences: vec!["shop".to_owned()],
            role: vec!["role".to_owned()],
            options: VerifyOptions {
                leeway: 5,
                issuers: vec!["https://accounts.example.org".to_owned()],
            },
            default_role: Some("visitor".to_owned()),
        }
    }

    /// The token of a customer.
    pub(crate) fn token(&self, customer: usize) -> Result<String, Box<dyn Error + Send + Sync>> {
        let now = get_current_timestamp();
        let mut claims = json!({
            "iss": "https://accounts.example.org",
            "aud": "shop",
            "sub": format!("customer-{customer:08}"),
            "iat": now,
            "nbf": now,
            "exp": now + 3_600,
            "role": "customer",
            "name": "Ada Lovelace",
            "email": "ada@example.org",
            "email_verified": true,
            "tenant": 4711,
            "teams": ["analysis", "engines"],
            "scope": "orders:read orders:write",
        });
        let key = EncodingKey::from_secret(self.secret.as_bytes())?;
        let mut encode = |session: &str| {
            claims["session"] = session.into();
            jsonwebtoken::encode(&Header::default(), &claims, &key)
        };
        // Three bytes become four letters.
        let missing = TOKEN_BYTES.saturating_sub(encode("")?.len());
        Ok(encode(&"s".repeat(missing * 3 / 4))?)
    }
}
