//! One key of one cache that several processes keep in one Redis: tokens, what is owed, and failovers.
//!
//! | here | in the code |
//! |---|---|
//! | [`Server`] and its methods | `cache-redis/src/server.rs` and `scripts.rs`: what the commands do, each in one step |
//! | [`Process`] | `cache-core/src/owed.rs`; the ring of acknowledged invalidations; the connection |
//! | `Step::Read` | `CacheInner::read`: whether the key is owed, and the request. The call begins with it: one that began earlier may rely on less |
//! | `Step::Keep` | `Copies::keep`, of what a call before this one has read |
//! | `Step::LookAtTokens`, `Step::LookAtEnd` | `CacheInner::read` of a call with a copy: the two commands of `Server::revalidate`, and what they are compared with |
//! | `Step::Enter`, `Step::Land` | `Presence::enter`, `Lead::land`. A body reads its data at once: later would be newer |
//! | `Step::Store` | the store, off the caller's path: as late as you like |
//! | `Step::Call` | the write is done, this process has forgotten its loads, the invalidation is owed |
//! | `Step::Execute`, `Step::Acknowledge` | at the server; when the reply is there |
//! | `Step::Pay` | `cache/recovery.rs`: an attempt to make good what is owed |
//! | `Step::Replay` | the first thing on a new connection to another role or run id |
//!
//! What may happen besides, each as often as [`Weather`] says: a token or a value is evicted (or expires), everything is gone
//! (FLUSHALL, an empty restart), a request or a reply is lost, a read is not answered in time, the server is full or has room
//! again, and a replica (or a restart) brings back what the server held at some moment before.
//!
//! **What is promised.** To every process: what was acknowledged to one of them before a call begins, that call does not get
//! less. To the process that calls it, more: from the moment of the call on, whatever becomes of the request. After a failover
//! only the second, until the invalidations that the replica had missed have been replayed; that window is documented.

mod alike;
mod looks;
mod process;
mod reads;
mod server;
mod steps;
mod writes;

use stateright::{Model, Property};

use self::{looks::Looking, process::Recovery, server::Fence};
pub use self::{
    process::Process,
    server::{Key, Server, Stamps},
    steps::Step,
};

/// What is in Redis is not older than what was promised, to whichever process that reads it now.
pub const R1: &str = "nobody reads what an invalidation had ended before";
/// Nor is what callers get from loads in their own process.
pub const R2: &str = "nobody shares a load that an invalidation had ended before";
/// What failed is made good.
pub const PAID: &str = "nothing is owed for ever";

/// The model: who calls in which process, and in what weather.
#[derive(Clone, Debug)]
pub struct ThroughRedis {
    /// The processes of calls that read.
    pub reads: Vec<usize>,
    /// The processes of calls that have a copy confirmed.
    pub looks: Vec<usize>,
    /// What is written, and in which process.
    pub writes: Vec<(usize, Write)>,
    /// Whether there is an entry in the beginning, with its tokens.
    pub warm: bool,
    /// What may happen besides.
    pub weather: Weather,
    /// The guards.
    pub rules: Rules,
}

/// What the cache is told of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Write {
    Invalidate,
    InvalidateAll,
    Put,
    /// A put whose key only its value gives: it holds the token that every change of the cache replaces.
    PutByValue,
}

/// How often something may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Weather {
    /// One token or value is gone.
    pub evictions: u8,
    /// All of them are.
    pub flushes: u8,
    /// A request of an invalidation, a put or a replay, or its reply, is lost.
    pub losses: u8,
    /// A read is not answered in time.
    pub silences: u8,
    /// The server becomes full, or has room again.
    pub floods: u8,
    /// An older state comes back.
    pub failovers: u8,
}

/// The guards. A test takes one away, and the checker finds what it is for.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What a stamp is.
    pub stamps: Stamps,
    /// An epoch is a fresh random token; else it is counted up.
    pub random_epochs: bool,
    /// A store needs the tokens unchanged.
    pub fence: bool,
    /// The tokens are read before the body; else after it.
    pub tokens_before_body: bool,
    /// A value counts only in the epoch it was stored under.
    pub epoch_in_trailer: bool,
    /// A copy counts only if the entry still ends like it.
    pub compare_trailer: bool,
    /// A copy counts only in the epoch it was stored under.
    pub compare_epoch_of_copy: bool,
    /// A load is joined only by those who read the same tokens.
    pub compare_tokens: bool,
    /// Without tokens on a server that answers, a load is nobody's but its caller's.
    pub missing_tokens_share_nothing: bool,
    /// Without an answer at all, a caller takes part only in loads that began after it.
    pub unknown_tokens_share_what_is_later: bool,
    /// What is owed is not read.
    pub poison: bool,
    /// An invalidation is owed from its beginning; else from its failure.
    pub owed_from_the_beginning: bool,
    /// The tokens of an owed key are read all the same.
    pub tokens_while_owed: bool,
    /// What is owed is not stored.
    pub store_nothing_owed: bool,
    /// An acknowledgement pays for what began before it, and for nothing later.
    pub paid_in_order: bool,
    /// What failed is tried again.
    pub recovery: bool,
    /// After the backend has answered, the loads under way are forgotten once more.
    pub forget_again: bool,
    /// Acknowledged invalidations are replayed after a failover.
    pub replay: bool,
    /// Nothing is read before they are.
    pub replay_first: bool,
    /// An acknowledgement that is noticed only when its connection was replaced does not count.
    pub acknowledged_by_this_connection: bool,
    /// A server that is full removes the tokens that it cannot replace.
    pub full_removes_tokens: bool,
    /// A put needs its token unchanged.
    pub put_compares: bool,
    /// A put replaces the stamp.
    pub put_replaces_stamp: bool,
    /// A put whose request failed is owed as an invalidation.
    pub failed_put_is_owed: bool,
    /// Every invalidation replaces the token for puts of unknown key.
    pub invalidation_replaces_changes: bool,
    /// So does every put.
    pub put_replaces_changes: bool,
}

