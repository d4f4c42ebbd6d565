//! Time limits, where there is a timer to keep them.
//!
//! Tokio panics when it is asked for a timer outside of a runtime, or in one that was built without `enable_time`. No call may
//! fail for that, so it is found out first.
//!
//! A look-up has a limit, and hardly ever reaches it. To register a timer for each and to take it back would cost more than
//! most of what is done for a look-up; to move one that is registered further away costs next to nothing. So timers are used
//! again ([`Timer`]).

mod timer;

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

use tokio::{
    runtime::{Handle, Id},
    time::{Instant, sleep},
};

use self::timer::Timer;
use crate::backend::{BackendError, BackendErrorKind};

/// Whether a timer can be had here.
pub(crate) fn has_timer() -> bool {
    thread_local! {
        /// What was found out about the runtime that this thread was in last.
        static KNOWN: Cell<Option<(Id, bool)>> = const { Cell::new(None) };
    }
    let Ok(runtime) = Handle::try_current() else {
        return false;
    };
    match KNOWN.get() {
        Some((id, has)) if id == runtime.id() => has,
        _ => {
            // There is no other way to ask.
            let has = catch_unwind(AssertUnwindSafe(|| drop(sleep(Duration::ZERO)))).is_ok();
            KNOWN.set(Some((runtime.id(), has)));
            has
        }
    }
}

/// Asks a backend for something and waits for the answer, for `limit` at most, if there is one. Where there is no timer it is not asked.
pub(crate) async fn ask<T>(
    limit: impl Into<Option<Duration>>,
    request: impl Future<Output = Result<T, BackendError>>,
) -> Result<T, BackendError> {
    timers()?;
    let deadline = limit.into().map(|limit| Instant::now() + limit);
    within(deadline, request)
        .await
        .unwrap_or_else(|| Err(overdue()))
}

/// What `request` comes to, unless that is not known by then. As tokio's `timeout_at`, where few come to their limit.
///
/// # Panics
/// Where there is no timer.
pub async fn within<T>(
    deadline: impl Into<Option<Instant>>,
    request: impl Future<Output = T>,
) -> Option<T> {
    let deadline = deadline.into();
    let (mut request, mut timer) = (pin!(request), Timer::default());
    poll_fn(|context| match request.as_mut().poll(context) {
        Poll::Ready(answer) => Poll::Ready(Some(answer)),
        Poll::Pending => match deadline {
            Some(deadline) => timer.poll(deadline, context).map(|()| None),
            None => Poll::Pending,
        },
    })
    .await
}

/// An error where a backend cannot be asked.
pub(crate) fn timers() -> Result<(), BackendError> {
    if has_timer() {
        Ok(())
    } else {
        Err(no_timers())
    }
}

pub(crate) fn no_timers() -> BackendError {
    BackendError::new(
        BackendErrorKind::Unavailable,
        "there is no tokio runtime with timers here: call it within one that was built with `enable_all`",
    )
}

pub(crate) fn overdue() -> BackendError {
    BackendError::new(BackendErrorKind::Timeout, "the budget is spent")
}
