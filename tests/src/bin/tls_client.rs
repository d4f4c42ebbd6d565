//! Keeps a value in the Redis that its argument names, and reads it again. What happens it says in one word.
//!
//! In a process of its own since it is the environment that says which certificates are trusted.

use std::env;

use cache_core::{CacheConfig, CacheManager};
use cache_redis::RedisBackend;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = env::args().nth(1).ok_or("an address is needed")?;
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| "there is a provider already")?;
    let caches = CacheManager::builder()
        .defaults(CacheConfig::on(RedisBackend::open(&url)?))
        .build()?;
    let numbers = caches.cache::<u64>("numbers")?;
    let outcome = match numbers.insert(&1, 42).await {
        Ok(()) => numbers.get(&1).await,
        Err(error) => {
            eprintln!("{error}");
            None
        }
    };
    println!("{}", if outcome == Some(42) { "hit" } else { "miss" });
    Ok(())
}
