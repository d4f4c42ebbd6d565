//! Which steps there are, and what each does.

use super::{
    Reading, Recovery, State, Target, ThroughRedis, Tokens, Version, Write, Writing, server::Key,
};

/// One step. The number is that of a read, of a write or of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Step {
    Read(usize),
    /// It is not answered in time.
    ReadUnanswered(usize),
    Enter(usize),
    Land(usize),
    Store(usize),
    BeginPut(usize),
    BeginPutUnanswered(usize),
    Call(usize),
    Execute(usize),
    Acknowledge(usize),
    /// The caller has an error. The request may still be on its way.
    TimeOut(usize),
    LoseReply(usize),
    Pay(usize),
    ExecutePayment(usize),
    AcknowledgePayment(usize),
    LosePayment(usize),
    Replay(usize),
    ReplayInVain(usize),
    Evict(Key),
    Flush,
    Flood,
    Replicate,
    FailOver,
}

impl ThroughRedis {
    pub(super) fn steps_of_read(&self, state: &State, read: usize, steps: &mut Vec<Step>) {
        let process = &state.processes[self.reads[read]];
        match state.reads[read] {
            Reading::Start => {
                // Reads of one process are alike: they begin in their order.
                let alike = |other: &usize| self.reads[*other] == self.reads[read];
                let before = (0..read).rev().find(alike);
                if before.is_some_and(|other| state.reads[other] == Reading::Start) {
                    return;
                }
                if self.reads_now(process) {
                    steps.push(Step::Read(read));
                }
                if state.weather.silences > 0 {
                    steps.push(Step::ReadUnanswered(read));
                }
            }
            Reading::Missed { .. } => steps.push(Step::Enter(read)),
            Reading::InBody { .. } => steps.push(Step::Land(read)),
            Reading::Stores { .. } => steps.push(Step::Store(read)),
            Reading::Waits { .. } | Reading::Done => {}
        }
    }

    pub(super) fn steps_of_write(&self, state: &State, write: usize, steps: &mut Vec<Step>) {
        let (process, what) = self.writes[write];
        let loses = state.weather.losses > 0;
        match state.writes[write] {
            Writing::Start if matches!(what, Write::Put | Write::PutByValue) => {
                if self.reads_now(&state.processes[process]) {
                    steps.push(Step::BeginPut(write));
                }
                if state.weather.silences > 0 {
                    steps.push(Step::BeginPutUnanswered(write));
                }
            }
            Writing::Start | Writing::PutBegun(_) => steps.push(Step::Call(write)),
            Writing::Called { .. } => {
                steps.push(Step::Execute(write));
                if loses {
                    steps.push(Step::TimeOut(write));
                }
            }
            Writing::Executed { .. } => {
                steps.push(Step::Acknowledge(write));
                if loses {
                    steps.push(Step::LoseReply(write));
                }
            }
            Writing::Late { .. } => steps.push(Step::Execute(write)),
            Writing::Done => {}
        }
    }

    pub(super) fn steps_of_process(&self, state: &State, at: usize, steps: &mut Vec<Step>) {
        let process = &state.processes[at];
        match process.recovery {
            None if process.owes() && self.rules.recovery => {
                // In the code a read may begin it at any time; to try that where nothing can be lost is no use.
                let under_way = state.writes.iter().enumerate().any(|(write, how)| {
                    self.process_of_write(write) == at
                        && matches!(how, Writing::Called { .. } | Writing::Executed { .. })
                });
                if !under_way || self.weather.losses > 0 {
                    steps.push(Step::Pay(at));
                }
            }
            None => {}
            Some(Recovery { executed, .. }) => {
                steps.push(if executed {
                    Step::AcknowledgePayment(at)
                } else {
                    Step::ExecutePayment(at)
                });
                if state.weather.losses > 0 {
                    steps.push(Step::LosePayment(at));
                }
            }
        }
        if process.reconnects {
            steps.push(Step::Replay(at));
            if state.weather.losses > 0 {
                steps.push(Step::ReplayInVain(at));
            }
        }
    }

