//! What calls do in a process that keeps copies and has them confirmed: `MGET s e` and `GETRANGE k`, which are two steps of the
//! server.

use super::{
    State, ThroughRedis, Version,
    server::{Copy, Token},
};

/// How far a call is that has its copy confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Looking {
    Start,
    /// Its process has read the entry at some time, and keeps it.
    Keeps(Copy),
    /// The first command is carried out. `must`: what the call may rely on.
    TokensSeen {
        copy: Copy,
        must: Version,
        epoch: Option<Token>,
    },
    Done,
}

impl ThroughRedis {
    pub(super) fn may_look(&self, state: &State, look: usize) -> bool {
        let process = &state.processes[self.looks[look]];
        self.reads_now(process) && !(process.owes() && self.rules.poison)
    }

    /// As late or as early before the call as you like.
    pub(super) fn keep(&self, state: &mut State, look: usize) {
        if let Some(copy) = state.server.copy(&self.rules) {
            state.looks[look] = Looking::Keeps(copy);
        }
    }

    /// The call begins, and `MGET s e` is carried out.
    pub(super) fn look_at_tokens(&self, state: &mut State, look: usize) {
        if let Looking::Keeps(copy) = state.looks[look] {
            let called = state.processes[self.looks[look]].called;
            state.looks[look] = Looking::TokensSeen {
                copy,
                must: state.promised.max(called),
                epoch: state.server.epoch(),
            };
        }
    }

    /// `GETRANGE k -TRAILER -1` is carried out.
    pub(super) fn look_at_end(&self, state: &mut State, look: usize) {
        if let Looking::TokensSeen { copy, must, epoch } = state.looks[look] {
            let same = state.server.ends_in(copy.store) || !self.rules.compare_trailer;
            let counts = epoch == Some(copy.epoch) || !self.rules.compare_epoch_of_copy;
            state.wrong.stale |= same && counts && copy.version < must;
            state.looks[look] = Looking::Done;
        }
    }
}
