//! Single flight, and the right to insert.
//!
//! # The idea
//!
//! Every key that somebody is busy with has a **slot** in a sharded table; a slot dies with the last caller that is
//! present in it. The slot is to one process what a stamp is to Redis: a random identity that an invalidation ends. To
//! invalidate a key is to take its slot out of the table. Whoever began before that still holds the old slot, finds it
//! gone when it comes back with its value, and may not store it; whoever comes after makes a slot of its own and never
//! meets the old load.
//!
//! A **flight** in a slot is one load under way. Its leader runs the body; others wait for it. When the leader is dropped
//! or panics, its guard ends the flight and wakes the waiters, who enter again: the first leads (with *its own* body, so
//! that bodies need not be `'static`), the rest wait for that one.
//!
//! # The invariants
//!
//! 1. A value enters the store only under the shard lock, only while the table holds the slot and the slot the flight that
//!    computed it. An invalidation takes the slot and the entry away under the same lock. So no value that was computed
//!    before an invalidation enters after it.
//! 2. A value carries the epoch in which its flight began, and counts only in that epoch. Clearing a cache is therefore one
//!    increment, and a late value of the old epoch is dead on arrival.
//! 3. A caller joins a flight only if both read the same tokens from the backend (in memory there are none, and invariant
//!    1 does it). A slot has a flight for each that was read, so that those who could not read any share one too. A backend is shared with other processes, whose invalidations this table does not see; but they replace a
//!    token, and a caller reads the tokens after it arrives. Equal tokens mean: no invalidation that was
//!    acknowledged before this caller arrived came after the flight began. Callers that got no answer cannot compare: each
//!    takes part only in a flight that began after it arrived, and waits for the end of one that began before.
//!
//! # The race at the end of a load
//!
//! A caller that reads the backend just before a value arrives there, and looks into the table just after the flight is over,
//! would load a second time. So it becomes present in the slot *before* it reads, and a landed flight stays in its slot,
//! with its value, until all that were present are gone.

use std::{
    any::Any,
    collections::{HashMap, hash_map::Entry},
    fmt,
    hash::BuildHasher,
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

use crate::{
    backend::Fence,
    later::Hold,
    limit::has_timer,
    memory::Held,
    sync::{
        AtomicU64, Instant, KeyHasher, Mutex, MutexGuard, Ordering, PoisonError, SHARDS,
        timeout_at, watch,
    },
};

/// An error that was cloned for those who waited.
pub(crate) type SharedError = Arc<dyn Any + Send + Sync>;

pub(crate) struct Flights {
    shards: Box<[Mutex<Shard>]>,
    hasher: KeyHasher,
    epoch: AtomicU64,
    /// Invalidations and puts, of any key.
    changes: AtomicU64,
    next_slot: AtomicU64,
}

/// The keys of one part of the table that somebody is busy with.
type Shard = HashMap<Arc<str>, Slot, KeyHasher>;

struct Slot {
    id: u64,
    present: usize,
    /// Arrivals of callers and beginnings of flights, counted together.
    events: u64,
    /// Puts that have ended here; see [`Presence::settle_put`].
    puts: u64,
    /// One for each state of the backend's tokens that callers have read, and one for those who could not read them.
    flights: Vec<Arc<Flight>>,
}

impl Slot {
    /// The next place in the order of arrivals and beginnings.
    fn next_event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    fn flight(&self, tokens: Tokens) -> Option<&Arc<Flight>> {
        self.flights
            .iter()
            .find(|flight| flight.tokens.agree(tokens))
    }

    fn holds(&self, flight: &Arc<Flight>) -> bool {
        self.flights.iter().any(|other| Arc::ptr_eq(other, flight))
    }

    fn remove(&mut self, flight: &Arc<Flight>) {
        self.flights.retain(|other| !Arc::ptr_eq(other, flight));
    }

    /// Adds a flight. Gives back the one it replaces and, if its tokens are newer, those that have landed under others.
    fn add(&mut self, flight: Arc<Flight>) -> Vec<Arc<Flight>> {
        if self.flights.is_empty() {
            self.flights.push(flight);
            return Vec::new();
        }
        let newer = flight.tokens.fence().is_some();
        let (stay, over) = std::mem::take(&mut self.flights)
            .into_iter()
            .partition(|other| !other.tokens.agree(flight.tokens) && (!other.is_over() || !newer));
        self.flights = stay;
        self.flights.push(flight);
        over
    }
}

/// What a caller knows of the tokens in force at the backend when it enters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokens {
    Known(Fence),
    /// There is no backend: what this process knows is all there is to know.
    None,
    /// The backend gave no answer. Another process may get one, and invalidate: a caller takes part in loads that began after it
    /// arrived, and waits for the end of the one that began before.
    Unknown,
    /// The backend answered, but has no tokens: a full server creates none. Invalidations of other processes go on and
    /// leave no trace, so a load is nobody's but its caller's.
    Missing,
}