    pub(super) fn steps_of_weather(&self, state: &State, steps: &mut Vec<Step>) {
        let weather = &state.weather;
        if weather.evictions > 0 {
            let keys = [Key::Value, Key::Stamp, Key::Epoch, Key::Changes];
            let there = keys.into_iter().filter(|key| state.server.holds(*key));
            steps.extend(there.map(Step::Evict));
        }
        if weather.flushes > 0 {
            steps.push(Step::Flush);
        }
        if weather.floods > 0 {
            steps.push(Step::Flood);
        }
        if weather.failovers > 0 {
            steps.push(match state.replica {
                None => Step::Replicate,
                Some(_) => Step::FailOver,
            });
        }
    }

    pub(super) fn take(&self, state: &mut State, step: Step) {
        match step {
            Step::Read(read) => self.read(state, read),
            Step::ReadUnanswered(read) => {
                state.weather.silences -= 1;
                let must = self.promised_to(state, read);
                let tokens = Tokens::Unknown;
                state.reads[read] = Reading::Missed { must, tokens };
            }
            Step::Enter(read) => self.enter(state, read),
            Step::Land(read) => self.land(state, read),
            Step::Store(read) => {
                if let Reading::Stores { fence, version, .. } = state.reads[read] {
                    state.server.store(fence, version, &self.rules);
                }
                state.reads[read] = Reading::Done;
            }
            Step::BeginPut(write) => {
                let (process, what) = self.writes[write];
                state.writes[write] = Writing::PutBegun(match what {
                    Write::PutByValue => state.server.cache_tokens(&self.rules),
                    _ => state.server.tokens(process, &self.rules),
                });
            }
            Step::BeginPutUnanswered(write) => {
                state.weather.silences -= 1;
                state.writes[write] = Writing::PutBegun(None);
            }
            Step::Call(write) => self.call(state, write),
            Step::Execute(write) => self.execute(state, write),
            Step::Acknowledge(write) => self.acknowledge(state, write),
            Step::TimeOut(write) => {
                state.weather.losses -= 1;
                let Writing::Called {
                    version,
                    attempt,
                    put,
                } = state.writes[write]
                else {
                    unreachable!("it was called");
                };
                self.failed(state, write, attempt);
                state.writes[write] = Writing::Late { version, put };
            }
            Step::LoseReply(write) => {
                state.weather.losses -= 1;
                if let Writing::Executed { attempt, .. } = state.writes[write] {
                    self.failed(state, write, attempt);
                }
                state.writes[write] = Writing::Done;
            }
            Step::Pay(at) => {
                let process = &mut state.processes[at];
                let attempt = process.begin();
                let target = process.next_to_pay().expect("something is owed");
                process.recovery = Some(Recovery {
                    target,
                    attempt,
                    version: process.called,
                    executed: false,
                });
            }
            Step::ExecutePayment(at) => {
                let recovery = state.processes[at].recovery.as_mut().expect("under way");
                recovery.executed = true;
                state.server.invalidate(recovery.target, &self.rules);
            }
            Step::AcknowledgePayment(at) => {
                let recovery = state.processes[at].recovery.take().expect("under way");
                let Recovery {
                    target,
                    attempt,
                    version,
                    ..
                } = recovery;
                self.answered(state, at);
                self.paid(state, at, target, attempt, version);
            }
            Step::LosePayment(at) => {
                state.weather.losses -= 1;
                state.processes[at].recovery = None;
            }
            Step::Replay(at) => {
                self.replay(state, at);
                state.processes[at].reconnects = false;
                for (_, version) in state.processes[at].ring() {
                    state.promised = state.promised.max(version);
                }
                if self.rules.acknowledged_by_this_connection {
                    self.forget_replies(state, at);
                }
            }
            Step::ReplayInVain(at) => {
                state.weather.losses -= 1;
                self.replay(state, at);
            }
            Step::Evict(key) => {
                state.weather.evictions -= 1;
                state.server.evict(key);
            }
            Step::Flush => {
                state.weather.flushes -= 1;
                state.server.flush();
            }
            Step::Flood => {
                state.weather.floods -= 1;
                state.server.flood();
            }
            Step::Replicate => state.replica = Some((state.server.clone(), state.promised)),
            Step::FailOver => {
                state.weather.failovers -= 1;
                let (server, promised) = state.replica.take().expect("there is one");
                state.server.replaced_by(server);
                state.promised = promised;
                for process in &mut state.processes {
                    process.reconnects = true;
                }
            }
        }
    }

