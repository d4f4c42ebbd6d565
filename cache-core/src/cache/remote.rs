//! What a cache asks of its backend: always within a budget, and never with an error that a caller would see.

use std::{
    any::Any,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use tokio::time::timeout;

use super::{CacheInner, Soon};
use crate::{
    backend::{
        BackendError, BackendErrorKind, CacheBackend, Fence, FenceScope, NewEntry, Revalidated,
    },
    codec::{AnyValue, CodecError, Form},
    copies::Copied,
    entry::{self, Label, Labels},
    error::CacheError,
    flight::{Landing, Tokens},
    key::KeyText,
    limit,
    line::{Line, Pass, StorePlace},
    stats::Counters,
    value::ValueKind,
};

/// The answer of a backend to a look-up.
pub(super) enum Read {
    Hit(AnyValue),
    /// The same, of a cache that keeps what it has read.
    Confirmed(Copied),
    Miss(Tokens),
}

/// A value on its way into the backend.
pub(super) struct ToStore {
    new: NewEntry,
    place: StorePlace,
}

/// A look-up that waits for the backend. If its caller goes away meanwhile it has found nothing.
struct Undecided<'a>(&'a Counters);

impl Undecided<'_> {
    /// The caller is still there: what it comes to is for others to say.
    fn goes_on(self) {
        std::mem::forget(self);
    }
}

impl Drop for Undecided<'_> {
    fn drop(&mut self) {
        self.0.misses.one();
    }
}

