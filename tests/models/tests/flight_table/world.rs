//! The part of `cache.rs`, in a few lines: what callers do around the flight table, and what must hold of it.

use std::{future::Future, pin::pin, sync::Arc, task::Poll, time::Duration};

use loom::{future::block_on, sync::Condvar};

use crate::{
    backend::Fence,
    flight::{Ended, Entered, Flights, Lead, Presence, SharedError, Tokens, Waited},
    memory::Held,
    scenario::{Tally, Wrong},
    sync::{AtomicU64, Instant, Mutex, Ordering::SeqCst},
};

const KEY: &str = "k";
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_millis(10);

/// What callers do; the rules that some scenarios break.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// A value enters the store under the lock of its shard.
    pub(crate) insert_under_lock: bool,
    /// An invalidation takes the entry out under that lock too.
    pub(crate) remove_under_lock: bool,
    /// Who finds no load looks once more into the store, under the lock.
    pub(crate) look_again: bool,
    /// A caller is present before it reads the backend.
    pub(crate) attend_first: bool,
    /// The landed flight goes on to answer until the backend has the value.
    pub(crate) answer_until_stored: bool,
    /// Puts go by what `settle_put` says.
    pub(crate) settle_puts: bool,
    /// Who does not end its load drops its `Lead`.
    pub(crate) drop_leads: bool,
    /// What is brought to the front is looked for under the lock.
    pub(crate) fill_under_lock: bool,
    /// A value in memory counts only in its epoch.
    pub(crate) compare_epochs: bool,
    /// Tokens are compared before a load is joined.
    pub(crate) compare_tokens: bool,
}

impl Rules {
    pub(crate) const ALL: Self = Self {
        insert_under_lock: true,
        remove_under_lock: true,
        look_again: true,
        attend_first: true,
        answer_until_stored: true,
        settle_puts: true,
        drop_leads: true,
        fill_under_lock: true,
        compare_epochs: true,
        compare_tokens: true,
    };
}

/// How a body ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Value,
    /// A value that is not to be stored.
    NotKept,
    /// An error that those who wait can be given, or not.
    Error {
        shared: bool,
    },
    /// Its caller is dropped.
    Dropped,
}

pub(crate) struct World {
    pub(crate) wrong: Arc<Tally>,
    pub(crate) flights: Arc<Flights>,
    rules: Rules,
    /// The entry in memory.
    memory: Mutex<Option<Arc<Held>>>,
    /// The same in the table in front, where there is one.
    front: Option<Mutex<Option<Arc<Held>>>>,
    /// The entry in the backend with the token in force there; `None` where the cache is in memory.
    backend: Option<Mutex<Backend>>,
    /// The data: a version. Whoever writes makes it one more, then tells the cache.
    data: AtomicU64,
    /// The version that was written before the last invalidation that is over.
    promised: AtomicU64,
    pub(crate) bodies: AtomicU64,
    running: AtomicU64,
    gate: (Mutex<bool>, Condvar),
}

#[derive(Default)]
struct Backend {
    entry: Option<u64>,
    token: u64,
}

impl World {
    pub(crate) fn new(rules: Rules, backend: bool, front: bool, wrong: Arc<Tally>) -> Self {
        Self {
            wrong,
            flights: Flights::new(),
            rules,
            memory: Mutex::default(),
            front: front.then(Mutex::default),
            backend: backend.then(Mutex::default),
            data: AtomicU64::new(0),
            promised: AtomicU64::new(0),
            bodies: AtomicU64::new(0),
            running: AtomicU64::new(0),
            gate: (Mutex::new(false), Condvar::new()),
        }
    }

    fn in_memory(&self) -> Option<Arc<Held>> {
        self.that_counts(&self.memory)
    }

    fn in_front(&self) -> Option<Arc<Held>> {
        self.that_counts(self.front.as_ref()?)
    }

    fn that_counts(&self, place: &Mutex<Option<Arc<Held>>>) -> Option<Arc<Held>> {
        let epoch = self.flights.epoch();
        let held = place.lock().unwrap().clone();
        held.filter(|held| held.epoch == epoch || !self.rules.compare_epochs)
    }

