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
    coarse: Coarse,
    /// Only a test moves it; a process that serves callers reads zero.
    moved: Arc<AtomicU64>,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self {
            origin: Instant::now(),
            coarse: Coarse::new(),
            moved: Arc::default(),
        }
    }

    pub(crate) fn now(&self) -> Nanos {
        nanos(self.origin.elapsed()).saturating_add(self.moved.load(Ordering::Relaxed))
    }

    /// Whether `at` is still to come.
    ///
    /// Most deadlines are far away, and that can be told from a clock that is some milliseconds late and costs a third.
    #[inline]
    pub(crate) fn is_before(&self, at: Nanos) -> bool {
        at == NEVER
            || self.coarse.earliest().is_some_and(|earliest| {
                let moved = self.moved.load(Ordering::Relaxed);
                earliest.saturating_add(moved) < at.saturating_sub(LATE)
            })
            || self.now() < at
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
        let by = nanos(by);
        let _ = self
            .moved
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |moved| {
                Some(moved.saturating_add(by))
            });
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("now", &self.now()).finish()
    }
}

/// More than a coarse clock is late: it moves with the ticks of the kernel, the longest of which are 10 ms.
const LATE: Nanos = 50_000_000;

/// The kernel's clock as of its last tick. It runs with that of [`Instant`], so that the two never drift apart.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy)]
struct Coarse {
    origin: Nanos,
}

#[cfg(target_os = "linux")]
impl Coarse {
    /// To be called right after the origin of the clock was taken.
    fn new() -> Self {
        Self {
            origin: read(rustix::time::ClockId::Monotonic),
        }
    }

    /// A time since the origin that is over, and was not long ago.
    #[inline]
    fn earliest(self) -> Option<Nanos> {
        Some(read(rustix::time::ClockId::MonotonicCoarse).saturating_sub(self.origin))
    }
}

#[cfg(target_os = "linux")]
#[inline]
fn read(clock: rustix::time::ClockId) -> Nanos {
    let time = rustix::time::clock_gettime(clock);
    // Since the machine was started, so neither is negative and both fit.
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// Elsewhere there is none that runs with that of [`Instant`].
#[cfg(not(target_os = "linux"))]
#[derive(Clone, Copy)]
struct Coarse;

#[cfg(not(target_os = "linux"))]
impl Coarse {
    fn new() -> Self {
        Self
    }

    fn earliest(self) -> Option<Nanos> {
        None
    }
}

/// A duration in nanoseconds; what does not fit is as good as never.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(NEVER)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Clock, NEVER};

    #[test]
    fn it_is_not_moved_back_however_far_it_is_moved() {
        let clock = Clock::new();
        clock.advance(Duration::MAX);
        clock.advance(Duration::from_secs(1));
        assert_eq!(clock.now(), NEVER);
    }
}
