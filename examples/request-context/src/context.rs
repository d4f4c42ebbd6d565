//! What is known about a request.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value};

use crate::{error::Error, verify::Verified};

/// The role, the claims, and the SQL that tells both to PostgreSQL. All of it is owned text: no connection, no transaction.
///
/// It is not `Serialize`, so that no cache can carry it out of the process. `Debug` shows neither claims nor settings.
#[derive(PartialEq)]
pub struct RequestContext {
    role: Option<String>,
    claims: Map<String, Value>,
    statement: String,
    values: Vec<String>,
    lifetime: Option<Lifetime>,
}

/// From when to when the token is good, as times since 1970.
#[derive(Clone, Copy, PartialEq)]
struct Lifetime {
    not_before: Duration,
    expires: Duration,
    /// By how much either may be passed.
    leeway: Duration,
}

impl RequestContext {
    /// Puts a context together; without a token there is nothing verified.
    pub(crate) fn new(
        verified: Option<Verified>,
        leeway: Duration,
        role: &[String],
        default_role: Option<&str>,
        settings: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let lifetime = verified.as_ref().map(|verified| Lifetime {
            not_before: verified.not_before,
            expires: verified.expires,
            leeway,
        });
        let claims = verified.map_or_else(Map::new, |verified| verified.claims);
        let role = match role_in(&claims, role) {
            Some(Value::String(role)) => Some(role.clone()),
            Some(_) => return Err(Error::Role),
            None => default_role.map(ToOwned::to_owned),
        };
        let (statement, values) = statement(role.as_deref(), &claims, settings)?;
        Ok(Self {
            role,
            claims,
            statement,
            values,
            lifetime,
        })
    }

    /// The role to act in, if there is one.
    #[must_use]
    pub fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// What the token says; empty without one.
    #[must_use]
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// `select set_config($1, $2, true), …`, to be run first in a transaction; empty if there is nothing to set.
    #[must_use]
    pub fn statement(&self) -> &str {
        &self.statement
    }

    /// What stands for `$1`, `$2`, … in it.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// How long the token still lives; without one for ever.
    pub(crate) fn left(&self, now: SystemTime) -> Duration {
        self.lifetime.map_or(Duration::MAX, |lifetime| {
            lifetime.expires.saturating_sub(since_1970(now))
        })
    }

    /// Whether the token is good at this time.
    pub(crate) fn check(&self, now: SystemTime) -> Result<(), Error> {
        let Some(lifetime) = self.lifetime else {
            return Ok(());
        };
        let now = since_1970(now);
        if now >= lifetime.expires.saturating_add(lifetime.leeway) {
            return Err(Error::Expired);
        }
        if now.saturating_add(lifetime.leeway) < lifetime.not_before {
            return Err(Error::NotYetValid);
        }
        Ok(())
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

fn since_1970(now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// What is at the end of a path into the claims; no path leads nowhere.
fn role_in<'a>(claims: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let found = rest
        .iter()
        .try_fold(claims.get(first)?, |within, name| within.get(name))?;
    (!found.is_null()).then_some(found)
}

/// The SQL and its values. Names are values, too: nothing a token says becomes part of the text.
fn statement(
    role: Option<&str>,
    claims: &Map<String, Value>,
    settings: &[(&str, &str)],
) -> Result<(String, Vec<String>), Error> {
    // Each name once: in which order PostgreSQL would set them is not ours to know.
    let mut all = BTreeMap::new();
    for (name, value) in settings {
        // PostgreSQL takes `ROLE` for `role`.
        let lower = name.to_ascii_lowercase();
        if lower == "role" || lower.starts_with("jwt.") {
            return Err(Error::Setting);
        }
        all.insert((*name).to_owned(), (*value).to_owned());
    }
    if let Some(role) = role {
        all.insert("role".to_owned(), role.to_owned());
    }
    for (name, value) in claims {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        all.insert(format!("jwt.claims.{name}"), text);
    }

    let mut sql = String::new();
    for at in 0..all.len() {
        sql.push_str(if at == 0 { "select " } else { ", " });
        let (name, value) = (2 * at + 1, 2 * at + 2);
        write!(sql, "set_config(${name}, ${value}, true)").expect("a `String` has room");
    }
    let values = all.into_iter().flat_map(<[String; 2]>::from).collect();
    Ok((sql, values))
}