impl Tokens {
    /// Whether two callers that know this may share a load.
    fn agree(self, other: Self) -> bool {
        self == other && self != Self::Missing
    }

    /// What a value may be stored with.
    pub(crate) fn fence(self) -> Option<Fence> {
        match self {
            Self::Known(fence) => Some(fence),
            Self::None | Self::Unknown | Self::Missing => None,
        }
    }
}

struct Flight {
    tokens: Tokens,
    /// Among the events of its slot.
    began: u64,
    epoch: u64,
    course: Mutex<Course>,
    leaders: Mutex<Leaders>,
}

/// How far a flight is.
enum Course {
    /// Under way, and nobody waits for it: then there is nobody to tell, and nothing to tell it by.
    Alone,
    Awaited(watch::Sender<Option<Ended>>),
    Over(Ended),
}

impl Flight {
    fn is_over(&self) -> bool {
        matches!(*lock(&self.course), Course::Over(_))
    }

    /// Where its end will be told; or that end.
    fn join(&self) -> Result<watch::Receiver<Option<Ended>>, Ended> {
        let mut course = lock(&self.course);
        match &*course {
            Course::Over(ended) => Err(ended.clone()),
            Course::Awaited(end) => Ok(end.subscribe()),
            Course::Alone => {
                let end = watch::Sender::new(None);
                let told = end.subscribe();
                *course = Course::Awaited(end);
                Ok(told)
            }
        }
    }

    /// The first to end it says how it ended.
    fn end(&self, how: Ended) {
        let mut course = lock(&self.course);
        if matches!(*course, Course::Over(_)) {
            return;
        }
        let before = std::mem::replace(&mut *course, Course::Over(how.clone()));
        drop(course);
        if let Course::Awaited(end) = before {
            end.send_if_modified(|ended| {
                *ended = Some(how);
                true
            });
        }
    }
}

struct Leaders {
    count: usize,
    last_began: Instant,
}

/// How a flight ended.
#[derive(Clone)]
pub(crate) enum Ended {
    Landed(Arc<Held>),
    /// The error, if it can be shared.
    Failed(Option<SharedError>),
    /// The leader was dropped or panicked, or its load is not one that this caller may take part in.
    Abandoned,
}

/// What a caller finds that looks for a load to join.
pub(crate) enum Entered {
    /// A value is there after all.
    Found(Arc<Held>),
    /// Nobody loads: this caller does.
    Lead(Lead),
    /// Somebody does: this caller waits.
    Join(Waiter),
}