impl CacheInner {
    /// Looks a key up in the backend. Whatever goes wrong is counted and is a miss.
    pub(super) async fn read(self: &Arc<Self>, key: &KeyText, kind: &ValueKind) -> Read {
        let (Some(backend), Some(form)) = (self.config.backend(), kind.form) else {
            return Read::Miss(Tokens::None);
        };
        if self.is_given_up() {
            return Read::Miss(Tokens::Unknown);
        }
        let undecided = Undecided(&self.counters);
        // What it holds of an owed key is not looked at. Its tokens are: other processes go on to invalidate, and whoever shares
        // a load has to know that none has since the load began.
        let owed = self.is_owed(key);
        let copies = self.copies.as_ref().filter(|_| !owed);
        let epoch = self.flights.epoch();
        let copy = copies.and_then(|copies| copies.get(key.as_str(), epoch));
        // For when there is no entry that counts.
        let forget = || {
            if let Some(copies) = copies {
                copies.forget(key.as_str());
            }
        };
        let answer = self.look_up(&**backend, key, copy.as_ref()).await;
        undecided.goes_on();
        let loaded = match (answer, copy) {
            (Err(_), _) => return Read::Miss(Tokens::Unknown),
            (Ok(Revalidated::Changed(loaded)), _) => loaded,
            (Ok(Revalidated::Same(fence)), Some(copy)) if copy.epoch() == fence.epoch => {
                return Read::Confirmed(copy);
            }
            (Ok(Revalidated::Same(fence)), _) => {
                self.counters.stale.one();
                forget();
                return Read::Miss(Tokens::Known(fence));
            }
        };
        let Some(fence) = loaded.fence else {
            return Read::Miss(Tokens::Missing);
        };
        let miss = Read::Miss(Tokens::Known(fence));
        let Some(bytes) = loaded.bytes.filter(|_| !owed) else {
            forget();
            return miss;
        };
        let opened = match entry::open(&bytes, &self.label(key, form)) {
            Ok(opened) => opened,
            Err(unreadable) => {
                self.unusable_entry(&unreadable.to_string());
                return miss;
            }
        };
        if opened.epoch != fence.epoch {
            self.counters.stale.one();
            return miss;
        }
        // A `Deserialize` of a user may panic; a bad entry must not become a failing call.
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            form.decode_part(&self.config.codec, opened.payload, &bytes)
        }));
        match decoded {
            Ok(Ok(value)) => match copies {
                Some(copies) => Read::Confirmed(copies.keep(key.as_str(), epoch, &opened, value)),
                None => Read::Hit(value),
            },
            Ok(Err(error)) => {
                self.unusable_entry(&error.to_string());
                miss
            }
            Err(_) => {
                self.unusable_entry("its `Deserialize` panicked");
                miss
            }
        }
    }

    /// What the backend says to a look-up, for a caller who has this copy.
    async fn look_up(
        &self,
        backend: &dyn CacheBackend,
        key: &KeyText,
        copy: Option<&Copied>,
    ) -> Result<Revalidated, CacheError> {
        let entry = self.id.entry(key.as_str());
        let limit = (!backend.keeps_read_budget()).then(|| backend.read_budget());
        match copy {
            Some(copy) => {
                let request = backend.revalidate(entry, copy.trailer());
                self.ask(limit, request).await
            }
            None => {
                let loaded = self.ask(limit, backend.load(entry)).await;
                loaded.map(Revalidated::Changed)
            }
        }
    }

    /// Stores what has landed, in a task of its own; its flight answers for the key meanwhile.
    pub(super) fn store_landed(
        self: &Arc<Self>,
        backend: &Arc<dyn CacheBackend>,
        key: &KeyText,
        landing: Landing,
        ToStore { new, place }: ToStore,
    ) {
        let (cache, backend, key) = (Arc::clone(self), Arc::clone(backend), key.clone());
        let store = async move {
            let request = backend.store(cache.id.entry(key.as_str()), new);
            let _ = cache.stored(cache.ask_to_store(backend.store_budget(), request).await);
            drop((place, landing.presence));
        };
        if self.background.spawn(store).is_none() {
            self.counters.store_failures.one();
            self.outside_of_a_runtime(limit::no_timers());
        }
    }

    /// What [`store_landed`](Self::store_landed) is to store, unless it cannot be stored, or too much is on its way already.
    pub(super) fn to_store(
        &self,
        key: &KeyText,
        value: &dyn Any,
        form: &Form,
        ttl: Option<Duration>,
        fence: Fence,
    ) -> Option<ToStore> {
        let new = self.seal(key, value, form, ttl, fence).ok()?;
        let line = self.line.as_ref()?;
        let place = line.stores.place(new.bytes.len());
        if place.is_none() {
            self.counters.store_failures.one();
            line.say_crowded(self.name());
        }
        Some(ToStore { new, place: place? })
    }

    /// Whether the backend may hold of this key what an invalidation was to end. Then that is not read, and nothing stored.
    pub(super) fn is_owed(self: &Arc<Self>, key: &KeyText) -> bool {
        let owed = self.owed.covers(key);
        if owed {
            self.recover();
        }
        owed
    }

    /// Whether the backend was given up for now: nothing is asked of it, and nothing waits for it.
    pub(super) fn is_given_up(&self) -> bool {
        self.line
            .as_ref()
            .is_some_and(|line| line.admit().is_none())
    }

    /// The error of what is not asked for that reason.
    pub(super) fn given_up(&self) -> CacheError {
        self.backend_error(BackendError::new(
            BackendErrorKind::Unavailable,
            "it has failed too often and is not asked until it answers again",
        ))
    }

    /// The answer of the backend to `request`, if it comes within `limit`; `None`: the backend keeps to its own. Whether it did
    /// is noted.
    pub(super) async fn ask<T>(
        &self,
        limit: impl Into<Option<Duration>>,
        request: impl Future<Output = Result<T, BackendError>>,
    ) -> Result<T, CacheError> {
        let (line, pass) = self.admitted()?;
        let answer = limit::ask(limit, request).await;
        self.answered(line, pass, answer)
    }

    /// The same for a store. That there is no room for it says nothing against the backend.
    async fn ask_to_store<T>(
        &self,
        budget: Duration,
        request: impl Future<Output = Result<T, BackendError>>,
    ) -> Result<T, CacheError> {
        let (line, pass) = self.admitted()?;
        match limit::ask(budget, request).await {
            Err(error) if error.kind() == BackendErrorKind::Capacity => {
                self.counters.backend_errors.one();
                line.say_full(self.name(), &error);
                Err(self.backend_error(error))
            }
            answer => self.answered(line, pass, answer),
        }
    }

    /// Leave to ask the backend, where there is a way to.
    pub(super) fn admitted(&self) -> Result<(&Arc<Line>, Pass), CacheError> {
        limit::timers().map_err(|error| self.outside_of_a_runtime(error))?;
        let line = self.line.as_ref();
        line.and_then(|line| Some((line, line.admit()?)))
            .ok_or_else(|| self.given_up())
    }

    /// Notes whether the backend answered.
    pub(super) fn answered<T>(
        &self,
        line: &Arc<Line>,
        pass: Pass,
        answer: Result<T, BackendError>,
    ) -> Result<T, CacheError> {
        match answer {
            Ok(answer) => {
                line.succeeded(pass);
                Ok(answer)
            }
            Err(error) => {
                self.counters.backend_errors.one();
                line.failed(pass, self.name(), &error);
                Err(self.backend_error(error))
            }
        }
    }

    /// Notes that something could not even be sent.
    pub(super) fn outside_of_a_runtime(&self, error: BackendError) -> CacheError {
        self.counters.backend_errors.one();
        self.complaints.outside_of_a_runtime(self.name(), &error);
        self.backend_error(error)
    }

    /// Runs `work` to its end in a task of its own. The future gives its outcome, and waits for it as long as a caller is to wait:
    /// `limit`.
    pub(super) fn acknowledged<T: Send + 'static>(
        self: &Arc<Self>,
        limit: Duration,
        work: impl Future<Output = Result<T, CacheError>> + Send + 'static,
    ) -> Soon<Result<T, CacheError>> {
        if let Err(error) = limit::timers() {
            return Soon::now(Err(self.outside_of_a_runtime(error)));
        }
        let Some(task) = self.background.spawn(work) else {
            return Soon::now(Err(self.outside_of_a_runtime(limit::no_timers())));
        };
        let cache = Arc::clone(self);
        Soon::later(async move {
            match timeout(limit, task).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(cache.backend_error(BackendError::new(
                    BackendErrorKind::Unavailable,
                    "the runtime ended before the backend had answered",
                ))),
                Err(_) => Err(cache.backend_error(limit::overdue())),
            }
        })
    }

    /// The bytes to store for a value, unless it cannot be stored: that is counted and said once.
    pub(super) fn seal(
        &self,
        key: &KeyText,
        value: &dyn Any,
        form: &Form,
        ttl: Option<Duration>,
        fence: Fence,
    ) -> Result<NewEntry, CacheError> {
        let cache = || self.name().to_owned();
        // As in `read`: a `Serialize` of a user may panic, and the value is returned all the same.
        let payload = catch_unwind(AssertUnwindSafe(|| form.encode(&self.config.codec, value)));
        let payload = payload.unwrap_or(Err(CodecError::PANICKED));
        let payload = payload.map_err(|error| {
            self.counters.store_failures.one();
            self.complain(CacheError::Codec {
                cache: cache(),
                error,
            })
        })?;
        let expires_at = ttl.map(|ttl| {
            let ttl = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
            self.clock.unix_millis().saturating_add(ttl)
        });
        let bytes = entry::seal(payload, &self.label(key, form), fence.epoch, expires_at);
        let limit = self
            .config
            .backend()
            .map_or(usize::MAX, |backend| backend.max_value_bytes());
        if bytes.len() > limit {
            self.counters.store_failures.one();
            let bytes = bytes.len();
            return Err(self.complain(CacheError::TooLarge {
                cache: cache(),
                bytes,
                limit,
            }));
        }
        Ok(NewEntry {
            bytes,
            ttl,
            fence,
            scope: FenceScope::Entry,
        })
    }

    /// Notes how a store ended.
    pub(super) fn stored(&self, answer: Result<bool, CacheError>) -> Result<(), CacheError> {
        answer
            .inspect_err(|_| self.counters.store_failures.one())
            .map(|stored| self.count_store(stored))
    }

    pub(super) fn count_store(&self, stored: bool) {
        if stored {
            self.counters.stores.one();
        } else {
            self.counters.stores_refused.one();
        }
    }

    fn label(&self, key: &KeyText, form: &Form) -> Label {
        let labels = self.labels.get_or_init(|| {
            Labels::new(
                &self.config.codec,
                form.fingerprint(),
                self.config.version,
                self.name(),
            )
        });
        labels.of(key.as_str())
    }

    /// Notes an entry that is of no use to this program.
    fn unusable_entry(&self, why: &str) {
        self.counters.decode_failures.one();
        self.complaints.unusable_entry(self.name(), why);
    }

    fn backend_error(&self, error: BackendError) -> CacheError {
        CacheError::Backend {
            cache: self.name().to_owned(),
            error,
        }
    }
}
