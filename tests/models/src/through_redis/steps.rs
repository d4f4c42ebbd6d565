//! Which steps there are, and what each does.

use super::{Looking, Reading, Recovery, State, ThroughRedis, Tokens, Write, Writing, server::Key};

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
    Keep(usize),
    LookAtTokens(usize),
    LookAtEnd(usize),
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

    pub(super) fn steps_of_look(&self, state: &State, look: usize, steps: &mut Vec<Step>) {
        let may = self.may_look(state, look);
        match state.looks[look] {
            Looking::Start if may && state.server.copy(&self.rules).is_some() => {
                steps.push(Step::Keep(look));
            }
            Looking::Keeps(_) if may => steps.push(Step::LookAtTokens(look)),
            Looking::TokensSeen { .. } => steps.push(Step::LookAtEnd(look)),
            Looking::Start | Looking::Keeps(_) | Looking::Done => {}
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
                state.reads[read] = Reading::Missed {
                    must,
                    tokens: Tokens::Unknown,
                    older: Self::bodies_under_way(state),
                };
            }
            Step::Enter(read) => self.enter(state, read),
            Step::Land(read) => self.land(state, read),
            Step::Store(read) => {
                if let Reading::Stores { fence, version, .. } = state.reads[read] {
                    state.server.store(fence, version, &self.rules);
                }
                state.reads[read] = Reading::Done;
            }
            Step::Keep(look) => self.keep(state, look),
            Step::LookAtTokens(look) => self.look_at_tokens(state, look),
            Step::LookAtEnd(look) => self.look_at_end(state, look),
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
                // Both commands go over one connection, and that one is gone.
                for look in &mut state.looks {
                    if matches!(look, Looking::TokensSeen { .. }) {
                        *look = Looking::Done;
                    }
                }
            }
        }
    }
}
