//! Redis as a store of [`cache_core`]: entries that several processes share and that survive a restart.
//!
//! ```no_run
//! use cache_core::backend::{CacheBackend, CacheId};
//! use cache_redis::RedisBackend;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let redis = RedisBackend::open("redis://127.0.0.1:6379")?;
//! let product = CacheId::new("product", "cache:product");
//! let loaded = redis.load(product.entry("42")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A program hands the backend to the configuration of its caches and never calls it itself.
//!
//! # What a program can rely on
//!
//! - **An invalidation is never undone by a slow reader.** Beside each entry there is a random token. It is read before a value
//!   is computed, replaced by every invalidation, and a value is stored only while it is unchanged; all of it in atomic
//!   steps of the server.
//! - **Clearing a cache costs one command**, whatever it holds. It touches no other cache and no foreign key, and nothing ever
//!   sends `KEYS` or `FLUSHDB`.
//! - **Redis may come and go.** Start-up does not wait for it, a look-up waits no longer than the read budget, and connections are
//!   made and replaced in the background.
//! - **No user name, password, key or value** is in any error, log line or `Debug` output.
//!
//! # In Redis
//!
//! | key | holds |
//! |---|---|
//! | `cache:<name>:<key text>` (or the prefix of the configuration) | an entry, always written together with its expiry |
//! | `cs:<name>:{tag}` | the tokens of entries, at most 16 384 for a cache |
//! | `cs:<name>:e` | the token of the cache as a whole |
//!
//! A user of an access control list needs `~cache:*` (or the prefixes in use), `~cs:*`, and the commands `MGET`, `SET`, `UNLINK`,
//! `GETDEL`, `EXISTS`, `EVAL`, `EVALSHA`, `PTTL`, `PEXPIRE`, `GETRANGE`, `SCAN`, `MULTI`, `EXEC`, `PING`, `SELECT`, `HELLO`.
//!
//! # Layers
//!
//! `backend` is the public face, `server` the steps of the protocol as commands, `scripts` what must be atomic, `layout` the
//! keys, `reply` and `error` what comes back; `link` is the way of every request, `connection` one connection and its
//! life, `address` where it leads; `walk` finds keys nobody has listed, `sweep` tidies up. [`dev`] starts a server for examples and tests.

mod address;
mod backend;
mod connection;
pub mod dev;
mod error;
mod layout;
mod link;
mod reply;
mod scripts;
mod server;
mod sweep;
mod walk;

pub use backend::{RedisBackend, RedisBackendBuilder};
