//! The run and its oracle.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use super::{
    Database, Keeper, Report, Rng, Row, Unavailable,
    fate::{Ended, Fate, panic_quietly, pause},
    keeper::{Look, Told, Way},
};

/// The first so many rows are asked for as often as all others.
const HOT: u64 = 4;
/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(240);

/// What is to happen.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Decides all that is left to chance, but for who is faster.
    pub seed: u64,
    /// How often readers ask, at least.
    pub calls: u64,
    /// How many do so at a time.
    pub tasks: u64,
    /// How many rows there are.
    pub keys: u64,
    /// How writers write.
    pub ways: &'static [Way],
    /// Whether callers are dropped or stall, and bodies fail or panic.
    pub disturbed: bool,
    /// How many readers there are for each writer.
    pub readers: u64,
}

impl Plan {
    /// That seed, unless the environment variable `STRESS_SEED` has another.
    ///
    /// # Panics
    /// If the variable does not hold a number.
    #[must_use]
    pub fn seed(default: u64) -> u64 {
        std::env::var("STRESS_SEED").map_or(default, |seed| {
            seed.parse()
                .expect("STRESS_SEED is a number, as a failed run has printed it")
        })
    }
}

/// Readers and writers of one database, each at one of the keepers.
///
/// # Panics
/// If the run hangs.
pub async fn run<D: Database, K: Keeper>(plan: Plan, database: &D, keepers: &[K]) -> Report {
    let sides: Vec<_> = keepers
        .iter()
        .map(|keeper| (database.clone(), keeper.clone()))
        .collect();
    let mut report = run_at(plan, &sides, &Enough::default()).await;
    report.left_behind = left_behind(plan.keys, &sides).await;
    report
}

/// What else a run has to wait for when it has made its calls.
#[derive(Clone, Debug, Default)]
pub struct Enough(Arc<AtomicBool>);

