//! One key of one cache in one process: single flight, and the right to insert.
//!
//! | here | in `cache-core/src` |
//! |---|---|
//! | [`Slot`], [`Flight`] | the same in `flight.rs`; a cache in memory has one flight in a slot |
//! | `Step::Look` | `CacheInner::hit_in_front` and `CacheInner::hit` |
//! | `Step::LookAgain`, `Step::Fill`, `Step::CheckFilled` | `Memory::bring_to_front`, all of it under the lock (`Flights::undisturbed`), but not in one step for moka, which takes no lock of ours |
//! | `Step::Evict`, `Step::Announce` | moka gives an entry up, and then says so |
//! | `Step::Attend`, `Step::Enter` | `Flights::attend`, `Presence::enter`; in memory the two are one step, `Flights::enter` |
//! | `Step::Land`, `Step::Publish` | `Lead::land`: what is under the lock, the leader's leaving too, and what comes after it |
//! | `Step::GiveUp` | `Lead::fail`, or `Lead` dropped |
//! | `Step::Relieve` | `Waiter::relieve` |
//! | `Step::Leave` | `Presence` dropped |
//! | `Step::Settle` | `Presence::settle_put` |
//! | `Step::Invalidate` | `Flights::invalidate`, with the entry taken out under the lock |
//! | `Step::NextEpoch`, `Step::ForgetLoads` | the two halves of `Flights::invalidate_all`. Clearing memory after them is left out: that old entries do not count does not rest on it |
//! | `Step::InvalidateBusy`, `Step::InvalidateFound` | the two halves of `CacheInner::invalidate_if` |

mod steps;

use stateright::{Model, Property};

/// No call returns a value that was computed from data read before an invalidation, if that was over before the call began.
pub const R1: &str = "no call gets what an invalidation had ended before it";
/// The same for those who wait.
pub const R2: &str = "no call joins a load that an invalidation had ended before it";
/// At most one load that may still store, and one more for each `lock_timeout` that has passed.
pub const ONE_LOAD: &str = "one load at a time";
/// Nobody begins a load while a value that counts is in memory.
pub const NEEDED: &str = "nothing is loaded that is there";
/// A leader that fails leaves those who lead beside it what they load for.
pub const GOES_ON: &str = "a flight goes on while somebody leads it";
/// Whoever waits is woken, whatever becomes of the leader.
pub const NO_WAIT: &str = "nobody waits for ever";
/// What moka gave up is not kept in front.
pub const IN_FRONT: &str = "what is in front in the end is in memory";
/// Bookkeeping dies with the callers.
pub const EMPTY: &str = "the table is empty in the end";

/// The model: who calls, and what may befall them.
#[derive(Clone, Debug)]
pub struct InProcess {
    /// All at the same time.
    pub callers: Vec<Caller>,
    /// How many of them may be dropped half-way.
    pub drops: u8,
    /// How many bodies may fail.
    pub failures: u8,
    /// How many times a `lock_timeout` may pass.
    pub timeouts: u8,
    /// The guards.
    pub rules: Rules,
}

/// What somebody calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Caller {
    Read,
    /// One that brings what it finds in memory to the front.
    ReadOften,
    /// Not a caller: moka, which is full.
    Evict,
    Invalidate,
    InvalidateAll,
    InvalidateIf,
    Put,
    /// A put whose key only its value gives.
    PutByValue,
}

/// The guards. A test takes one away, and the checker finds what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// A value enters only while the slot holds its flight.
    pub land_needs_flight: bool,
    /// An invalidation takes slot and entry under one lock; else the entry first.
    pub remove_under_lock: bool,
    /// What is brought to the front is looked for once more under the lock; else it is what was found before.
    pub fill_under_lock: bool,
    /// And once more after it is there.
    pub look_after_filling: bool,
    /// What is removed or replaced in memory leaves the front.
    pub front_goes_too: bool,
    /// moka says what it has given up, and then it leaves the front.
    pub evictions_are_announced: bool,
    /// An invalidation by predicate goes through what is in front too.
    pub front_is_searched: bool,
    /// It takes the slot at all.
    pub invalidation_ends_loads: bool,
    /// `invalidate_all` forgets the loads under way.
    pub all_forgets_loads: bool,
    /// An entry counts only in its epoch.
    pub compare_epochs: bool,
    /// A value has the epoch in which its flight began; else the one in which it lands.
    pub epoch_of_beginning: bool,
    /// Who finds no load looks into memory again, under the lock.
    pub look_again: bool,
    /// A leader that is dropped ends its flight.
    pub guard: bool,
    /// A leader that fails leaves the flight to those who lead beside it.
    pub last_leader_ends: bool,
    /// A waiter leads beside the first leader once `lock_timeout` has passed, and not before.
    pub patience: bool,
    /// A put enters only if no invalidation came since it began.
    pub put_needs_slot: bool,
    /// A put enters only if no other put ended since it began.
    pub put_counts_puts: bool,
    /// A put whose key was not known enters only if nothing of the cache changed since it began.
    pub put_counts_changes: bool,
    /// A put enters only in the epoch in which it began, with that epoch.
    pub put_keeps_epoch: bool,
    /// A put ends the loads under way.
    pub put_ends_loads: bool,
    /// A put that was dropped half-way invalidates.
    pub interrupted_put_invalidates: bool,
}

