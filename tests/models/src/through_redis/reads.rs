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
        let older = Self::bodies_under_way(state);
        state.reads[read] = if owed && !self.rules.tokens_while_owed {
            Reading::Missed {
                must,
                tokens: Tokens::Unknown,
                older,
            }
        } else {
            match state.server.tokens(process, &self.rules) {
                None => Reading::Missed {
                    must,
                    tokens: Tokens::Missing,
                    older,
                },
                Some(fence) => match state.server.read(&self.rules).filter(|_| !owed) {
                    Some(version) => {
                        state.wrong.stale |= version < must;
                        Reading::Done
                    }
                    None => Reading::Missed {
                        must,
                        tokens: Tokens::Known(fence),
                        older,
                    },
                },
            }
        };
    }

    pub(super) fn bodies_under_way(state: &State) -> u8 {
        state
            .reads
            .iter()
            .enumerate()
            .filter(|(_, reading)| matches!(reading, Reading::InBody { .. }))
            .map(|(read, _)| 1 << read)
            .sum()
    }

    pub(super) fn may_share(&self, one: Tokens, other: Tokens) -> bool {
        match (one, other) {
            (Tokens::Missing, _) | (_, Tokens::Missing)
                if self.rules.missing_tokens_share_nothing =>
            {
                false
            }
            _ => one == other || !self.rules.compare_tokens,
        }
    }

    pub(super) fn enter(&self, state: &mut State, read: usize) {
        let Reading::Missed {
            must,
            tokens,
            older,
        } = state.reads[read]
        else {
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
                    let later = older & (1 << leader) == 0;
                    let takes_part = tokens != Tokens::Unknown
                        || later
                        || !self.rules.unknown_tokens_share_what_is_later;
                    // Else it stays, and enters again when that one is over.
                    if takes_part {
                        state.reads[read] = Reading::Waits { must, leader };
                    }
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
