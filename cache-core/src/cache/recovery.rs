//! Makes good what is owed: in the background, until the backend has acknowledged all of it.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{runtime::Handle, time::sleep};

use super::CacheInner;
use crate::{backend::BackendError, limit, random};

/// How long it is waited before what failed is tried again: at random up to this at first, up to `MAX_PAUSE` in the end.
const MIN_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(2);

impl CacheInner {
    /// Sees to it that what is owed is tried again. Returns at once.
    ///
    /// The work ends with its runtime; whoever meets something owed after that begins it anew.
    pub(super) fn recover(self: &Arc<Self>) {
        if !limit::has_timer() || !self.owed.recover() {
            return;
        }
        let recovery = Recovery {
            cache: Arc::downgrade(self),
            done: false,
        };
        // Not counted as work under way: nobody is to wait for a backend that is down.
        Handle::current().spawn(recovery.run());
    }

    /// Tries one thing that is owed; says whether there is more, or why it failed.
    async fn pay(&self) -> Result<bool, BackendError> {
        let attempt = self.owed.begin();
        let (Some(target), Some(backend)) = (self.owed.next(), self.config.backend()) else {
            return Ok(false);
        };
        let request = self.request(&**backend, &target);
        limit::ask(backend.store_budget(), request).await?;
        self.forget(&target);
        self.owed.paid(&target, attempt);
        self.complaints.backend_answered(self.name());
        Ok(true)
    }
}

/// The recovery of one cache under way. It does not keep the cache alive.
struct Recovery {
    cache: Weak<CacheInner>,
    done: bool,
}

impl Recovery {
    async fn run(mut self) {
        let mut pause = MIN_PAUSE;
        loop {
            // At random, so that processes that lost the same server do not all come back at once.
            sleep(pause.mul_f64(random::fraction())).await;
            loop {
                let Some(cache) = self.cache.upgrade() else {
                    return;
                };
                match cache.pay().await {
                    Ok(true) => pause = MIN_PAUSE,
                    Ok(false) => {
                        self.done = true;
                        return;
                    }
                    Err(_) => break,
                }
            }
            pause = MAX_PAUSE.min(pause * 2);
        }
    }
}

impl Drop for Recovery {
    fn drop(&mut self) {
        if let Some(cache) = self.cache.upgrade().filter(|_| !self.done) {
            cache.owed.interrupted();
        }
    }
}