impl Rules {
    /// All of them.
    pub const ALL: Self = Self {
        land_needs_flight: true,
        remove_under_lock: true,
        fill_under_lock: true,
        look_after_filling: true,
        front_goes_too: true,
        evictions_are_announced: true,
        front_is_searched: true,
        invalidation_ends_loads: true,
        all_forgets_loads: true,
        compare_epochs: true,
        epoch_of_beginning: true,
        look_again: true,
        guard: true,
        last_leader_ends: true,
        patience: true,
        put_needs_slot: true,
        put_counts_puts: true,
        put_counts_changes: true,
        put_keeps_epoch: true,
        put_ends_loads: true,
        interrupted_put_invalidates: true,
    };
}

/// A version of the data.
type Version = u8;

/// All there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// What the database holds.
    data: Version,
    /// What was written before the last invalidation that is over: nobody who begins now may get less.
    promised: Version,
    epoch: u8,
    changes: u8,
    next_slot: u8,
    slot: Option<Slot>,
    /// All there have ever been.
    flights: Vec<Flight>,
    /// The entry in memory.
    entry: Option<Entry>,
    /// The same in the table in front.
    front: Option<Entry>,
    callers: Vec<At>,
    drops: u8,
    failures: u8,
    timeouts: u8,
    wrong: Wrong,
}

/// The key in the table, while somebody is busy with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    id: u8,
    present: u8,
    puts: u8,
    flight: Option<usize>,
}

/// One load.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    epoch: u8,
    /// What the database held when it began.
    began: Version,
    leaders: u8,
    ended: Option<Ended>,
}

/// How a load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Ended {
    Landed(Version),
    /// With an error, or its leader was dropped: those who wait enter again.
    Without,
}

/// A value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    version: Version,
    epoch: u8,
}

/// What a caller remembers of the slot it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Presence {
    slot: u8,
    puts: u8,
}

/// How far a caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Start,
    /// A read that is about to bring what it found to the front.
    Found(Entry),
    /// It has looked again, and holds the lock.
    Filling(Entry),
    /// It has filled the place, and holds the lock.
    Filled,
    /// moka has given this up and not said so yet.
    Evicted(Entry),
    /// A read that found nothing in memory. `must`: what was promised when it began.
    Missed {
        must: Version,
    },
    Present {
        must: Version,
        me: Presence,
    },
    Waits {
        must: Version,
        me: Presence,
        flight: usize,
    },
    /// `read`: what its body has read, once it has.
    InBody {
        me: Presence,
        flight: usize,
        read: Option<Version>,
    },
    /// The lock was released, those who wait do not know yet. `me`: if it has not left yet.
    Publishes {
        me: Option<Presence>,
        flight: usize,
        how: Ended,
    },
    Leaves {
        me: Presence,
    },
    /// Writers: the data is written and the cache is called.
    Called {
        version: Version,
    },
    /// The first of two steps of an invalidation is done.
    HalfDone {
        version: Version,
    },
    /// An invalidation by predicate: its number of changes is in, then the loads are ended.
    Counted {
        version: Version,
    },
    /// A put: what it remembers while its body runs.
    PutBegun {
        me: Option<Presence>,
        epoch: u8,
        changes: u8,
    },
    PutWritten {
        me: Option<Presence>,
        epoch: u8,
        changes: u8,
        version: Version,
    },
    Done,
}

