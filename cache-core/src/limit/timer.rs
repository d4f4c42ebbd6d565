//! Timers that are used again.

use std::{
    cell::RefCell,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    runtime::{Handle, Id},
    time::{Instant, Sleep, sleep_until},
};

/// So many are kept by each thread.
const MOST: usize = 1024;

/// Timers that nobody waits for, as a rule still registered with their runtime. If one goes off it wakes whoever waited for it
/// last, once more than needed.
#[derive(Default)]
struct Idle {
    /// That they belong to.
    runtime: Option<Id>,
    timers: Vec<Pin<Box<Sleep>>>,
}

thread_local! {
    static IDLE: RefCell<Idle> = RefCell::default();
}

/// A timer, once it is needed. Dropped, it is left to others.
#[derive(Default)]
pub(super) struct Timer(Option<(Id, Pin<Box<Sleep>>)>);

impl Timer {
    /// Ready when it is `deadline`, which is the same at every call.
    pub(super) fn poll(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        let (_, timer) = self.0.get_or_insert_with(|| take(deadline));
        timer.as_mut().poll(context)
    }
}

fn take(deadline: Instant) -> (Id, Pin<Box<Sleep>>) {
    let runtime = Handle::current().id();
    let idle = IDLE.try_with(|idle| {
        let mut idle = idle.borrow_mut();
        if idle.runtime != Some(runtime) {
            return None;
        }
        idle.timers.pop()
    });
    let timer = match idle {
        Ok(Some(mut timer)) => {
            timer.as_mut().reset(deadline);
            timer
        }
        Ok(None) | Err(_) => Box::pin(sleep_until(deadline)),
    };
    (runtime, timer)
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Some((runtime, timer)) = self.0.take() else {
            return;
        };
        // What is not kept is dropped outside of the borrow.
        let _gone = IDLE.try_with(|idle| {
            let mut idle = idle.borrow_mut();
            let others = if idle.runtime == Some(runtime) {
                Vec::new()
            } else {
                idle.runtime = Some(runtime);
                std::mem::take(&mut idle.timers)
            };
            if idle.timers.len() < MOST {
                idle.timers.push(timer);
                (others, None)
            } else {
                (others, Some(timer))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use tokio::time::advance;

    use super::super::within;
    use super::*;

    async fn until(deadline: Instant) {
        assert_eq!(within(deadline, pending::<()>()).await, None);
        assert!(Instant::now() >= deadline);
    }

    fn idle() -> usize {
        IDLE.with_borrow(|idle| idle.timers.len())
    }

    #[tokio::test(start_paused = true)]
    async fn one_is_used_for_limits_near_and_far() {
        for seconds in [5, 1, 100, 2, 2] {
            let began = Instant::now();
            until(began + Duration::from_secs(seconds)).await;
            let late = began.elapsed() - Duration::from_secs(seconds);
            assert!(late <= Duration::from_millis(1), "{late:?}");
            assert_eq!(idle(), 1);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_before_the_limit_leaves_no_limit_behind() {
        let slow = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            7
        };
        let limit = Instant::now() + Duration::from_secs(2);
        assert_eq!(within(limit, slow).await, Some(7));
        advance(Duration::from_secs(60)).await;
        until(Instant::now() + Duration::from_secs(3)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_there_needs_none() {
        let before = idle();
        assert_eq!(within(Instant::now(), async { 7 }).await, Some(7));
        assert_eq!(idle(), before);
    }

    #[test]
    fn those_of_another_runtime_are_not_used() {
        for _ in 0..3 {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_time().start_paused(true).build().unwrap();
            runtime.block_on(async {
                let begin = Instant::now();
                tokio::join!(
                    until(begin + Duration::from_secs(1)),
                    until(begin + Duration::from_secs(2))
                );
            });
            assert_eq!(idle(), 2);
        }
    }
}