impl Enough {
    /// Something that has not happened yet.
    #[must_use]
    pub fn not_yet() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Now it has.
    pub fn now(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether it has not.
    #[must_use]
    pub fn missing(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Readers and writers, each at one of the keepers, which see the database each in their own way, until all calls are made and it is
/// enough. What is left behind is not looked at.
///
/// # Panics
/// If the run hangs.
pub async fn run_at<D: Database, K: Keeper>(
    plan: Plan,
    sides: &[(D, K)],
    enough: &Enough,
) -> Report {
    let mut dice = Rng::with_seed(plan.seed);
    let mut tasks = JoinSet::new();
    for (database, keeper) in sides
        .iter()
        .cycle()
        .take(usize::try_from(plan.tasks).expect("few"))
    {
        let task = Task {
            plan,
            enough: enough.clone(),
            database: database.clone(),
            keeper: keeper.clone(),
            dice: dice.fork(),
            report: Report::default(),
        };
        tasks.spawn(task.run());
    }
    let mut report = Report::default();
    let all = async {
        while let Some(part) = tasks.join_next().await {
            report += part.expect("a task of the run does not panic itself");
        }
        for (_, keeper) in sides {
            keeper.settle().await;
        }
    };
    let over = tokio::time::timeout(LIMIT, all).await;
    over.unwrap_or_else(|_| panic!("the run hangs, STRESS_SEED={}", plan.seed));
    report
}

/// How many rows are not read as they are at some keeper. Nobody may be writing.
pub async fn left_behind<D: Database, K: Keeper>(keys: u64, sides: &[(D, K)]) -> u64 {
    let mut wrong = 0;
    for (database, keeper) in sides {
        for key in 0..keys {
            let truth = Row {
                key,
                version: database.version(key).await,
            };
            let read = keeper.read(key, Look::ByHand, async { Ok(truth) }).await;
            wrong += u64::from(read != Some(Ok(truth)));
        }
    }
    wrong
}

struct Task<D, K> {
    plan: Plan,
    enough: Enough,
    database: D,
    keeper: K,
    dice: Rng,
    report: Report,
}

impl<D: Database, K: Keeper> Task<D, K> {
    async fn run(mut self) -> Report {
        let calls = self.plan.calls / self.plan.tasks;
        while self.report.calls < calls || self.enough.missing() {
            if self.dice.u64(..self.plan.readers) == 0 {
                self.write().await;
            }
            self.read().await;
        }
        self.report
    }

    fn key(&mut self) -> u64 {
        if self.dice.u64(..2) == 0 {
            self.dice.u64(..HOT)
        } else {
            self.dice.u64(..self.plan.keys)
        }
    }

    fn fate(&mut self) -> Fate {
        if self.plan.disturbed {
            Fate::draw(&mut self.dice)
        } else {
            Fate::Finishes
        }
    }

    /// How long a body takes: mostly nothing to speak of, sometimes long enough for much to happen.
    fn turns(&mut self) -> u64 {
        match self.dice.u64(..16) {
            0 => self.dice.u64(..40),
            _ => self.dice.u64(..4),
        }
    }

    async fn read(&mut self) {
        let (key, look, fate) = (self.key(), Look::draw(&mut self.dice), self.fate());
        let (before, after) = (self.turns(), self.turns());
        let fails = self.plan.disturbed && self.dice.u64(..40) == 0;
        let panics = self.plan.disturbed && self.dice.u64(..80) == 0;
        let (begun, panicked, gave) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(None));
        let load = async {
            begun.fetch_add(1, Ordering::Relaxed);
            pause(before).await;
            let version = self.database.version(key).await;
            pause(after).await;
            if panics {
                panicked.store(true, Ordering::Relaxed);
                panic_quietly();
            }
            let row = Row { key, version };
            let result = if fails { Err(Unavailable) } else { Ok(row) };
            *gave.lock().expect("nothing panics while it is held") = Some(result);
            result
        };

        let acknowledged = self.database.acknowledged(key).await;
        let asked = Instant::now();
        let call = fate.befall(self.keeper.read(key, look, load));
        let ended = call.await;
        if fate == Fate::Finishes && look != Look::Refresh {
            self.report.slowest = self.report.slowest.max(asked.elapsed());
        }
        let (begun, panicked) = (begun.into_inner(), panicked.into_inner());
        let gave = gave.into_inner().expect("nothing panics while it is held");

        self.report.calls += 1;
        self.report.loads += begun;
        self.note(fate, &ended);
        let own = gave.is_none_or(|gave| match ended {
            Ended::With(answer) => answer == Some(gave),
            Ended::Dropped | Ended::Panicked => true,
        });
        self.report.doubled += u64::from(begun > 1 || !own);
        self.report.failed += u64::from(matches!(ended, Ended::Panicked) && !panicked);
        match ended {
            Ended::With(Some(Ok(row))) => {
                self.report.hits += u64::from(begun == 0);
                self.report.foreign += u64::from(row.key != key);
                let least = acknowledged.here.max(acknowledged.everywhere);
                self.report.stale += u64::from(row.version < least);
            }
            Ended::With(Some(Err(Unavailable))) => self.report.failures += 1,
            Ended::With(None) | Ended::Dropped | Ended::Panicked => {}
        }
    }

    async fn write(&mut self) {
        let (key, fate) = (self.key(), self.fate());
        let way = *self.dice.choice(self.plan.ways).expect("a way to write");
        let (before, after) = (self.dice.u64(..3), self.dice.u64(..3));
        let panics = self.plan.disturbed && self.dice.u64(..80) == 0;
        let panicked = AtomicBool::new(false);
        let write = async {
            pause(before).await;
            let version = self.database.write(key).await;
            pause(after).await;
            if panics {
                panicked.store(true, Ordering::Relaxed);
                panic_quietly();
            }
            Row { key, version }
        };
        let ended = fate.befall(self.keeper.write(key, way, write)).await;
        self.note(fate, &ended);
        let panicked = panicked.into_inner();
        self.report.failed += u64::from(matches!(ended, Ended::Panicked) && !panicked);
        match ended {
            Ended::With((version, told)) => {
                self.database.told(key, version, told).await;
                if told == Told::Failed {
                    self.report.not_acknowledged += 1;
                } else {
                    self.report.invalidations += 1;
                }
            }
            Ended::Dropped | Ended::Panicked if way.is_by_hand() => {
                let done = self.keeper.clean_up(key).await;
                self.report.not_acknowledged += u64::from(!done);
            }
            Ended::Dropped | Ended::Panicked => {}
        }
    }

    fn note<T>(&mut self, fate: Fate, ended: &Ended<T>) {
        self.report.cancelled += u64::from(matches!(ended, Ended::Dropped));
        self.report.panicked += u64::from(matches!(ended, Ended::Panicked));
        self.report.stalled += u64::from(matches!(fate, Fate::Stalls(..)));
    }
}
