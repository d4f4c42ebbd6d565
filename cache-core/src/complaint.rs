//! What is logged of a cache: once, or once per change of state; never per call.

use std::sync::{
    OnceLock,
    atomic::{AtomicBool, Ordering},
};

use tracing::{info, warn};

use crate::{backend::BackendError, error::CacheError};

/// What one cache has complained about already.
#[derive(Debug, Default)]
pub(crate) struct Complaints {
    value_type: OnceLock<()>,
    not_serializable: OnceLock<()>,
    key: OnceLock<()>,
    codec: OnceLock<()>,
    size: OnceLock<()>,
    entry: OnceLock<()>,
    backend_down: AtomicBool,
}

impl Complaints {
    /// Says why calls go past the cache, or values are not stored: once for every kind of reason.
    pub(crate) fn error(&self, cache: &str, error: &CacheError) {
        let said = match error {
            CacheError::ValueType { .. } => &self.value_type,
            CacheError::NotSerializable { .. } => &self.not_serializable,
            CacheError::Key { .. } => &self.key,
            CacheError::Codec { .. } => &self.codec,
            CacheError::TooLarge { .. } => &self.size,
            // Said where it comes up, or a matter of set-up.
            _ => return,
        };
        said.get_or_init(|| warn!(cache, "{error} (said once; the statistics go on counting)"));
    }

    /// Says that the backend holds an entry that is of no use to this program.
    pub(crate) fn unusable_entry(&self, cache: &str, why: &str) {
        self.entry.get_or_init(|| {
            warn!(
                cache,
                why,
                "an entry in the backend cannot be used: such entries are misses and are overwritten (said once; the statistics go on counting)"
            );
        });
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
