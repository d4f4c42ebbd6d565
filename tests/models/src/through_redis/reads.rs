//! What calls that read do in their process.

use super::{Reading, State, ThroughRedis, Tokens, Version};

impl ThroughRedis {
    /// What a call that begins now may rely on.
    pub(super) fn promised_to(&self, state: &State, read: usize) -> Version {
        let process = &state.processes[self.reads[read]];
        state.promised.max(process.called)
    }

    pub(super) fn read(&self, state: &mut State, read: usize) {
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

    pub(super) fn may_share(&self, one: Tokens, other: Tokens) -> bool {
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

    pub(super) fn enter(&self, state: &mut State, read: usize) {
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

    pub(super) fn land(&self, state: &mut State, read: usize) {
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
}
