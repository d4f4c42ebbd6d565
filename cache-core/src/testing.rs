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
#[derive(Clone, Debug)]
pub struct TestClock(Clock);

impl TestClock {
    /// A clock that has not been moved.
    #[must_use]
    pub fn new() -> Self {
        Self(Clock::new())
    }

    /// Moves the clock forward.
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
#[must_use]
pub fn manager() -> (CacheManager, TestClock) {
    let clock = TestClock::new();
    let manager = CacheManager::builder()
        .clock(&clock)
        .build()
        .expect("the defaults of the framework are valid");
    (manager, clock)
}