impl Flights {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: KeyHasher::default(),
            epoch: AtomicU64::new(0),
            changes: AtomicU64::new(0),
            next_slot: AtomicU64::new(0),
        })
    }

    /// The epoch that counts. What began in another one is void.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// A number that every put raises, and every invalidation but those of the whole cache: they end its epoch.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// How many keys somebody is busy with.
    pub(crate) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    /// Makes the caller present at `key`, from before it reads anything.
    pub(crate) fn attend(self: &Arc<Self>, key: &str) -> Presence {
        let (key, number) = (Arc::from(key), self.number(key));
        self.attend_in(&mut self.locked(number), number, key)
    }

    fn attend_in(self: &Arc<Self>, shard: &mut Shard, number: usize, key: Arc<str>) -> Presence {
        let slot = self.slot(shard, &key);
        slot.present += 1;
        Presence {
            flights: Arc::clone(self),
            key,
            shard: number,
            slot: slot.id,
            arrived: slot.next_event(),
            puts: slot.puts,
        }
    }

    /// [`attend`](Self::attend) and [`Presence::enter`] in one step, for a caller that reads nothing in between.
    pub(crate) fn enter(
        self: &Arc<Self>,
        key: &str,
        counts: impl Fn(&Held) -> bool,
        look: impl FnOnce() -> Option<Arc<Held>>,
    ) -> Entered {
        let (key, number) = (Arc::from(key), self.number(key));
        let mut shard = self.locked(number);
        let presence = self.attend_in(&mut shard, number, key);
        presence.enter_in(shard, Tokens::None, counts, look)
    }

    /// Runs `act` while nobody else changes anything about `key`.
    pub(crate) fn undisturbed<T>(&self, key: &str, act: impl FnOnce() -> T) -> T {
        let shard = self.shard(key);
        let done = act();
        drop(shard);
        done
    }

    /// Ends every load of `key` that is under way: none of them may store. `remove` takes the entry away, under the same lock.
    pub(crate) fn invalidate<T>(&self, key: &str, remove: impl FnOnce() -> T) -> T {
        let mut shard = self.shard(key);
        self.changes.fetch_add(1, Ordering::AcqRel);
        let ended = shard.remove(key);
        let removed = remove();
        drop(shard);
        drop(ended); // values of users are dropped outside the lock
        removed
    }

    /// Ends every load of a key the predicate accepts. Who walks through the entries afterwards finds all that was stored
    /// before; what began before is not stored any more.
    pub(crate) fn invalidate_if(
        &self,
        predicate: &(dyn for<'k> Fn(&'k str) -> bool + Send + Sync),
    ) {
        // A put whose key its value will give has no slot yet; only this tells it. It comes before the locks below, which
        // wait for a put that has looked already.
        self.changes.fetch_add(1, Ordering::AcqRel);
        let busy = self
            .shards
            .iter()
            .flat_map(|shard| lock(shard).keys().cloned().collect::<Vec<_>>());
        for key in busy.filter(|key| predicate(key)) {
            self.invalidate(&key, || ());
        }
    }

    /// Ends every load and every entry of the cache.
    pub(crate) fn invalidate_all(&self) {
        // First the epoch: from here on nothing old counts, whatever is still in the table.
        self.epoch.fetch_add(1, Ordering::AcqRel);
        for shard in &self.shards {
            let ended = std::mem::take(&mut *lock(shard));
            drop(ended); // values of users are dropped outside the lock
        }
    }

    fn shard(&self, key: &str) -> Locked<'_> {
        self.locked(self.number(key))
    }

    /// In which shard a key is.
    fn number(&self, key: &str) -> usize {
        usize::try_from(self.hasher.hash_one(key) % SHARDS as u64).unwrap_or(0)
    }

    fn locked(&self, shard: usize) -> Locked<'_> {
        Locked {
            shard: lock(&self.shards[shard]),
            _hold: Hold::new(),
        }
    }

    fn slot<'a>(&self, shard: &'a mut Shard, key: &Arc<str>) -> &'a mut Slot {
        shard.entry(Arc::clone(key)).or_insert_with(|| Slot {
            id: self.next_slot.fetch_add(1, Ordering::Relaxed),
            present: 0,
            events: 0,
            puts: 0,
            flights: Vec::new(),
        })
    }
}

/// A shard, and no value dropped until it is unlocked.
struct Locked<'a> {
    // Unlocked before the hold ends: fields are dropped in this order.
    shard: MutexGuard<'a, Shard>,
    _hold: Hold,
}

impl Deref for Locked<'_> {
    type Target = Shard;

    fn deref(&self) -> &Shard {
        &self.shard
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Shard {
        &mut self.shard
    }
}

impl fmt::Debug for Flights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flights")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// No slot's.
const LEFT: u64 = u64::MAX;

/// A caller that is busy with a key. Dropping it leaves.
pub(crate) struct Presence {
    flights: Arc<Flights>,
    key: Arc<str>,
    /// Where the key is, so that it is hashed once less.
    shard: usize,
    /// [`LEFT`] once this caller has left.
    slot: u64,
    /// Among the events of the slot.
    arrived: u64,
    puts: u64,
}

impl Presence {
    /// Joins the load of this key, or leads one. `tokens` are what this caller has read from the backend; `counts` says whether
    /// a landed value is still good; `look` looks once more into memory, under the lock, so that a value that came in
    /// between is not loaded again.
    pub(crate) fn enter(
        mut self,
        tokens: Tokens,
        counts: impl Fn(&Held) -> bool,
        look: impl FnOnce() -> Option<Arc<Held>>,
    ) -> Entered {
        let flights = Arc::clone(&self.flights);
        let mut shard = flights.locked(self.shard);
        let slot = flights.slot(&mut shard, &self.key);
        if slot.id != self.slot {
            // An invalidation ended the slot this caller came to; it takes part in the new one.
            slot.present += 1;
            (self.slot, self.puts) = (slot.id, slot.puts);
            self.arrived = slot.next_event();
        }
        self.enter_in(shard, tokens, counts, look)
    }

