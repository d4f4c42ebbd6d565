//! What becomes of a call.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use super::Rng;

/// What is done to a call from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Finishes,
    /// It is dropped after so many polls.
    Dropped(u32),
    /// After so many polls it is not polled for a while.
    Stalls(u32, Duration),
}

/// How a call has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended<T> {
    With(T),
    Dropped,
    Panicked,
}

impl Fate {
    pub(crate) fn draw(dice: &mut Rng) -> Self {
        let polls = u32::try_from(dice.u64(..8)).unwrap_or(0);
        match dice.u64(..64) {
            0..4 => Self::Dropped(polls),
            4 => Self::Stalls(polls, Duration::from_millis(dice.u64(..6))),
            _ => Self::Finishes,
        }
    }

    /// Has the call meet its fate.
    pub(crate) async fn befall<T>(self, call: impl Future<Output = T>) -> Ended<T> {
        let mut call = pin!(call);
        match self {
            Self::Finishes => {}
            Self::Dropped(polls) => {
                return poll_times(call, polls).await.unwrap_or(Ended::Dropped);
            }
            Self::Stalls(polls, pause) => {
                if let Some(ended) = poll_times(call.as_mut(), polls).await {
                    return ended;
                }
                tokio::time::sleep(pause).await;
            }
        }
        poll_times(call, u32::MAX).await.unwrap_or(Ended::Dropped)
    }
}

/// `None` if the call is not over after that many polls.
async fn poll_times<T>(
    mut call: Pin<&mut impl Future<Output = T>>,
    polls: u32,
) -> Option<Ended<T>> {
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Some(Ended::With(value))),
            Err(_) => Poll::Ready(Some(Ended::Panicked)),
        }
    })
    .await
}

/// Lets others go first, that many times.
pub(crate) async fn pause(turns: u64) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}

/// A panic that nobody needs to read about.
pub(crate) fn panic_quietly() -> ! {
    std::panic::resume_unwind(Box::new("a body of the stress run"))
}
