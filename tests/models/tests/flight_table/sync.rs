//! What stands in for `cache-core/src/sync.rs`: loom's locks and atomics, and on them a `watch` channel and a clock.

use std::{
    cell::Cell,
    future::Future,
    ops::Add,
    pin::{Pin, pin},
    sync::PoisonError as StdPoisonError,
    task::{Context, Poll, Waker},
    time::Duration,
};

use loom::sync::Condvar;
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};

pub(crate) type PoisonError<T> = StdPoisonError<T>;

/// One that gives the same numbers in every run: loom repeats runs.
pub(crate) type KeyHasher = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;

/// The scenarios are about one key.
pub(crate) const SHARDS: usize = 1;

thread_local! {
    /// Loom's threads all run on the thread of their test.
    static TIMERS: Cell<bool> = const { Cell::new(false) };
}

/// Without timers, which is how it begins, no time passes: fewer steps, fewer schedules.
pub(crate) fn with_timers(on: bool) {
    TIMERS.set(on);
}

pub(crate) fn has_timer() -> bool {
    TIMERS.get()
}

loom::lazy_static! {
    static ref CLOCK: Mutex<Clock> = Mutex::default();
    static ref ASLEEP: Condvar = Condvar::new();
}

#[derive(Default)]
struct Clock {
    millis: u64,
    sleepers: Vec<Waker>,
    /// Nobody will wait any more.
    over: bool,
}

/// Lets time pass, once somebody waits for it, or nobody will.
pub(crate) fn advance(by: Duration) {
    let sleepers = {
        let mut clock = lock(&CLOCK);
        while clock.sleepers.is_empty() && !clock.over {
            clock = ASLEEP.wait(clock).unwrap_or_else(PoisonError::into_inner);
        }
        clock.millis += millis(by);
        std::mem::take(&mut clock.sleepers)
    };
    sleepers.into_iter().for_each(Waker::wake);
}

pub(crate) fn end_of_time() {
    lock(&CLOCK).over = true;
    ASLEEP.notify_all();
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant(u64);

impl Instant {
    pub(crate) fn now() -> Self {
        Self(if has_timer() { lock(&CLOCK).millis } else { 0 })
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        Self(self.0 + millis(by))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).expect("a short time")
}

/// `work`, unless time reaches `deadline` before it is done.
pub(crate) async fn timeout_at<F: Future>(deadline: Instant, work: F) -> Option<F::Output> {
    let mut work = pin!(work);
    std::future::poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        let mut clock = lock(&CLOCK);
        if deadline.0 <= clock.millis {
            return Poll::Ready(None);
        }
        clock.sleepers.push(cx.waker().clone());
        ASLEEP.notify_all();
        Poll::Pending
    })
    .await
}

/// As much of `tokio::sync::watch` as is used.
pub(crate) mod watch {
    use std::{ops::Deref, sync::Arc};

    use super::*;

    pub(crate) struct Sender<T>(Arc<Mutex<State<T>>>);

    pub(crate) struct Receiver<T>(Arc<Mutex<State<T>>>);

    struct State<T> {
        value: T,
        waiting: Vec<Waker>,
    }

    pub(crate) struct Ref<'a, T>(MutexGuard<'a, State<T>>);

    impl<T> Deref for Ref<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            &self.0.value
        }
    }

    impl<T> Sender<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(Arc::new(Mutex::new(State {
                value,
                waiting: Vec::new(),
            })))
        }

        pub(crate) fn subscribe(&self) -> Receiver<T> {
            Receiver(Arc::clone(&self.0))
        }

        pub(crate) fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
            let mut state = lock(&self.0);
            if !modify(&mut state.value) {
                return false;
            }
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            waiting.into_iter().for_each(Waker::wake);
            true
        }
    }

    impl<T> Receiver<T> {
        pub(crate) async fn wait_for(
            &mut self,
            good: impl Fn(&T) -> bool,
        ) -> Result<Ref<'_, T>, ()> {
            Changed(&self.0, &good).await;
            Ok(Ref(lock(&self.0)))
        }
    }

    struct Changed<'a, T, G>(&'a Mutex<State<T>>, &'a G);

    impl<T, G: Fn(&T) -> bool> Future for Changed<'_, T, G> {
        type Output = ();

        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let mut state = lock(self.0);
            if (self.1)(&state.value) {
                return Poll::Ready(());
            }
            // Of this waiter there may be one already; a second wake-up does no harm.
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