    /// The same in a shard whose slot this caller is present in.
    fn enter_in(
        self,
        mut shard: Locked<'_>,
        tokens: Tokens,
        counts: impl Fn(&Held) -> bool,
        look: impl FnOnce() -> Option<Arc<Held>>,
    ) -> Entered {
        let slot = self.flights.slot(&mut shard, &self.key);
        let met = slot.flight(tokens).map(Arc::clone);
        if let Some(flight) = met {
            match flight.join() {
                Ok(ended) => {
                    drop(shard);
                    return Entered::Join(Waiter {
                        takes_part: tokens != Tokens::Unknown || flight.began > self.arrived,
                        presence: self,
                        flight,
                        ended,
                    });
                }
                Err(Ended::Landed(held)) if counts(&held) => {
                    drop(shard);
                    return Entered::Found(held);
                }
                Err(_) => {}
            }
        }
        if let Some(held) = look() {
            drop(shard);
            return Entered::Found(held);
        }
        let flight = Arc::new(Flight {
            tokens,
            began: slot.next_event(),
            epoch: self.flights.epoch(),
            course: Mutex::new(Course::Alone),
            leaders: Mutex::new(Leaders {
                count: 1,
                last_began: Instant::now(),
            }),
        });
        let replaced = slot.add(Arc::clone(&flight));
        drop(shard);
        drop(replaced);
        Entered::Lead(Lead {
            presence: Some(self),
            flight,
        })
    }

    /// The value of a load that has landed and is not in the backend yet, for a caller that does not load.
    pub(crate) fn landed(
        &self,
        tokens: Tokens,
        counts: impl Fn(&Held) -> bool,
    ) -> Option<Arc<Held>> {
        self.with_slot(|slot| match &*lock(&slot.flight(tokens)?.course) {
            Course::Over(Ended::Landed(held)) if counts(held) => Some(Arc::clone(held)),
            _ => None,
        })
        .flatten()
    }

    /// Ends a put: `insert` runs, under the lock, if nothing has invalidated the key and no other put has ended since this
    /// caller arrived (where `changes` is given: since that count of changes of the whole cache); else `remove` runs,
    /// because it is not known which value is the newer one. In both cases loads that are under way may no longer store.
    pub(crate) fn settle_put(
        &self,
        epoch: u64,
        changes: Option<u64>,
        insert: impl FnOnce(),
        remove: impl FnOnce(),
    ) -> bool {
        let mut shard = self.flights.locked(self.shard);
        let slot = self.flights.slot(&mut shard, &self.key);
        let unchanged = slot.id == self.slot
            && slot.puts == self.puts
            && self.flights.epoch() == epoch
            && changes.is_none_or(|changes| self.flights.changes() == changes);
        self.flights.changes.fetch_add(1, Ordering::AcqRel);
        slot.puts += 1;
        let ended = std::mem::take(&mut slot.flights);
        if slot.present == 0 {
            shard.remove(&self.key);
        }
        if unchanged {
            insert()
        } else {
            remove()
        }
        drop(shard);
        drop(ended);
        unchanged
    }

    /// Leaves its slot, which is over if this was the last.
    fn leave(&self, shard: &mut Shard) -> Option<Slot> {
        let Entry::Occupied(mut entry) = shard.entry(Arc::clone(&self.key)) else {
            return None;
        };
        let slot = entry.get_mut();
        if slot.id != self.slot {
            return None;
        }
        slot.present -= 1;
        (slot.present == 0).then(|| entry.remove())
    }

    /// Runs `act` on this caller's slot if it is still the one in the table.
    fn with_slot<T>(&self, act: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        let mut shard = self.flights.locked(self.shard);
        shard
            .get_mut(&self.key)
            .filter(|slot| slot.id == self.slot)
            .map(act)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if self.slot == LEFT {
            return;
        }
        let mut shard = self.flights.locked(self.shard);
        let ended = self.leave(&mut shard);
        drop(shard);
        drop(ended);
    }
}

/// The right to run the body, and to store what it gives. Dropping it hands over to a waiter.
pub(crate) struct Lead {
    /// `None` only once the flight is over.
    presence: Option<Presence>,
    flight: Arc<Flight>,
}

impl Lead {
    /// The epoch in which this load began.
    pub(crate) fn epoch(&self) -> u64 {
        self.flight.epoch
    }

    /// The tokens of the backend that were read before this load began.
    pub(crate) fn fence(&self) -> Option<Fence> {
        self.flight.tokens.fence()
    }