    fn bring_to_front(&self, found: &Arc<Held>) {
        let Some(front) = &self.front else { return };
        let fill = |held| drop(front.lock().unwrap().replace(held));
        if self.rules.fill_under_lock {
            self.flights.undisturbed(KEY, || self.in_memory().map(fill));
        } else {
            fill(Arc::clone(found));
        }
    }

    fn leave_front(&self) {
        if let Some(front) = &self.front {
            drop(front.lock().unwrap().take());
        }
    }

    /// A call whose bodies end well.
    pub(crate) fn read(&self) -> Option<u64> {
        self.read_with(|_| Body::Value)
    }

    /// A call: the version it got, or `None` if it got an error or was dropped. `body` is told how many ran before.
    pub(crate) fn read_with(&self, body: impl Fn(u64) -> Body) -> Option<u64> {
        // What this caller may rely on.
        let promised = self.promised.load(SeqCst);
        let version = block_on(self.load(body))?;
        if version < promised {
            self.wrong.note(Wrong::Stale);
        }
        Some(version)
    }

    /// A call that is polled once and dropped.
    pub(crate) fn glance(&self) {
        block_on(async {
            let mut call = pin!(self.load(|_| Body::Value));
            std::future::poll_fn(|cx| {
                let _ = call.as_mut().poll(cx);
                Poll::Ready(())
            })
            .await;
        });
    }

    async fn load(&self, body: impl Fn(u64) -> Body) -> Option<u64> {
        if let Some(held) = self.in_front() {
            return Some(held.version);
        }
        if let Some(held) = self.in_memory() {
            self.bring_to_front(&held);
            return Some(held.version);
        }
        let arrived = Instant::now();
        let counts = |held: &Held| held.epoch == self.flights.epoch();
        let look = || self.in_memory().filter(|_| self.rules.look_again);
        if self.backend.is_none() {
            let entered = self.flights.enter(KEY, counts, look);
            return self.follow(entered, Tokens::None, arrived, body).await;
        }
        let attended = self.rules.attend_first.then(|| self.flights.attend(KEY));
        let tokens = match &self.backend {
            None => Tokens::None,
            Some(backend) => {
                let backend = backend.lock().unwrap();
                if let Some(version) = backend.entry {
                    return Some(version);
                }
                Tokens::Known(Fence(if self.rules.compare_tokens {
                    backend.token
                } else {
                    0
                }))
            }
        };
        let presence = attended.unwrap_or_else(|| self.flights.attend(KEY));
        let entered = presence.enter(tokens, counts, look);
        self.follow(entered, tokens, arrived, body).await
    }

    async fn follow(
        &self,
        mut entered: Entered,
        tokens: Tokens,
        arrived: Instant,
        body: impl Fn(u64) -> Body,
    ) -> Option<u64> {
        loop {
            let counts = |held: &Held| held.epoch == self.flights.epoch();
            let look = || self.in_memory().filter(|_| self.rules.look_again);
            let waiter = match entered {
                Entered::Found(held) => return Some(held.version),
                Entered::Lead(lead) => return self.lead(lead, body),
                Entered::Join(waiter) => waiter,
            };
            match waiter.wait(arrived, LOCK_TIMEOUT).await {
                Waited::Lead(lead) => return self.lead(lead, body),
                Waited::Over(Ended::Landed(held), _) => return Some(held.version),
                Waited::Over(Ended::Failed(Some(_)), _) => return None,
                Waited::Over(Ended::Failed(None) | Ended::Abandoned, back) => {
                    entered = back.enter(tokens, counts, look);
                }
            }
        }
    }

    fn lead(&self, lead: Lead, body: impl Fn(u64) -> Body) -> Option<u64> {
        let before = self.bodies.fetch_add(1, SeqCst);
        self.running.fetch_add(1, SeqCst);
        let version = self.version();
        let how = body(before);
        self.running.fetch_sub(1, SeqCst);
        match how {
            Body::Value => {}
            Body::NotKept => {
                let epoch = lead.epoch();
                lead.share(&Arc::new(Held { epoch, version }));
                return Some(version);
            }
            Body::Error { shared } => {
                lead.fail(shared.then(|| Arc::new(()) as SharedError));
                return None;
            }
            Body::Dropped => {
                if !self.rules.drop_leads {
                    std::mem::forget(lead);
                }
                return None;
            }
        }
        let (epoch, fence) = (lead.epoch(), lead.fence());
        let held = Arc::new(Held { epoch, version });
        if !self.rules.answer_until_stored {
            lead.share(&held);
            self.store(fence, version);
        } else if self.backend.is_some() {
            let landing = lead.land(&held, |_, held| drop(held));
            if landing.allowed {
                self.store(fence, version);
            }
            drop(landing.presence);
        } else if self.rules.insert_under_lock {
            lead.land(&held, |_, held| self.insert(held));
        } else if lead.land(&held, |_, held| drop(held)).allowed {
            self.insert(held);
        }
        Some(version)
    }

