//! States that differ only in the names of things are one state.
//!
//! Random tokens are compared for equality, attempts for their order. So after each step tokens are renamed in the order in
//! which they stand in the state, and attempts to their rank: how many there have been before makes no difference.

use super::{
    Looking, Reading, State, ThroughRedis, Tokens, Writing, server::Fence, server::Stamps,
};

impl ThroughRedis {
    pub(super) fn rename(&self, state: &mut State) {
        if self.rules.stamps == Stamps::Random && self.rules.random_epochs {
            let mut seen = Vec::new();
            for token in state.tokens() {
                let known = seen.iter().position(|other| other == token);
                let place = known.unwrap_or_else(|| {
                    seen.push(*token);
                    seen.len() - 1
                });
                *token = number(place + 1);
            }
            state.server.given_out(number(seen.len()));
        }
        for process in 0..state.processes.len() {
            let mut seen: Vec<u8> = self
                .attempts(state, process)
                .map(|number| *number)
                .collect();
            seen.sort_unstable();
            seen.dedup();
            for attempt in self.attempts(state, process) {
                let rank = seen.binary_search(attempt).expect("it was seen");
                *attempt = number(rank + 1);
            }
            state.processes[process].begun(number(seen.len()));
        }
    }

    fn attempts<'a>(
        &'a self,
        state: &'a mut State,
        process: usize,
    ) -> impl Iterator<Item = &'a mut u8> {
        let writes = state.writes.iter_mut().enumerate();
        let of_writes = writes.filter_map(move |(write, at)| match at {
            Writing::Called { attempt, .. } | Writing::Executed { attempt, .. } => {
                (self.process_of_write(write) == process).then_some(attempt)
            }
            _ => None,
        });
        state.processes[process].numbers().chain(of_writes)
    }
}

impl State {
    fn tokens(&mut self) -> impl Iterator<Item = &mut u8> {
        let replica = self.replica.as_mut();
        let replica = replica.into_iter().flat_map(|(server, _)| server.numbers());
        let reads = self.reads.iter_mut().filter_map(|read| match read {
            Reading::Missed {
                tokens: Tokens::Known(fence),
                ..
            }
            | Reading::InBody {
                tokens: Tokens::Known(fence),
                ..
            }
            | Reading::Stores { fence, .. } => Some(fence),
            _ => None,
        });
        let writes = self.writes.iter_mut().filter_map(|write| match write {
            Writing::PutBegun(put) | Writing::Called { put, .. } | Writing::Late { put, .. } => {
                put.as_mut()
            }
            _ => None,
        });
        let fences = reads.chain(writes);
        let fences = fences.flat_map(|Fence { stamp, epoch }| [stamp, epoch]);
        let looks = self.looks.iter_mut().flat_map(|look| match look {
            Looking::Keeps(copy) => [Some(&mut copy.epoch), copy.store.as_mut(), None],
            Looking::TokensSeen { copy, epoch, .. } => {
                [Some(&mut copy.epoch), copy.store.as_mut(), epoch.as_mut()]
            }
            Looking::Start | Looking::Done => [None, None, None],
        });
        let looks = looks.flatten();
        self.server
            .numbers()
            .chain(replica)
            .chain(fences)
            .chain(looks)
    }
}

fn number(count: usize) -> u8 {
    u8::try_from(count).expect("there are few")
}