    /// Ends the load with a value to be stored: `insert` runs under the lock if this load still has the right to. With a
    /// backend the flight goes on to answer for its key while the returned presence lives.
    pub(crate) fn land(
        mut self,
        held: &Arc<Held>,
        insert: impl FnOnce(&Arc<str>, Arc<Held>),
    ) -> Landing {
        let mut presence = self.presence.take().expect("ends once");
        // In memory the entry answers from here on, so the leader leaves under the same lock.
        let stays = self.flight.tokens.fence().is_some();
        let flights = Arc::clone(&presence.flights);
        let mut shard = flights.locked(presence.shard);
        let allowed = match shard.get_mut(&*presence.key) {
            Some(slot) if slot.id == presence.slot => {
                let allowed = slot.holds(&self.flight)
                    && self.flight.epoch == flights.epoch()
                    && !self.flight.is_over();
                if allowed && !stays {
                    slot.remove(&self.flight);
                }
                allowed
            }
            _ => false,
        };
        let ended = if stays {
            None
        } else {
            let ended = presence.leave(&mut shard);
            presence.slot = LEFT;
            ended
        };
        if allowed {
            insert(&presence.key, Arc::clone(held));
        }
        drop(shard);
        drop(ended);
        self.flight.end(Ended::Landed(Arc::clone(held)));
        Landing { allowed, presence }
    }

    /// Ends the load with a value that is not to be stored; those who wait get it.
    pub(crate) fn share(mut self, held: &Arc<Held>) {
        let presence = self.presence.take().expect("ends once");
        self.leave_slot(&presence);
        self.flight.end(Ended::Landed(Arc::clone(held)));
    }

    /// Ends the load with an error. While another leader is still flying, those who wait go on to wait for that one.
    pub(crate) fn fail(mut self, error: Option<SharedError>) {
        self.give_up(Ended::Failed(error));
    }

    fn give_up(&mut self, ended: Ended) {
        let Some(presence) = self.presence.take() else {
            return;
        };
        let last = {
            let mut leaders = lock(&self.flight.leaders);
            leaders.count -= 1;
            leaders.count == 0
        };
        if last {
            self.leave_slot(&presence);
            self.flight.end(ended);
        }
    }

    /// Takes the flight out of its slot, so that nobody joins it any more.
    fn leave_slot(&self, presence: &Presence) {
        presence.with_slot(|slot| slot.remove(&self.flight));
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.give_up(Ended::Abandoned);
    }
}

/// The end of a load that gave a value.
pub(crate) struct Landing {
    /// Whether this load still had the right to store.
    pub(crate) allowed: bool,
    /// With a backend: keeps the landed flight answering until it is dropped. In memory the caller has left.
    pub(crate) presence: Presence,
}

/// A caller that waits for somebody else's load.
pub(crate) struct Waiter {
    presence: Presence,
    /// Else it only waits for the end, whatever that is.
    takes_part: bool,
    flight: Arc<Flight>,
    ended: watch::Receiver<Option<Ended>>,
}

/// Why a waiter waits no longer.
pub(crate) enum Waited {
    Over(Ended, Presence),
    /// It has waited long enough and runs the body beside the first leader.
    Lead(Lead),
}

impl Waiter {
    /// Waits until the flight is over, or until `lock_timeout` after `arrived` *and* after the last body that was begun: so
    /// one more body at most is begun per `lock_timeout`, however many wait.
    pub(crate) async fn wait(mut self, arrived: Instant, lock_timeout: Duration) -> Waited {
        let mut patience = arrived + lock_timeout;
        loop {
            let ended = async {
                let ended = self.ended.wait_for(Option::is_some).await;
                // It was told before the sender was dropped.
                ended
                    .ok()
                    .and_then(|ended| ended.clone())
                    .unwrap_or(Ended::Abandoned)
            };
            // Without a timer the leader alone decides.
            let ended = if has_timer() {
                timeout_at(patience, ended).await
            } else {
                Some(ended.await)
            };
            match ended {
                Some(ended) if self.takes_part => return Waited::Over(ended, self.presence),
                Some(_) => return Waited::Over(Ended::Abandoned, self.presence),
                None => match self.relieve(lock_timeout) {
                    Ok(()) => {
                        return Waited::Lead(Lead {
                            presence: Some(self.presence),
                            flight: self.flight,
                        });
                    }
                    Err(later) => patience = later,
                },
            }
        }
    }

    /// Becomes a leader beside those there are, unless one has begun too recently.
    fn relieve(&self, lock_timeout: Duration) -> Result<(), Instant> {
        let mut leaders = lock(&self.flight.leaders);
        let now = Instant::now();
        let due = leaders.last_began + lock_timeout;
        if due > now || leaders.count == 0 {
            return Err(due.max(now + Duration::from_millis(1)));
        }
        *leaders = Leaders {
            count: leaders.count + 1,
            last_began: now,
        };
        Ok(())
    }
}

/// A panic while a lock is held leaves nothing half done here, so poison is ignored.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