/// What has gone wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Wrong {
    stale: bool,
    joined: bool,
    needless: bool,
}

/// One caller takes one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Step {
    Look,
    LookAgain,
    Fill,
    CheckFilled,
    Evict,
    Announce,
    Attend,
    Enter,
    BodyReads,
    Land,
    /// The body failed, or (`dropped`) its caller is gone.
    GiveUp {
        dropped: bool,
    },
    Publish,
    Wake,
    Relieve,
    Leave,
    /// A caller that does not lead is dropped.
    Drop,
    Write,
    Remove,
    Invalidate,
    NextEpoch,
    ForgetLoads,
    CountChange,
    InvalidateBusy,
    InvalidateFound,
    BeginPut,
    Settle,
}

impl Model for InProcess {
    type State = State;
    type Action = (usize, Step);

    fn init_states(&self) -> Vec<State> {
        vec![State {
            data: 0,
            promised: 0,
            epoch: 0,
            changes: 0,
            next_slot: 0,
            slot: None,
            flights: Vec::new(),
            entry: None,
            front: None,
            callers: vec![At::Start; self.callers.len()],
            drops: self.drops,
            failures: self.failures,
            timeouts: self.timeouts,
            wrong: Wrong::default(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Self::Action>) {
        for caller in 0..self.callers.len() {
            actions.extend(self.next(state, caller).map(|step| (caller, step)));
            let faults = self.faults(state, caller);
            let faults = faults
                .into_iter()
                .filter(|step| state.may_take(caller, *step));
            actions.extend(faults.map(|step| (caller, step)));
        }
    }

    fn next_state(&self, state: &State, (caller, step): Self::Action) -> Option<State> {
        let mut next = state.clone();
        self.take(&mut next, caller, step);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(R1, |_, state: &State| !state.wrong.stale),
            Property::always(R2, |_, state: &State| !state.wrong.joined),
            Property::always(NEEDED, |_, state: &State| !state.wrong.needless),
            Property::always(ONE_LOAD, |model: &Self, state: &State| {
                let waited = model.timeouts - state.timeouts;
                state.loads_that_may_store() <= 1 + usize::from(waited)
            }),
            Property::always(GOES_ON, |_, state: &State| {
                !state.callers.iter().any(|at| {
                    matches!(at, At::InBody { flight, .. }
                        if state.flights[*flight].ended == Some(Ended::Without))
                })
            }),
            Property::always(NO_WAIT, |model: &Self, state: &State| {
                let mut callers = 0..model.callers.len();
                state.all_done() || callers.any(|caller| model.next(state, caller).is_some())
            }),
            Property::always(IN_FRONT, |_, state: &State| {
                !state.all_done() || state.front.is_none() || state.front == state.entry
            }),
            Property::always(EMPTY, |_, state: &State| {
                !state.all_done() || state.slot.is_none()
            }),
        ]
    }
}

impl State {
    fn all_done(&self) -> bool {
        self.callers.iter().all(|at| *at == At::Done)
    }

    /// Whether a step can be taken while somebody else may hold the lock.
    fn may_take(&self, caller: usize, step: Step) -> bool {
        let mut others = self.callers.iter().enumerate();
        let holds_lock = |at: &At| matches!(at, At::Filling(_) | At::Filled);
        !step.takes_lock() || !others.any(|(other, at)| other != caller && holds_lock(at))
    }

    fn loads_that_may_store(&self) -> usize {
        let current = self.slot.as_ref().and_then(|slot| slot.flight);
        let loads = |at: &&At| matches!(at, At::InBody { flight, .. } if Some(*flight) == current);
        self.callers.iter().filter(loads).count()
    }
}

impl Step {
    fn takes_lock(self) -> bool {
        match self {
            Self::LookAgain
            | Self::Attend
            | Self::Enter
            | Self::Land
            | Self::GiveUp { .. }
            | Self::Leave
            | Self::Drop
            | Self::Invalidate
            | Self::ForgetLoads
            | Self::InvalidateBusy
            | Self::InvalidateFound
            | Self::BeginPut
            | Self::Settle => true,
            Self::Look
            | Self::Fill
            | Self::CheckFilled
            | Self::Evict
            | Self::Announce
            | Self::BodyReads
            | Self::Publish
            | Self::Wake
            | Self::Relieve
            | Self::Write
            | Self::Remove
            | Self::NextEpoch
            | Self::CountChange => false,
        }
    }
}
