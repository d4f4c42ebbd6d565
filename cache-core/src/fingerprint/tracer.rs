//! Where the trace is: one place of the graph, and how what stands there is read.

use super::{
    shape::{Id, Names, Shape, Slot},
    stop::Stop,
    tree::Tree,
    within::{Inside, Items, Named},
};
use crate::codec::dynamic::{Given, Taker};

/// Types are not nested deeper than this, unless they never end.
const MAX_DEPTH: usize = 128;

/// Makes up the value of one place.
pub(super) struct Tracer<'t> {
    pub(super) tree: &'t mut Tree,
    pub(super) slot: Slot,
    /// Whether this is within a type that holds itself: then what can be left out is.
    must_end: bool,
    depth: usize,
}

impl<'t> Tracer<'t> {
    pub(super) fn root(tree: &'t mut Tree) -> Self {
        Self::new(tree, 0, false, 0)
    }

    pub(super) fn new(tree: &'t mut Tree, slot: Slot, must_end: bool, depth: usize) -> Self {
        Self {
            tree,
            slot,
            must_end,
            depth,
        }
    }

    pub(super) fn leaf(
        &mut self,
        kind: &'static str,
        visit: impl FnOnce(usize, Names) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let id = self.tree.local(self.slot, kind);
        let Shape::Leaf { attempt, names, .. } = self.tree.node(id).shape else {
            return Err(Stop::Refused);
        };
        let visited = visit(attempt, names);
        match visited {
            Ok(_) if names.is_empty() => self.tree.complete(id),
            Err(Stop::Unknown(names)) if !names.is_empty() => {
                self.tree.want_names(id, names);
                return Err(Stop::Learnt);
            }
            _ => {}
        }
        visited
    }

    /// Reads what is within a node that may hold itself.
    pub(super) fn within(
        &mut self,
        id: Id,
        read: impl FnOnce(&mut Inside<'_>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if self.depth == MAX_DEPTH {
            return Err(Stop::Blocked);
        }
        let node = self.tree.node(id);
        let must_end = self.must_end || node.active > 0;
        node.active += 1;
        let mut inside = Inside {
            tree: self.tree,
            id,
            must_end,
            depth: self.depth + 1,
        };
        let result = read(&mut inside);
        inside.tree.node(id).active -= 1;
        result
    }

    pub(super) fn fields<'de>(
        &mut self,
        by: &'static str,
        name: &'static str,
        names: Names,
        len: usize,
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop> {
        let make = |_: &mut Tree| Shape::Fields {
            name,
            names,
            slots: Vec::new(),
            by_name: false,
        };
        let id = self.tree.shared(by, self.slot, "fields", make);
        self.within(id, |inside| {
            let by_name = matches!(
                inside.tree.node(id).shape,
                Shape::Fields { by_name: true, .. }
            );
            let mut items = Items::new(inside, None, len);
            let read = if by_name {
                taker.take(Given::Map(&mut Named::new(&mut items, names)))
            } else {
                taker.take(Given::Seq(&mut items))
            };
            let untouched = items.is_untouched() && len > 0 && read.is_err();
            match read {
                Ok(_) => inside.tree.complete(id),
                Err(_) if untouched && !by_name => {
                    // It wants to read its fields by their names.
                    if let Shape::Fields { by_name, .. } = &mut inside.tree.node(id).shape {
                        *by_name = true;
                        return Err(Stop::Learnt);
                    }
                }
                Err(_) => {}
            }
            read
        })
    }
}
