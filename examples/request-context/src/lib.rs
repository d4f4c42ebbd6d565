//! What a server knows about a request, from its token: the database role, the claims, and the SQL that tells both to PostgreSQL.
//!
//! A GraphQL server in front of PostgreSQL computes this on every request, from the same token, for as long as the token lives. Here
//! it is kept in memory, under rules that such a cache is easily made without:
//!
//! | rule | kept by |
//! |---|---|
//! | an entry ends with its token | `ttl_with` in `contexts.rs`, and [`Contexts::request_context`] asks the wall clock on each hit |
//! | everything the context is made of is in the key | the cached function has one argument, which is all of the key |
//! | the key holds a digest, never a token or a secret | `#[cache_key(hash)]` with a `key_secret`; [`Secret`] gives away its fingerprint only |
//! | at most 2 000 entries | `max_capacity` in [`Contexts::config`] |
//! | what is refused is not stored | it is an `Err` |
//! | never in Redis | [`RequestContext`] is not `Serialize`: on a backend it is a fault of the set-up, and is not stored |
//! | no transaction, no connection in the cache | the context is text and values; who has a transaction runs them in it |

mod context;
mod contexts;
mod error;
mod hs256;
mod server;
mod verify;

pub use context::RequestContext;
pub use contexts::{Contexts, Settings, WallClock};
pub use error::Error;
pub use server::{Policy, router};
pub use verify::{Secret, VerifyOptions};
