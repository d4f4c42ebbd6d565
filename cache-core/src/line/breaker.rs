//! Whether a backend is asked at all.
//!
//! Closed, it counts; open, nobody asks. It opens by what requests come to, and is closed by whoever has found out that
//! the backend answers again: there is no state in between in which calls are tried out on it.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

/// So many failures in a row open it.
const IN_A_ROW: u32 = 3;
/// So do failures that are at least half of at least so many requests…
const REQUESTS: u32 = 10;
/// …within that time, which begins with a failure.
const WINDOW: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Breaker {
    /// Even while it is closed, odd while it is open; counts up. Read by every call.
    phase: AtomicU64,
    /// Whether there is anything in `recent`: in good weather a request that succeeds takes no lock.
    troubled: AtomicBool,
    recent: Mutex<Recent>,
}

#[derive(Debug, Default)]
struct Recent {
    since: Option<Instant>,
    requests: u32,
    failures: u32,
    in_a_row: u32,
}

/// Says that a request may be made. What comes of it is told to the breaker together with this, so that what was sent
/// before the backend was given up does not count after it has come back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass(u64);

impl Breaker {
    pub(super) fn admit(&self) -> Option<Pass> {
        let phase = self.phase.load(Ordering::Acquire);
        phase.is_multiple_of(2).then_some(Pass(phase))
    }

    pub(super) fn is_open(&self) -> bool {
        self.admit().is_none()
    }

    /// A request has succeeded. Says whether that ends a time of failures which did not open the breaker.
    pub(super) fn succeeded(&self, pass: Pass) -> bool {
        if !self.troubled.load(Ordering::Relaxed) {
            return false;
        }
        let mut recent = self.lock();
        if self.phase.load(Ordering::Relaxed) != pass.0 {
            return false;
        }
        recent.in_a_row = 0;
        recent.requests += 1;
        let over = recent.since.is_none_or(|since| since.elapsed() >= WINDOW);
        if over {
            *recent = Recent::default();
            self.troubled.store(false, Ordering::Relaxed);
        }
        over
    }

    /// A request has failed. Says whether that opens the breaker.
    pub(super) fn failed(&self, pass: Pass) -> bool {
        let mut recent = self.lock();
        if self.phase.load(Ordering::Relaxed) != pass.0 {
            return false;
        }
        self.troubled.store(true, Ordering::Relaxed);
        let since = *recent.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= WINDOW {
            *recent = Recent {
                since: Some(Instant::now()),
                in_a_row: recent.in_a_row,
                ..Recent::default()
            };
        }
        recent.requests += 1;
        recent.failures += 1;
        recent.in_a_row += 1;
        let half = recent.requests >= REQUESTS && 2 * recent.failures >= recent.requests;
        let opens = recent.in_a_row >= IN_A_ROW || half;
        if opens {
            *recent = Recent::default();
            self.troubled.store(false, Ordering::Relaxed);
            self.phase.fetch_add(1, Ordering::Release);
        }
        opens
    }

    /// The backend answers again. Says whether the breaker was open.
    pub(super) fn close(&self) -> bool {
        let _recent = self.lock();
        let open = self.is_open();
        if open {
            self.phase.fetch_add(1, Ordering::Release);
        }
        open
    }

    fn lock(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// Tells the breaker of requests, `+` for one that succeeds and `-` for one that fails, and says whether it is open.
    fn tell(breaker: &Breaker, outcomes: &str) -> bool {
        for outcome in outcomes.chars() {
            if let Some(pass) = breaker.admit() {
                match outcome {
                    '+' => {
                        breaker.succeeded(pass);
                    }
                    _ => {
                        breaker.failed(pass);
                    }
                }
            }
        }
        breaker.is_open()
    }

    #[tokio::test(start_paused = true)]
    async fn three_in_a_row_open_it() {
        let breaker = Breaker::default();
        assert!(!tell(&breaker, "--+--+--"));
        assert!(tell(&breaker, "-"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_row_may_take_its_time() {
        let breaker = Breaker::default();
        for opens in [false, false, true] {
            assert_eq!(tell(&breaker, "-"), opens);
            advance(10 * WINDOW).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn half_of_ten_within_a_second_open_it() {
        let breaker = Breaker::default();
        assert!(!tell(&breaker, "-+-+-+-+"));
        assert!(!tell(&breaker, "-"), "nine are too few");
        assert!(!tell(&breaker, "+"), "a success opens nothing");
        assert!(tell(&breaker, "-"));
    }

    #[tokio::test(start_paused = true)]
    async fn less_than_half_does_not() {
        let breaker = Breaker::default();
        assert!(!tell(&breaker, &"-++".repeat(1000)));
    }

    #[tokio::test(start_paused = true)]
    async fn nor_does_half_of_ten_in_more_than_a_second() {
        let breaker = Breaker::default();
        for _ in 0..100 {
            assert!(!tell(&breaker, "-+-+"));
            advance(WINDOW).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_sent_before_does_not_count_after() {
        let breaker = Breaker::default();
        let early = breaker.admit().expect("closed");
        assert!(tell(&breaker, "---"));
        assert!(!breaker.failed(early) && !breaker.succeeded(early));
        assert!(breaker.close() && !breaker.close());
        assert!((0..10).all(|_| !breaker.failed(early)));
        assert!(!breaker.is_open());
        assert!(!tell(&breaker, "--"), "it counts from the beginning");
        assert!(tell(&breaker, "-"));
    }

    #[tokio::test(start_paused = true)]
    async fn trouble_is_over_a_second_after_it_began() {
        let breaker = Breaker::default();
        assert!(!tell(&breaker, "-"));
        let pass = breaker.admit().expect("closed");
        assert!(!breaker.succeeded(pass));
        advance(WINDOW).await;
        assert!(breaker.succeeded(pass));
        assert!(!breaker.succeeded(pass), "once");
    }
}
