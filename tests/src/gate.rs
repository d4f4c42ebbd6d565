//! Ways to hold what runs at the same time at a known point, so that no test hopes for an order.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinHandle, time::timeout};

use crate::caches;

/// Longer than any test takes that does not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A point that bodies come to, and pass only once it is open. Clones are one gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<State>>);

#[derive(Debug, Default)]
struct State {
    arrived: usize,
    open: bool,
}

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(State::default())))
    }
}

impl Gate {
    /// A gate that holds nobody.
    #[must_use]
    pub fn opened() -> Self {
        let gate = Self::default();
        gate.open();
        gate
    }

    /// Comes to the gate and waits until it is open.
    pub async fn pass(&self) {
        self.0.send_modify(|state| state.arrived += 1);
        self.wait(|state| state.open).await;
    }

    /// Lets everybody pass, now and later.
    pub fn open(&self) {
        self.0.send_modify(|state| state.open = true);
    }

    /// How many have come here so far.
    #[must_use]
    pub fn arrived(&self) -> usize {
        self.0.borrow().arrived
    }

    /// Waits until that many have come here.
    ///
    /// # Panics
    /// If they do not come.
    pub async fn reached_by(&self, count: usize) {
        soon(self.wait(|state| state.arrived >= count)).await;
    }

    async fn wait(&self, condition: impl FnMut(&State) -> bool) {
        self.0
            .subscribe()
            .wait_for(condition)
            .await
            .expect("the gate is borrowed");
    }
}

/// What `call` gives, which must not have to wait for anything that the test holds.
///
/// # Panics
/// If it does.
pub async fn soon<T>(call: impl Future<Output = T>) -> T {
    timeout(PATIENCE, call)
        .await
        .expect("this waits for something that does not come")
}

/// Lets everything else run until `condition` holds.
///
/// # Panics
/// If it does not come to hold: then the test would hang.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "it never came about that {what}");
        tokio::task::yield_now().await;
    }
}

/// Waits until `calls` calls of functions of `cache` are either in a body, at `gate`, or wait for one that is.
///
/// # Panics
/// As [`until`].
pub async fn until_busy(cache: &str, gate: &Gate, calls: usize) {
    let busy = || {
        let waiting = caches().stats().get(cache).map_or(0, |s| s.coalesced);
        gate.arrived() + usize::try_from(waiting).unwrap_or(usize::MAX) >= calls
    };
    until("all calls load or wait", busy).await;
}

/// What the calls gave, in their order.
///
/// # Panics
/// If one of them panicked, was aborted or hangs.
pub async fn results<T>(calls: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut results = Vec::with_capacity(calls.len());
    for call in calls {
        results.push(soon(call).await.expect("no call panics"));
    }
    results
}
