//! One scenario: what is done at the same time, in every order, and what of it goes wrong.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::SeqCst},
};

use loom::thread;

use crate::{
    sync::with_timers,
    world::{Rules, World},
};

/// What can go wrong. It is counted and not panicked for: a panic of one of loom's threads is the end of the test program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// A call got a value from before an invalidation that was over when the call began.
    Stale,
    /// A body ran beside another one.
    Beside,
    /// More bodies ran than had to, or fewer.
    Bodies,
    /// The table was not empty in the end.
    Left,
}

/// In how many schedules something went wrong.
#[derive(Default)]
pub(crate) struct Tally([AtomicU64; 4]);

impl Tally {
    pub(crate) fn note(&self, wrong: Wrong) {
        self.0[wrong as usize].fetch_add(1, SeqCst);
    }

    fn of(&self, wrong: Wrong) -> u64 {
        self.0[wrong as usize].load(SeqCst)
    }
}

/// One scenario: what is done at the same time.
pub(crate) struct Scenario {
    name: &'static str,
    rules: Rules,
    backend: bool,
    front: bool,
    timers: bool,
    preemptions: usize,
}

/// A caller or a writer.
pub(crate) type Act = fn(&World);

impl Scenario {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            rules: Rules::ALL,
            backend: false,
            front: false,
            timers: false,
            preemptions: 3,
        }
    }

    pub(crate) const fn rules(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    /// The cache is in a backend.
    pub(crate) const fn backend(self) -> Self {
        Self {
            backend: true,
            ..self
        }
    }

    /// What is found in memory is brought to the front.
    pub(crate) const fn front(self) -> Self {
        Self {
            front: true,
            ..self
        }
    }

    pub(crate) const fn timers(self) -> Self {
        Self {
            timers: true,
            ..self
        }
    }

    /// How often at most a thread is interrupted in one schedule where it could have gone on.
    pub(crate) const fn preemptions(self, preemptions: usize) -> Self {
        Self {
            preemptions,
            ..self
        }
    }

    /// Has all of `acts` done at the same time, in every order; then `at_the_end`. Whatever they are, the table is empty then.
    pub(crate) fn holds(&self, acts: &[Act], at_the_end: Act) {
        let (schedules, wrong) = self.check(acts, at_the_end);
        println!("{}: {schedules} schedules", self.name);
        for what in [Wrong::Stale, Wrong::Beside, Wrong::Bodies, Wrong::Left] {
            assert_eq!(wrong.of(what), 0, "{what:?} in {}", self.name);
        }
    }

    /// The same, and there has to be an order in which this goes wrong.
    pub(crate) fn fails(&self, how: Wrong, acts: &[Act], at_the_end: Act) {
        let (schedules, wrong) = self.check(acts, at_the_end);
        let found = wrong.of(how);
        println!("{}: {how:?} in {found} of {schedules} schedules", self.name);
        assert_ne!(found, 0, "{}: loom finds no {how:?}", self.name);
    }

    fn check(&self, acts: &[Act], at_the_end: Act) -> (u64, Arc<Tally>) {
        let (rules, backend, front, timers) = (self.rules, self.backend, self.front, self.timers);
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound.get_or_insert(self.preemptions);
        builder.max_branches = 10_000;
        let (schedules, wrong) = (Arc::new(AtomicU64::new(0)), Arc::<Tally>::default());
        let (counted, noted) = (Arc::clone(&schedules), Arc::clone(&wrong));
        let acts = acts.to_vec();
        builder.check(move || {
            counted.fetch_add(1, SeqCst);
            with_timers(timers);
            let world = Arc::new(World::new(rules, backend, front, Arc::clone(&noted)));
            // The last of them is done by this thread: loom has few.
            let (last, others) = acts.split_last().expect("something is done");
            let others = others
                .iter()
                .copied()
                .map(|act| {
                    let world = Arc::clone(&world);
                    thread::spawn(move || act(&world))
                })
                .collect::<Vec<_>>();
            last(&world);
            for other in others {
                other.join().unwrap();
            }
            at_the_end(&world);
            if world.flights.len() != 0 {
                world.wrong.note(Wrong::Left);
            }
        });
        (schedules.load(SeqCst), wrong)
    }
}