    /// The data as it is now: databases do not answer with what used to be.
    fn version(&self) -> u64 {
        self.data.fetch_add(0, SeqCst)
    }

    fn insert(&self, held: Arc<Held>) {
        self.leave_front();
        let replaced = self.memory.lock().unwrap().replace(held);
        drop(replaced);
    }

    fn remove(&self) {
        self.leave_front();
        let removed = self.memory.lock().unwrap().take();
        drop(removed);
    }

    fn store(&self, fence: Option<Fence>, version: u64) {
        if let (Some(backend), Some(fence)) = (&self.backend, fence) {
            let mut backend = backend.lock().unwrap();
            if backend.token == fence.0 || !self.rules.compare_tokens {
                backend.entry = Some(version);
            }
        }
    }

    fn promise(&self, version: u64) {
        self.promised.fetch_max(version, SeqCst);
    }

    fn write(&self) -> u64 {
        self.data.fetch_add(1, SeqCst) + 1
    }

    pub(crate) fn write_and_invalidate(&self) {
        let version = self.write();
        if self.rules.remove_under_lock {
            self.flights.invalidate(KEY, || self.remove());
        } else {
            self.remove();
            self.flights.invalidate(KEY, || ());
        }
        self.promise(version);
    }

    /// By another process, of which this one hears nothing.
    pub(crate) fn write_elsewhere(&self) {
        let version = self.write();
        {
            let backend = self.backend.as_ref().expect("a shared backend");
            let mut backend = backend.lock().unwrap();
            backend.token += 1;
            backend.entry = None;
        }
        self.promise(version);
    }

    pub(crate) fn write_and_invalidate_all(&self) {
        let version = self.write();
        self.flights.invalidate_all();
        // Memory is given back later: that the entries do not count any more does not rest on it.
        self.promise(version);
    }

    pub(crate) fn write_and_invalidate_if(&self) {
        let version = self.write();
        self.flights.invalidate_if(&|key| key == KEY);
        let there = self.memory.lock().unwrap().is_some();
        if there {
            self.flights.invalidate(KEY, || self.remove());
        }
        self.promise(version);
    }

    /// A put; `key_known`: before its body.
    pub(crate) fn put(&self, key_known: bool) {
        let (epoch, changes) = (self.flights.epoch(), self.flights.changes());
        let presence = key_known.then(|| self.flights.attend(KEY));
        let version = self.write();
        let changes = presence.is_none().then_some(changes);
        let presence = presence.unwrap_or_else(|| self.flights.attend(KEY));
        self.settle(&presence, epoch, changes, version);
        drop(presence);
        self.promise(version);
    }

    fn settle(&self, presence: &Presence, epoch: u64, changes: Option<u64>, version: u64) {
        let held = Arc::new(Held { epoch, version });
        if self.rules.settle_puts {
            let insert = || self.insert(Arc::clone(&held));
            presence.settle_put(epoch, changes, insert, || self.remove());
        } else {
            self.insert(held);
        }
    }

    /// To be said in a body.
    pub(crate) fn is_alone(&self) {
        if self.running.load(SeqCst) != 1 {
            self.wrong.note(Wrong::Beside);
        }
    }

    /// To be said in the end.
    pub(crate) fn has_run(&self, bodies: u64) {
        if self.bodies.load(SeqCst) != bodies {
            self.wrong.note(Wrong::Bodies);
        }
    }

    /// Bodies pass here once it is [open](Self::open).
    pub(crate) fn wait_at_the_gate(&self) {
        let (open, opened) = &self.gate;
        let mut open = open.lock().unwrap();
        while !*open {
            open = opened.wait(open).unwrap();
        }
    }

    pub(crate) fn open(&self) {
        let (open, opened) = &self.gate;
        *open.lock().unwrap() = true;
        opened.notify_all();
    }
}