    /// What a call that begins now may rely on.
    fn promised_to(&self, state: &State, read: usize) -> Version {
        let process = &state.processes[self.reads[read]];
        state.promised.max(process.called)
    }

    fn read(&self, state: &mut State, read: usize) {
        let must = self.promised_to(state, read);
        let process = self.reads[read];
        let owed = state.processes[process].owes() && self.rules.poison;
        state.reads[read] = if owed && !self.rules.tokens_while_owed {
            let tokens = Tokens::Unknown;
            Reading::Missed { must, tokens }
        } else {
            match state.server.tokens(process, &self.rules) {
                None => Reading::Missed {
                    must,
                    tokens: Tokens::Missing,
                },
                Some(fence) => match state.server.read(&self.rules).filter(|_| !owed) {
                    Some(version) => {
                        state.wrong.stale |= version < must;
                        Reading::Done
                    }
                    None => Reading::Missed {
                        must,
                        tokens: Tokens::Known(fence),
                    },
                },
            }
        };
    }

    fn may_share(&self, one: Tokens, other: Tokens) -> bool {
        match (one, other) {
            (Tokens::Missing, _) | (_, Tokens::Missing)
                if self.rules.missing_tokens_share_nothing =>
            {
                false
            }
            (Tokens::Unknown, _) | (_, Tokens::Unknown)
                if self.rules.unknown_tokens_share_nothing =>
            {
                false
            }
            _ => one == other || !self.rules.compare_tokens,
        }
    }

    fn enter(&self, state: &mut State, read: usize) {
        let Reading::Missed { must, tokens } = state.reads[read] else {
            unreachable!("it has missed");
        };
        for leader in 0..self.reads.len() {
            if self.reads[leader] != self.reads[read] {
                continue;
            }
            match state.reads[leader] {
                Reading::InBody {
                    tokens: theirs,
                    joinable: true,
                    ..
                } if self.may_share(tokens, theirs) => {
                    state.reads[read] = Reading::Waits { must, leader };
                    return;
                }
                Reading::Stores {
                    fence,
                    version,
                    joinable: true,
                } if self.may_share(tokens, Tokens::Known(fence)) => {
                    state.wrong.shared |= version < must;
                    state.reads[read] = Reading::Done;
                    return;
                }
                _ => {}
            }
        }
        state.reads[read] = Reading::InBody {
            tokens,
            version: state.data,
            joinable: true,
        };
    }

    fn land(&self, state: &mut State, read: usize) {
        let Reading::InBody {
            mut tokens,
            version,
            joinable,
        } = state.reads[read]
        else {
            unreachable!("its body is over");
        };
        for waiting in &mut state.reads {
            if let Reading::Waits { must, leader } = *waiting
                && leader == read
            {
                state.wrong.shared |= version < must;
                *waiting = Reading::Done;
            }
        }
        let process = self.reads[read];
        if !self.rules.tokens_before_body {
            let now = state.server.tokens(process, &self.rules);
            tokens = now.map_or(Tokens::Missing, Tokens::Known);
        }
        let owed = state.processes[process].owes() && self.rules.store_nothing_owed;
        state.reads[read] = match tokens {
            Tokens::Known(fence) if joinable && !owed => Reading::Stores {
                fence,
                version,
                joinable,
            },
            _ => Reading::Done,
        };
    }

