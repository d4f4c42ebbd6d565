//! What becomes of a write: it is owed, executed, acknowledged; or it fails, and is made good. And what is said again to another
//! server.

use super::{Reading, State, Target, ThroughRedis, Version, Write, Writing};

impl ThroughRedis {
    /// Ends the loads of a process: nobody joins them, and they may not store. What is on its way to the server already is not
    /// called back.
    pub(super) fn forget(&self, state: &mut State, process: usize) {
        for (read, at) in state.reads.iter_mut().enumerate() {
            if self.reads[read] == process
                && let Reading::InBody { joinable, .. } | Reading::Stores { joinable, .. } = at
            {
                *joinable = false;
            }
        }
    }

    pub(super) fn target(&self, write: usize) -> Target {
        match self.writes[write].1 {
            Write::InvalidateAll => Target::All,
            Write::Invalidate | Write::Put | Write::PutByValue => Target::Key,
        }
    }

    pub(super) fn call(&self, state: &mut State, write: usize) {
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

    pub(super) fn execute(&self, state: &mut State, write: usize) {
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

    pub(super) fn acknowledge(&self, state: &mut State, write: usize) {
        let Writing::Executed { version, attempt } = state.writes[write] else {
            unreachable!("it was executed");
        };
        let at = self.process_of_write(write);
        self.answered(state, at);
        self.paid(state, at, self.target(write), attempt, version);
        state.writes[write] = Writing::Done;
    }

    /// The backend has acknowledged an invalidation, or a put, of what was there before `version`.
    pub(super) fn paid(
        &self,
        state: &mut State,
        at: usize,
        target: Target,
        attempt: u8,
        version: Version,
    ) {
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

    pub(super) fn failed(&self, state: &mut State, write: usize, attempt: u8) {
        let at = self.process_of_write(write);
        self.answered(state, at);
        if !self.rules.owed_from_the_beginning {
            state.processes[at].owe(self.target(write), attempt);
        }
    }

    pub(super) fn answered(&self, state: &mut State, at: usize) {
        if self.rules.forget_again {
            self.forget(state, at);
        }
    }

    pub(super) fn replay(&self, state: &mut State, at: usize) {
        if self.rules.replay {
            for (target, _) in state.processes[at].ring() {
                state.server.remove(target);
            }
        }
    }

    /// What was executed before the connection was replaced, and whose reply has not been noticed yet, counts as failed.
    pub(super) fn forget_replies(&self, state: &mut State, at: usize) {
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
