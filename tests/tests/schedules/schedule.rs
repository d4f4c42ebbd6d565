//! One schedule: who is started, polled and dropped, and what must hold.

use std::{
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use cache_core::CacheConfig;
use tests::stress::{
    Annotated, Database, InProcess, Keeper, Look, Rng, Row, Told, Unavailable, Way,
};
use tokio::task::yield_now;

use crate::wandering::pause;

const KEYS: u64 = 2;
/// How many callers are started in one schedule, and how many are under way at a time.
const CALLERS: u64 = 40;
const AT_A_TIME: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    All,
    /// Nobody writes, nobody is dropped, no body fails.
    Reads,
}

/// One caller.
struct Work {
    future: Pin<Box<dyn Future<Output = ()>>>,
    woken: Arc<Flag>,
    polled: bool,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// At which keeper.
    Read(usize),
    Write(usize, u64, Way),
    CleanUp,
}

#[derive(Debug)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// The bodies of readers.
#[derive(Debug, Default)]
struct Bodies {
    begun: AtomicU64,
    begun_of_key: [AtomicU64; KEYS as usize],
    /// Keeper, key, and when it began, of those that run.
    running: Mutex<Vec<(usize, u64, u64)>>,
    /// The number of polls so far.
    now: AtomicU64,
    /// When a writer was last polled or dropped, and so may have invalidated.
    written: AtomicU64,
}

struct Body<'a>(&'a Bodies, (usize, u64, u64));

impl Bodies {
    fn begin(&self, keeper: usize, key: u64, alone: bool) -> Body<'_> {
        self.begun.fetch_add(1, SeqCst);
        self.begun_of_key[key as usize].fetch_add(1, SeqCst);
        let now = self.now.load(SeqCst);
        let mut running = self.running.lock().expect("no panic while locked");
        let beside = running.iter().any(|(at, of, began)| {
            (*at, *of) == (keeper, key) && *began > self.written.load(SeqCst)
        });
        let body = (keeper, key, now);
        running.push(body);
        drop(running);
        assert!(!(alone && beside), "two bodies of one key at a time");
        Body(self, body)
    }
}

impl Drop for Body<'_> {
    fn drop(&mut self) {
        let mut running = self.0.running.lock().expect("no panic while locked");
        let place = running.iter().position(|body| *body == self.1);
        running.remove(place.expect("it was put there"));
    }
}

pub(crate) struct Schedule {
    calls: Calls,
    /// In memory an invalidation has happened when its writer was polled; through a backend it goes on beside.
    in_memory: bool,
    dice: Rng,
    keepers: Vec<Annotated>,
    database: InProcess,
    bodies: Arc<Bodies>,
    at_work: Vec<Work>,
    looked: Vec<u64>,
}

impl Schedule {
    pub(crate) fn new(seed: u64, configs: Vec<CacheConfig>, calls: Calls) -> Self {
        let in_memory = configs.len() == 1 && calls == Calls::All;
        let mut keepers: Vec<Annotated> = Vec::new();
        for config in configs {
            // Longer than any of these: who relieves a leader is no matter of this test.
            let config = config.lock_timeout(Duration::from_secs(3600));
            keepers.push(match keepers.first() {
                None => Annotated::new(config, KEYS),
                Some(first) => first.other(config),
            });
        }
        Self {
            calls,
            in_memory,
            dice: Rng::with_seed(seed),
            looked: vec![0; keepers.len()],
            keepers,
            database: InProcess::new(KEYS),
            bodies: Arc::default(),
            at_work: Vec::new(),
        }
    }

    pub(crate) async fn run(mut self) {
        let mut to_come = CALLERS;
        while to_come > 0 || !self.at_work.is_empty() {
            if to_come > 0 && self.at_work.len() < AT_A_TIME && self.dice.u64(..3) == 0 {
                to_come -= 1;
                self.start();
            }
            // What goes on in the background gets its turn at random too.
            if self.dice.u64(..3) == 0 {
                yield_now().await;
            }
            if self.calls == Calls::All && self.dice.u64(..16) == 0 {
                self.drop_one();
            }
            if !self.poll_one() && to_come == 0 && !self.at_work.is_empty() {
                self.wait_for_background().await;
            }
        }
        for keeper in &self.keepers {
            keeper.settle().await;
        }
        self.check().await;
    }

    fn start(&mut self) {
        let at = self.dice.usize(..self.keepers.len());
        let key = self.dice.u64(..KEYS);
        if self.calls == Calls::All && self.dice.u64(..5) == 0 {
            let way = *self.dice.choice(Way::ALL).expect("there are some");
            self.start_writer(at, key, way);
        } else {
            self.start_reader(at, key);
        }
    }

    fn start_reader(&mut self, at: usize, key: u64) {
        let (keeper, database) = (self.keepers[at].clone(), self.database.clone());
        let bodies = Arc::clone(&self.bodies);
        let all = self.calls == Calls::All;
        let look = match Look::draw(&mut self.dice) {
            Look::Refresh if !all => Look::Annotated,
            look => look,
        };
        let (before, after) = (self.dice.u64(..4), self.dice.u64(..4));
        let (fails, panics) = (
            all && self.dice.u64(..10) == 0,
            all && self.dice.u64(..10) == 0,
        );
        // A refresh invalidates, as writers do.
        let kind = if look == Look::Refresh {
            Kind::Write(at, key, Way::Invalidate)
        } else {
            Kind::Read(at)
        };
        let alone = self.in_memory || !all;
        self.begin(kind, async move {
            let load = async {
                assert_ne!(look, Look::Only, "to look is not to load");
                let _body = bodies.begin(at, key, alone);
                pause(before).await;
                let version = database.version(key).await;
                pause(after).await;
                if panics {
                    resume_unwind(Box::new(Planned));
                }
                if fails {
                    return Err(Unavailable);
                }
                Ok(Row { key, version })
            };
            let acknowledged = database.acknowledged(key).await.everywhere;
            if let Some(Ok(row)) = keeper.read(key, look, load).await {
                assert_eq!(row.key, key);
                assert!(
                    row.version >= acknowledged,
                    "stale: version {} for {acknowledged}",
                    row.version
                );
            }
        });
    }

