//! Work that goes on when the caller has its answer, or is gone.

use std::{future::Future, sync::Arc};

use tokio::{runtime::Handle, sync::watch, task::JoinHandle};

/// The stores and invalidations under way for one manager.
#[derive(Clone, Debug)]
pub(crate) struct Background {
    running: Arc<watch::Sender<usize>>,
}

impl Background {
    pub(crate) fn new() -> Self {
        Self {
            running: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Runs `work` in a task of its own; without a Tokio runtime there is none.
    pub(crate) fn spawn<F>(&self, work: F) -> Option<JoinHandle<F::Output>>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let runtime = Handle::try_current().ok()?;
        let running = Running::new(self);
        Some(runtime.spawn(async move {
            let _running = running;
            work.await
        }))
    }

    /// How much is under way.
    pub(crate) fn running(&self) -> usize {
        *self.running.borrow()
    }

    /// Returns at a moment when nothing is under way.
    pub(crate) async fn settled(&self) {
        // The sender lives in `self`, so there is always an answer.
        let _ = self
            .running
            .subscribe()
            .wait_for(|running| *running == 0)
            .await;
    }
}

/// One piece of work. It ends when its task does, by whatever end.
struct Running(Arc<watch::Sender<usize>>);

impl Running {
    fn new(background: &Background) -> Self {
        background.running.send_modify(|running| *running += 1);
        Self(Arc::clone(&background.running))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}
