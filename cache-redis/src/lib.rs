//! Redis as a store of [`cache_core`]: entries that several processes share and that survive a restart.
//!
//! ```
//! use cache_core::{CacheConfig, CacheManager};
//! use cache_redis::{RedisBackend, dev::RedisServer};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = RedisServer::start()?; // for the example; a program has the url of its own
//! let redis = RedisBackend::open(&server.url())?;
//! let caches = CacheManager::builder()
//!     .defaults(CacheConfig::on(redis))
//!     .build()?;
//!
//! let product = caches.cache::<String>("product")?;
//! let name = product.get_or_load(&42, async { "lamp".to_owned() }).await; // from Redis, or loaded and stored there
//! assert_eq!(name, "lamp");
//! # Ok(()) }
//! ```
//!
//! After `caches.install()` the functions under `#[cache_result]` and the other attributes use it too. A program never calls the
//! backend itself.
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
//! | `cs:<space>:{tag}` | the tokens of entries, at most 16 384 for a cache |
//! | `cs:<space>:e` | the token of the cache as a whole |
//! | `cs:+:<space>` | a token that every change of the cache replaces; only where a value is put whose key is not known before |
//! | `cs:~` | nothing of interest; only after the server was away |
//!
//! The space is the name of the cache; with a prefix of its own it is `=` and that prefix, percent-encoded. The keys under `cs:`
//! live for a day, or as long as an entry needs them.
//!
//! A user of an access control list needs `~cache:*` (or the prefixes in use), `~cs:*`, and the commands `MGET`, `SET`, `UNLINK`,
//! `GET`, `EXISTS`, `EVAL`, `EVALSHA`, `PTTL`, `PEXPIRE`, `GETRANGE`, `SCAN`, `MULTI`, `EXEC`, `PING`, `SELECT`, `HELLO`. It may be
//! refused `CLIENT SETINFO`, by which the connections are named, and `INFO`, by which one server is told from another: without it the
//! invalidations of the last ten seconds are repeated on every new connection. Without `EVAL` and `EVALSHA` it needs `WATCH` and
//! `UNWATCH` in their place.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `tls` | `rediss://` by rustls. The program depends on rustls itself and installs a crypto provider before it opens a backend |
//!
//! # Layers
//!
//! `backend` is the public face, `server` the steps of the protocol as commands, `scripts` what must be atomic, `watched` the
//! same without scripts, `layout` the keys, `request` what is sent, `reply` and `error` what comes back; `link` is the way of
//! every request, `connection` one connection and its life, which begins with a `greeting`: the server is told what another one
//! has `acknowledged`; `pipe` is how many share it, `frame` where replies end, `sizes` what takes a way of its own, `stream` what
//! it goes over, `address` where it leads; `walk` finds keys nobody has listed, `sweep` tidies up. [`dev`] starts a server for
//! examples and tests.

mod acknowledged;
mod address;
mod backend;
mod connection;
pub mod dev;
mod error;
mod frame;
mod greeting;
mod layout;
mod link;
mod pipe;
mod reply;
mod request;
mod scripts;
mod server;
mod sizes;
mod stream;
mod sweep;
mod walk;
mod watched;

pub use backend::{RedisBackend, RedisBackendBuilder};