    /// Ends the loads of a process: nobody joins them, and they may not store. What is on its way to the server already is not
    /// called back.
    fn forget(&self, state: &mut State, process: usize) {
        for (read, at) in state.reads.iter_mut().enumerate() {
            if self.reads[read] == process
                && let Reading::InBody { joinable, .. } | Reading::Stores { joinable, .. } = at
            {
                *joinable = false;
            }
        }
    }

    fn target(&self, write: usize) -> Target {
        match self.writes[write].1 {
            Write::InvalidateAll => Target::All,
            Write::Invalidate | Write::Put | Write::PutByValue => Target::Key,
        }
    }

    fn call(&self, state: &mut State, write: usize) {
        let put = match state.writes[write] {
            Writing::PutBegun(fence) => fence, // without tokens it is an invalidation
            _ => None,
        };
        let at = self.process_of_write(write);
        state.data += 1;
        let version = state.data;
        self.forget(state, at);
        let process = &mut state.processes[at];
        process.called = version;
        let attempt = process.begin();
        let owed = put.is_none() || self.rules.failed_put_is_owed;
        if owed && self.rules.owed_from_the_beginning {
            process.owe(self.target(write), attempt);
        }
        state.writes[write] = Writing::Called {
            version,
            attempt,
            put,
        };
    }

    fn execute(&self, state: &mut State, write: usize) {
        let (Writing::Called { version, put, .. } | Writing::Late { version, put }) =
            state.writes[write]
        else {
            unreachable!("it was called");
        };
        match put {
            Some(fence) => {
                let by_value = self.writes[write].1 == Write::PutByValue;
                state.server.put(fence, by_value, version, &self.rules);
            }
            None => state.server.invalidate(self.target(write), &self.rules),
        }
        state.writes[write] = match state.writes[write] {
            Writing::Called {
                version, attempt, ..
            } => Writing::Executed { version, attempt },
            _ => Writing::Done,
        };
    }

    fn acknowledge(&self, state: &mut State, write: usize) {
        let Writing::Executed { version, attempt } = state.writes[write] else {
            unreachable!("it was executed");
        };
        let at = self.process_of_write(write);
        self.answered(state, at);
        self.paid(state, at, self.target(write), attempt, version);
        state.writes[write] = Writing::Done;
    }

    /// The backend has acknowledged an invalidation, or a put, of what was there before `version`.
    fn paid(&self, state: &mut State, at: usize, target: Target, attempt: u8, version: Version) {
        let process = &mut state.processes[at];
        process.paid(target, attempt, &self.rules);
        if self.weather.failovers > 0 {
            process.acknowledge(target, version);
        }
        // What the old connection said counts here; for others once it is replayed.
        if !process.reconnects {
            state.promised = state.promised.max(version);
        }
    }

    fn failed(&self, state: &mut State, write: usize, attempt: u8) {
        let at = self.process_of_write(write);
        self.answered(state, at);
        if !self.rules.owed_from_the_beginning {
            state.processes[at].owe(self.target(write), attempt);
        }
    }

    fn answered(&self, state: &mut State, at: usize) {
        if self.rules.forget_again {
            self.forget(state, at);
        }
    }

    fn replay(&self, state: &mut State, at: usize) {
        if self.rules.replay {
            for (target, _) in state.processes[at].ring() {
                state.server.remove(target);
            }
        }
    }

    /// What was executed before the connection was replaced, and whose reply has not been noticed yet, counts as failed.
    fn forget_replies(&self, state: &mut State, at: usize) {
        for write in 0..self.writes.len() {
            if self.process_of_write(write) == at
                && let Writing::Executed { attempt, .. } = state.writes[write]
            {
                self.failed(state, write, attempt);
                state.writes[write] = Writing::Done;
            }
        }
        let recovery = &mut state.processes[at].recovery;
        recovery.take_if(|recovery| recovery.executed);
    }
}
