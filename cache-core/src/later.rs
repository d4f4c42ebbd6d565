//! Values are dropped when no lock is held.
//!
//! The `Drop` of a user's value may do anything, call its own cache too. The store gives up values at times of its own, in
//! the middle of an operation on some other key, with its locks and ours held. So what it gives up during a [`Hold`] is
//! put aside, and dropped when the last hold of the thread is over.

use std::{cell::RefCell, sync::Arc};

use crate::memory::Held;

thread_local! {
    static LATER: RefCell<Later> = const {
        RefCell::new(Later {
            holds: 0,
            values: Vec::new(),
        })
    };
}

struct Later {
    holds: usize,
    values: Vec<Arc<Held>>,
}

/// While it lives, this thread drops no [`Kept`] value.
pub(crate) struct Hold(());

impl Hold {
    pub(crate) fn new() -> Self {
        let _ = LATER.try_with(|later| later.borrow_mut().holds += 1);
        Self(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // Dropped below, when `later` is not borrowed any more: they may well come here again.
        let _values = LATER.try_with(|later| {
            let mut later = later.borrow_mut();
            later.holds -= 1;
            if later.holds == 0 {
                std::mem::take(&mut later.values)
            } else {
                Vec::new()
            }
        });
    }
}

/// A value as the store has it.
#[derive(Clone)]
pub(crate) struct Kept(Option<Arc<Held>>);

impl Kept {
    pub(crate) fn new(held: Arc<Held>) -> Self {
        Self(Some(held))
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<&Held> {
        self.0.as_deref()
    }

    /// Takes the value out, to be dropped by the caller.
    pub(crate) fn into_inner(mut self) -> Option<Arc<Held>> {
        self.0.take()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let Some(held) = self.0.take() else { return };
        let mut held = Some(held);
        // At the end of a thread there is no place to put it, and nothing is held.
        let _ = LATER.try_with(|later| {
            let mut later = later.borrow_mut();
            if later.holds > 0 {
                later.values.extend(held.take());
            }
        });
    }
}
