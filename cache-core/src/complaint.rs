//! What is logged of a cache: once, or once per change of state; never per call.

use std::sync::atomic::{AtomicBool, Ordering};

use tracing::{info, warn};

use crate::backend::BackendError;

/// What one cache has complained about already.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    said: [AtomicBool; 6],
    backend_down: AtomicBool,
}

/// What a cache complains about once in its life.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Complaint {
    ValueType,
    NotSerializable,
    Key,
    Size,
    Codec,
    Entry,
}

impl Complaints {
    pub(crate) fn once(&self, complaint: Complaint, cache: &str, detail: impl FnOnce() -> String) {
        if !self.said[complaint as usize].swap(true, Ordering::Relaxed) {
            warn!(
                cache,
                "{} (said once per cache; the statistics go on counting)",
                detail()
            );
        }
    }

    pub(crate) fn backend_failed(&self, cache: &str, error: &BackendError) {
        if !self.backend_down.swap(true, Ordering::Relaxed) {
            warn!(cache, %error, "the backend fails: calls run their functions until it answers again");
        }
    }

    pub(crate) fn backend_answered(&self, cache: &str) {
        if self.backend_down.load(Ordering::Relaxed)
            && self.backend_down.swap(false, Ordering::Relaxed)
        {
            info!(cache, "the backend answers again");
        }
    }
}
