//! The one place where caches ask for the time, so that tests can move it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// A point in time: nanoseconds since the clock was made. 584 years fit.
pub(crate) type Nanos = u64;

/// As far away as a [`Nanos`] can be: "never".
pub(crate) const NEVER: Nanos = Nanos::MAX;

/// A monotonic clock that can be moved forward.
#[derive(Clone)]
pub(crate) struct Clock {
    origin: Instant,
    /// Only a test moves it; a process that serves callers reads zero.
    moved: Arc<AtomicU64>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            origin: Instant::now(),
            moved: Arc::default(),
        }
    }

    pub(crate) fn now(&self) -> Nanos {
        nanos(self.origin.elapsed()).saturating_add(self.moved.load(Ordering::Relaxed))
    }

    /// Milliseconds since the Unix epoch, moved as much as [`now`](Self::now) is.
    pub(crate) fn unix_millis(&self) -> u64 {
        let moved = Duration::from_nanos(self.moved.load(Ordering::Relaxed));
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from((now + moved).as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.moved.fetch_add(nanos(by), Ordering::Relaxed);
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("now", &self.now()).finish()
    }
}

/// A duration in nanoseconds; what does not fit is as good as never.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(NEVER)
}
