//! For tests of programs that use caches, and of backends.
//!
//! | for | there is |
//! |---|---|
//! | a test that must not meet another one's entries | [`manager`]: a manager of its own, with a clock that can be moved |
//! | expiry without waiting | [`TestClock`] |
//! | a backend that works, in this process | [`MapBackend`] |
//! | a backend that fails, hangs or is slow | [`FaultyBackend`] |
//! | a backend of your own | [`contract::check`]: what every backend must do |
//!
//! ```
//! use cache_core::{cache_result, testing};
//! use std::time::Duration;
//!
//! #[cache_result(cache = "greetings", manager = caches, key = name)]
//! async fn greet(caches: &cache_core::CacheManager, name: &str) -> String {
//!     format!("hello {name}")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let (caches, clock) = testing::manager();
//! greet(&caches, "Ada").await;
//! clock.advance(Duration::from_secs(301)); // the default time to live is 5 minutes
//! greet(&caches, "Ada").await;
//! assert_eq!(caches.stats()["greetings"].loads, 2);
//! # }
//! ```

pub mod contract;
mod faulty;
mod map;

use std::time::Duration;

pub use faulty::{FaultyBackend, Operation};
pub use map::MapBackend;

use crate::{
    clock::Clock,
    manager::{CacheManager, CacheManagerBuilder},
};

/// The time of caches under test. It runs on by itself, and can be moved forward.
///
/// Clones are one clock.
///
/// ```
/// use cache_core::{CacheConfig, CacheManager, testing::{MapBackend, TestClock}};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let backend = MapBackend::new();
/// let caches = CacheManager::builder()
///     .clock(backend.clock()) // the backend and the caches in front of it agree on the time
///     .defaults(CacheConfig::on(backend.clone()).ttl(Duration::from_secs(60)))
///     .build()?;
/// let price = caches.cache("price")?;
/// price.insert(&42, 2990).await?;
/// backend.clock().advance(Duration::from_secs(30));
/// assert_eq!(price.get(&42).await, Some(2990));
/// backend.clock().advance(Duration::from_secs(30));
/// assert_eq!(price.get(&42).await, None);
/// # let _ = TestClock::new();
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct TestClock(Clock);

impl TestClock {
    /// A clock that has not been moved.
    #[must_use]
    pub fn new() -> Self {
        Self(Clock::new())
    }

    /// Moves the clock forward. What Tokio counts (`lock_timeout`, the budgets of backends) does not move with it; that is what
    /// `tokio::time::advance` is for.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
    /// let (caches, clock) = cache_core::testing::manager();
    /// let price = caches.cache("price")?;
    /// price.insert(&42, 2990).await?;
    /// clock.advance(Duration::from_secs(301));
    /// assert_eq!(price.get(&42).await, None);
    /// # Ok(()) }
    /// ```
    pub fn advance(&self, by: Duration) {
        self.0.advance(by);
    }

    pub(crate) fn clock(&self) -> Clock {
        self.0.clone()
    }
}

impl Default for TestClock {
    fn default() -> Self {
        Self::new()
    }
}

impl CacheManagerBuilder {
    /// Has the caches go by this clock.
    ///
    /// ```
    /// use cache_core::{CacheManager, testing::TestClock};
    ///
    /// let clock = TestClock::new();
    /// let caches = CacheManager::builder().clock(&clock).build();
    /// assert!(caches.is_ok());
    /// ```
    pub fn clock(self, clock: &TestClock) -> Self {
        self.with_clock(clock.clock())
    }
}

/// A manager with the framework's defaults, all in memory, for one test alone; and its clock.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// let (one, _) = cache_core::testing::manager();
/// let (other, _) = cache_core::testing::manager();
/// one.cache("price")?.insert(&42, 2990).await?;
/// assert_eq!(other.cache::<i32>("price")?.get(&42).await, None);
/// # Ok(()) }
/// ```
#[must_use]
pub fn manager() -> (CacheManager, TestClock) {
    let clock = TestClock::new();
    let manager = CacheManager::builder()
        .clock(&clock)
        .build()
        .expect("the defaults of the framework are valid");
    (manager, clock)
}

/// How many keys of a manager's caches somebody is busy with: loading, waiting, reading the backend, storing there. When all calls are over
/// and all stores acknowledged it is 0: what a cache notes about a load does not outlive it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), cache_core::CacheError> {
/// use cache_core::testing;
///
/// let (caches, _clock) = testing::manager();
/// let square = caches.cache("square")?;
/// let nine = square.get_or_load(&3, async {
///     assert_eq!(testing::busy_keys(&caches), 1);
///     9
/// });
/// assert_eq!(nine.await, 9);
/// assert_eq!(testing::busy_keys(&caches), 0);
/// # Ok(()) }
/// ```
#[must_use]
pub fn busy_keys(manager: &CacheManager) -> usize {
    manager.busy_keys()
}
