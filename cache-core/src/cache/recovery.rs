//! Makes good what is owed.

use std::sync::Arc;

use futures_util::future::join_all;

use super::{CacheInner, Target};
use crate::{
    backend::{BackendError, CacheBackend},
    limit,
};

/// How many invalidations are paid at the same time: enough that a full queue takes milliseconds.
const AT_ONCE: usize = 64;

impl CacheInner {
    /// Sees to it that what is owed is tried again. Returns at once.
    pub(crate) fn recover(self: &Arc<Self>) {
        if let Some(line) = &self.line {
            line.hold(self);
            line.keep();
        }
    }

    /// Makes this cache one of those whose debts are paid when its backend answers.
    pub(crate) fn enlist(self: &Arc<Self>) {
        if let Some(line) = &self.line {
            line.add(self);
        }
    }

    pub(crate) fn owes(&self) -> bool {
        self.owed.len() > 0
    }

    /// Pays what is owed by now. What comes to be owed meanwhile is left for the next time.
    pub(crate) async fn pay(&self, backend: &dyn CacheBackend) -> Result<(), BackendError> {
        let now = self.owed.begin();
        loop {
            let targets = self.owed.before(now, AT_ONCE);
            if targets.is_empty() {
                return Ok(());
            }
            let payments = targets.iter().map(|target| self.pay_one(backend, target));
            for paid in join_all(payments).await {
                paid?;
            }
        }
    }

    async fn pay_one(
        &self,
        backend: &dyn CacheBackend,
        target: &Target,
    ) -> Result<(), BackendError> {
        let attempt = self.owed.begin();
        limit::ask(backend.store_budget(), self.request(backend, target)).await?;
        self.forget(target);
        self.owed.paid(target, attempt);
        Ok(())
    }
}
