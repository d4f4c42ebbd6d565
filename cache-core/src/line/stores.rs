//! How much may be on its way into a backend.
//!
//! Nobody waits for a store, so nothing slows callers down when the backend takes in less than they load. What is under way
//! is bounded instead: what does not find a place is not stored, and whoever wants it next loads it again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const MAX_ENTRIES: usize = 1024;
const MAX_BYTES: usize = 16 << 20;

#[derive(Clone, Debug, Default)]
pub(crate) struct Stores(Arc<Mutex<UnderWay>>);

#[derive(Debug, Default)]
struct UnderWay {
    entries: usize,
    bytes: usize,
}

/// The place of one entry on its way; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct StorePlace {
    stores: Stores,
    bytes: usize,
}

impl Stores {
    /// A place for an entry of that size, if there is one.
    pub(crate) fn place(&self, bytes: usize) -> Option<StorePlace> {
        let mut under_way = self.lock();
        let fits = under_way.entries < MAX_ENTRIES && under_way.bytes + bytes <= MAX_BYTES;
        // One that is larger than all places together, which a backend may allow, goes alone.
        (fits || under_way.entries == 0).then(|| {
            under_way.entries += 1;
            under_way.bytes += bytes;
            StorePlace {
                stores: self.clone(),
                bytes,
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StorePlace {
    fn drop(&mut self) {
        let mut under_way = self.stores.lock();
        under_way.entries -= 1;
        under_way.bytes -= self.bytes;
    }
}