    fn start_writer(&mut self, at: usize, key: u64, way: Way) {
        let (keeper, database) = (self.keepers[at].clone(), self.database.clone());
        let (before, after) = (self.dice.u64(..3), self.dice.u64(..3));
        let panics = self.dice.u64(..10) == 0;
        self.begin(Kind::Write(at, key, way), async move {
            let write = async {
                pause(before).await;
                let version = database.write(key).await;
                pause(after).await;
                if panics {
                    resume_unwind(Box::new(Planned));
                }
                Row { key, version }
            };
            let (version, told) = keeper.write(key, way, write).await;
            assert_ne!(told, Told::Failed, "the backend answers");
            database.told(key, version, told).await;
        });
    }

    fn begin(&mut self, kind: Kind, future: impl Future<Output = ()> + 'static) {
        self.at_work.push(Work {
            future: Box::pin(future),
            woken: Arc::new(Flag(AtomicBool::new(true))),
            polled: false,
            kind,
        });
    }

    /// Polls one of those who were woken; false if there are none.
    fn poll_one(&mut self) -> bool {
        let woken: Vec<usize> = (0..self.at_work.len())
            .filter(|index| self.at_work[*index].woken.0.load(SeqCst))
            .collect();
        let Some(&index) = self.dice.choice(&woken) else {
            return false;
        };
        let work = &mut self.at_work[index];
        work.woken.0.store(false, SeqCst);
        self.bodies.now.fetch_add(1, SeqCst);
        if matches!(work.kind, Kind::Write(..) | Kind::CleanUp) {
            self.bodies
                .written
                .store(self.bodies.now.load(SeqCst), SeqCst);
        }
        if !std::mem::replace(&mut work.polled, true)
            && let Kind::Read(at) = work.kind
        {
            self.looked[at] += 1;
        }
        let waker = Waker::from(Arc::clone(&work.woken));
        let polled = catch_unwind(AssertUnwindSafe(|| {
            work.future.as_mut().poll(&mut Context::from_waker(&waker))
        }));
        match polled {
            Ok(Poll::Pending) => {}
            Ok(Poll::Ready(())) => drop(self.at_work.swap_remove(index)),
            Err(panic) if panic.is::<Planned>() => self.give_up(index),
            Err(panic) => resume_unwind(panic),
        }
        true
    }

    fn drop_one(&mut self) {
        if !self.at_work.is_empty() {
            let index = self.dice.usize(..self.at_work.len());
            if self.at_work[index].kind != Kind::CleanUp {
                self.give_up(index);
            }
        }
    }

    /// A caller that was dropped half-way or has panicked.
    fn give_up(&mut self, index: usize) {
        let work = self.at_work.swap_remove(index);
        if let Kind::Write(at, key, way) = work.kind {
            let now = self.bodies.now.fetch_add(1, SeqCst);
            self.bodies.written.store(now + 1, SeqCst);
            if way.is_by_hand() {
                let keeper = self.keepers[at].clone();
                self.begin(Kind::CleanUp, async move {
                    assert!(keeper.clean_up(key).await, "the backend answers");
                });
            }
        }
    }

    /// Nobody is woken: then something in the background must be about to wake somebody.
    async fn wait_for_background(&mut self) {
        for _ in 0..1_000 {
            if self.at_work.iter().any(|work| work.woken.0.load(SeqCst)) {
                return;
            }
            yield_now().await;
        }
        let kinds: Vec<Kind> = self.at_work.iter().map(|work| work.kind).collect();
        panic!("nobody wakes those who wait: {kinds:?}");
    }

    /// When all is over.
    async fn check(&self) {
        let loads: u64 = self.keepers.iter().map(|keeper| keeper.stats().loads).sum();
        assert_eq!(loads, self.bodies.begun.load(SeqCst));
        for (keeper, looked) in self.keepers.iter().zip(&self.looked) {
            let stats = keeper.stats();
            let outcomes = stats.hits + stats.misses + stats.coalesced + stats.bypasses;
            if self.calls == Calls::Reads {
                assert_eq!(outcomes, *looked, "one outcome for each call: {stats:?}");
            }
            assert_eq!(stats.backend_errors, 0);
        }
        for key in 0..KEYS {
            let begun = self.bodies.begun_of_key[key as usize].load(SeqCst);
            assert!(self.calls == Calls::All || begun <= 1, "{begun} bodies");
            let truth = Row {
                key,
                version: self.database.version(key).await,
            };
            for keeper in &self.keepers {
                let read = keeper.read(key, Look::ByHand, async { Ok(truth) }).await;
                assert_eq!(read, Some(Ok(truth)), "left behind");
            }
        }
    }
}

/// What the bodies panic with.
struct Planned;
