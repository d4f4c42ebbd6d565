//! Which value is made up next: what to learn from a pass in which they were accepted, and from one that ended early.

use super::{
    made_up::candidates,
    shape::{AnyKind, Id, Shape},
    stop::Stop,
    tree::Tree,
};

impl Tree {
    /// The kind of value to make up where any is asked for.
    pub(super) fn any_kind(&self, id: Id) -> AnyKind {
        match self.nodes[id].shape {
            Shape::Any { kind, .. } => AnyKind::ALL[kind],
            _ => AnyKind::Unit,
        }
    }

    /// After a pass in which every made-up value was accepted: others are made up where they may lead elsewhere.
    pub(super) fn accepted(&mut self, is_new: bool) {
        self.progress |= is_new;
        for id in std::mem::take(&mut self.made_up) {
            match &mut self.nodes[id].shape {
                Shape::Any { kind, accepted, .. } => {
                    accepted.get_or_insert(*kind);
                    self.next_attempt(id);
                }
                // Each of the names stands for something else.
                Shape::Leaf { names: [_, ..], .. } => {
                    self.next_attempt(id);
                }
                _ => {}
            }
        }
    }

    /// After a pass that ended early: another value is made up for the node that is to blame, as far as that can be told,
    /// else for the last one for which there is another value.
    pub(super) fn refused(&mut self, stop: &Stop) {
        let is_blamed = |id: &Id| match *stop {
            Stop::Marked(node) => node == *id,
            Stop::Kind(refused) => {
                matches!(self.nodes[*id].shape, Shape::Any { .. }) && self.any_kind(*id) == refused
            }
            _ => false,
        };
        match (stop, self.last_map) {
            (Stop::Blocked | Stop::Learnt, _) => return,
            (Stop::Missing(name), Some(map)) if self.lacks_key(map, name) => {
                return self.want_keys(map, &[*name]);
            }
            _ => {}
        }
        let blamed = self.made_up.iter().copied().find(is_blamed);
        let others = std::mem::take(&mut self.made_up);
        for id in blamed.into_iter().chain(others.into_iter().rev()) {
            if self.next_attempt(id) {
                return;
            }
        }
    }

    /// Has another value made up for a node; `false` if there is no other, and the first one's turn comes again.
    fn next_attempt(&mut self, id: Id) -> bool {
        let node = &mut self.nodes[id];
        match &mut node.shape {
            Shape::Any { kind, accepted, .. } if !node.complete => {
                self.progress = true;
                *kind += 1;
                if *kind == AnyKind::ALL.len() {
                    *kind = accepted.unwrap_or(0);
                    node.complete = true;
                }
                true
            }
            Shape::Leaf {
                attempt,
                names,
                kind,
            } => {
                *attempt += 1;
                let all = if names.is_empty() {
                    candidates(kind)
                } else {
                    names.len()
                };
                if *attempt < all {
                    return true;
                }
                *attempt = 0;
                node.complete |= !names.is_empty();
                false
            }
            _ => false,
        }
    }
}
