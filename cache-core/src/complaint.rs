//! What is logged of a cache, once; never per call. What is logged of its backend is in [`line`](crate::line).

use std::sync::OnceLock;

use tracing::warn;

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
    runtime: OnceLock<()>,
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

    /// Says that the backend could not even be asked.
    pub(crate) fn outside_of_a_runtime(&self, cache: &str, error: &BackendError) {
        self.runtime.get_or_init(|| {
            warn!(cache, %error, "the backend could not be asked (said once; the statistics go on counting)");
        });
    }
}