impl Rules {
    /// All that the code has.
    pub const ALL: Self = Self {
        stamps: Stamps::Random,
        random_epochs: true,
        fence: true,
        tokens_before_body: true,
        epoch_in_trailer: true,
        compare_trailer: true,
        compare_epoch_of_copy: true,
        compare_tokens: true,
        missing_tokens_share_nothing: true,
        unknown_tokens_share_what_is_later: true,
        poison: true,
        owed_from_the_beginning: true,
        tokens_while_owed: true,
        store_nothing_owed: true,
        paid_in_order: true,
        recovery: true,
        forget_again: true,
        replay: true,
        replay_first: true,
        acknowledged_by_this_connection: true,
        full_removes_tokens: true,
        put_compares: true,
        put_replaces_stamp: true,
        failed_put_is_owed: true,
        invalidation_replaces_changes: true,
        put_replaces_changes: true,
    };
}

/// A version of the data.
type Version = u8;

/// What an invalidation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Target {
    Key,
    All,
}

/// All there is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    server: Server,
    /// What a failover would bring back, and what had been promised when that was all there was.
    replica: Option<(Server, Version)>,
    /// What the database holds.
    data: Version,
    /// What every process may rely on.
    promised: Version,
    processes: Vec<Process>,
    reads: Vec<Reading>,
    looks: Vec<Looking>,
    writes: Vec<Writing>,
    weather: Weather,
    wrong: Wrong,
}

/// What a caller knows of the tokens in force, as `Tokens` in `flight.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tokens {
    Known(Fence),
    Unknown,
    Missing,
}

/// How far a call that reads is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Reading {
    Start,
    /// `must`: what it may rely on. `older`: the bodies that ran when it began, a bit for each.
    Missed {
        must: Version,
        tokens: Tokens,
        older: u8,
    },
    Waits {
        must: Version,
        leader: usize,
    },
    /// `joinable`: the slot is still in the table, and the flight in it.
    InBody {
        tokens: Tokens,
        version: Version,
        joinable: bool,
    },
    /// The value has landed, and answers in its process; the store is on its way.
    Stores {
        fence: Fence,
        version: Version,
        joinable: bool,
    },
    Done,
}

/// How far a write is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Writing {
    Start,
    /// A put that has read its tokens, if there were any.
    PutBegun(Option<Fence>),
    /// The request is on its way. `put`: it is one.
    Called {
        version: Version,
        attempt: u8,
        put: Option<Fence>,
    },
    /// The server has done it; the reply is on its way.
    Executed {
        version: Version,
        attempt: u8,
    },
    /// Nobody waits for the request any more. It may still arrive.
    Late {
        version: Version,
        put: Option<Fence>,
    },
    Done,
}

/// What has gone wrong in calls that are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Wrong {
    stale: bool,
    shared: bool,
}

impl ThroughRedis {
    fn process_of_write(&self, write: usize) -> usize {
        self.writes[write].0
    }
}

impl Model for ThroughRedis {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let reading = self.reads.iter().copied();
        let writing = self.writes.iter().map(|(process, _)| *process);
        let looking = self.looks.iter().copied();
        let processes = reading
            .chain(writing)
            .chain(looking)
            .max()
            .map_or(0, |last| last + 1);
        vec![State {
            server: Server::new(self.warm, !self.looks.is_empty()),
            replica: None,
            data: 0,
            promised: 0,
            processes: vec![Process::default(); processes],
            reads: vec![Reading::Start; self.reads.len()],
            looks: vec![Looking::Start; self.looks.len()],
            writes: vec![Writing::Start; self.writes.len()],
            weather: self.weather,
            wrong: Wrong::default(),
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        for read in 0..self.reads.len() {
            self.steps_of_read(state, read, steps);
        }
        for look in 0..self.looks.len() {
            self.steps_of_look(state, look, steps);
        }
        for write in 0..self.writes.len() {
            self.steps_of_write(state, write, steps);
        }
        for process in 0..state.processes.len() {
            self.steps_of_process(state, process, steps);
        }
        self.steps_of_weather(state, steps);
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        let mut next = state.clone();
        self.take(&mut next, step);
        self.rename(&mut next);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(R1, |model: &Self, state: &State| {
                !state.wrong.stale && !model.would_be_stale(state)
            }),
            Property::always(R2, |_, state: &State| !state.wrong.shared),
            Property::always(PAID, |model: &Self, state: &State| {
                let goes_on = |process| {
                    let mut steps = Vec::new();
                    model.steps_of_process(state, process, &mut steps);
                    !steps.is_empty()
                };
                let done = |write: &Writing| matches!(write, Writing::Done | Writing::Late { .. });
                let all_done = state.writes.iter().all(done);
                let mut processes = state.processes.iter().enumerate();
                !all_done || processes.all(|(at, process)| !process.owes() || goes_on(at))
            }),
        ]
    }
}

impl ThroughRedis {
    /// Whether a call that began and read just now would get what is no longer true. So no call of the model has to be kept
    /// for that.
    fn would_be_stale(&self, state: &State) -> bool {
        let Some(version) = state.server.read(&self.rules) else {
            return false;
        };
        state.processes.iter().any(|process| {
            let reads = self.reads_now(process) && !(process.owes() && self.rules.poison);
            reads && version < state.promised.max(process.called)
        })
    }

    fn reads_now(&self, process: &Process) -> bool {
        !(process.reconnects && self.rules.replay && self.rules.replay_first)
    }
}
