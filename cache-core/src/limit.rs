//! Time limits, where there is a timer to keep them.
//!
//! Tokio panics when it is asked for a timer outside of a runtime, or in one that was built without `enable_time`. No call may
//! fail for that, so it is found out first.

use std::{
    cell::Cell,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use tokio::{
    runtime::{Handle, Id},
    time::{sleep, timeout},
};

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

/// Asks a backend for something and waits for the answer, for `limit` at most. Where there is no timer it is not asked.
pub(crate) async fn ask<T>(
    limit: Duration,
    request: impl Future<Output = Result<T, BackendError>>,
) -> Result<T, BackendError> {
    timers()?;
    timeout(limit, request)
        .await
        .unwrap_or_else(|_| Err(overdue()))
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
