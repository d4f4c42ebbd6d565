//! Which steps there are, and what each does.

use super::{At, Caller, Ended, Entry, Flight, InProcess, Presence, Slot, State, Step, Version};

impl InProcess {
    /// The step that this caller takes next by itself, if it can take one.
    pub(super) fn next(&self, state: &State, caller: usize) -> Option<Step> {
        let step = self.due(state, caller)?;
        state.may_take(caller, step).then_some(step)
    }

    fn due(&self, state: &State, caller: usize) -> Option<Step> {
        let kind = self.callers[caller];
        Some(match state.callers[caller] {
            At::Start => match kind {
                Caller::Read | Caller::ReadOften => Step::Look,
                Caller::Evict => Step::Evict,
                Caller::Put | Caller::PutByValue => Step::BeginPut,
                Caller::Invalidate | Caller::InvalidateAll | Caller::InvalidateIf => Step::Write,
            },
            At::Found(_) => Step::LookAgain,
            At::Filling(_) => Step::Fill,
            At::Filled => Step::CheckFilled,
            At::Evicted(_) => Step::Announce,
            At::Missed { .. } => Step::Attend,
            At::Present { .. } => Step::Enter,
            At::Waits { flight, .. } => {
                state.flights[flight].ended?;
                Step::Wake
            }
            At::InBody { read: None, .. } => Step::BodyReads,
            At::InBody { .. } => Step::Land,
            At::Publishes { .. } => Step::Publish,
            At::Leaves { .. } => Step::Leave,
            At::Called { .. } => match kind {
                Caller::InvalidateAll => Step::NextEpoch,
                Caller::InvalidateIf => Step::CountChange,
                _ if self.rules.remove_under_lock => Step::Invalidate,
                _ => Step::Remove,
            },
            At::Counted { .. } => Step::InvalidateBusy,
            At::HalfDone { .. } => match kind {
                Caller::InvalidateAll => Step::ForgetLoads,
                Caller::InvalidateIf => Step::InvalidateFound,
                _ => Step::Invalidate,
            },
            At::PutBegun { .. } => Step::Write,
            At::PutWritten { me: None, .. } => Step::Attend,
            At::PutWritten { .. } => Step::Settle,
            At::Done => return None,
        })
    }

    /// What may befall this caller.
    pub(super) fn faults(&self, state: &State, caller: usize) -> Vec<Step> {
        let mut faults = Vec::new();
        match state.callers[caller] {
            At::InBody { read: Some(_), .. } if state.failures > 0 => {
                faults.push(Step::GiveUp { dropped: false });
            }
            At::Waits { flight, .. } => {
                let flight = &state.flights[flight];
                let under_way = flight.ended.is_none() && flight.leaders > 0;
                if under_way && (state.timeouts > 0 || !self.rules.patience) {
                    faults.push(Step::Relieve);
                }
            }
            _ => {}
        }
        if state.drops > 0 {
            match state.callers[caller] {
                At::InBody { .. } => faults.push(Step::GiveUp { dropped: true }),
                At::Present { .. } | At::Waits { .. } | At::PutWritten { .. } => {
                    faults.push(Step::Drop);
                }
                _ => {}
            }
        }
        faults
    }

    pub(super) fn take(&self, state: &mut State, caller: usize, step: Step) {
        let at = state.callers[caller];
        state.callers[caller] = match (step, at) {
            (Step::Look, _) => self.look(state, self.callers[caller]),
            (Step::LookAgain, At::Found(found)) => {
                if self.rules.fill_under_lock {
                    self.found(state).map_or(At::Done, At::Filling)
                } else {
                    state.front = Some(found);
                    At::Done
                }
            }
            (Step::Fill, At::Filling(found)) => {
                state.front = Some(found);
                At::Filled
            }
            (Step::CheckFilled, At::Filled) => {
                if state.entry.is_none() && self.rules.look_after_filling {
                    state.front = None;
                }
                At::Done
            }
            (Step::Evict, _) => match state.entry.take() {
                Some(entry) => At::Evicted(entry),
                None => At::Done,
            },
            (Step::Announce, At::Evicted(entry)) => {
                if self.rules.evictions_are_announced {
                    state.front.take_if(|front| *front == entry);
                }
                At::Done
            }
            (Step::Attend, At::Missed { must }) => At::Present {
                must,
                me: state.attend(),
            },
            (Step::Enter, At::Present { must, me }) => self.enter(state, must, me),
            (Step::BodyReads, At::InBody { me, flight, .. }) => At::InBody {
                me,
                flight,
                read: Some(state.data),
            },
            (Step::Land, At::InBody { me, flight, read }) => {
                let version = read.expect("the body is over");
                self.land(state, me, flight, version)
            }
            (Step::GiveUp { dropped }, At::InBody { me, flight, .. }) => {
                self.give_up(state, me, flight, dropped)
            }
            (Step::Publish, At::Publishes { me, flight, how }) => {
                // The first to end a flight says how it ended.
                state.flights[flight].ended.get_or_insert(how);
                me.map_or(At::Done, |me| At::Leaves { me })
            }
            (Step::Wake, At::Waits { must, me, flight }) => {
                match state.flights[flight].ended.expect("it is over") {
                    Ended::Landed(version) => {
                        state.wrong.stale |= version < must;
                        At::Leaves { me }
                    }
                    Ended::Without => At::Present { must, me },
                }
            }
            (Step::Relieve, At::Waits { me, flight, .. }) => {
                state.timeouts = state.timeouts.saturating_sub(1);
                state.flights[flight].leaders += 1;
                At::InBody {
                    me,
                    flight,
                    read: None,
                }
            }
            (Step::Leave, At::Leaves { me }) => {
                state.leave(me);
                At::Done
            }
            (Step::Drop, At::Present { me, .. } | At::Waits { me, .. }) => {
                state.drops -= 1;
                At::Leaves { me }
            }
            (Step::Drop, At::PutWritten { me, version, .. }) => {
                state.drops -= 1;
                if let Some(me) = me {
                    state.leave(me);
                }
                if self.rules.interrupted_put_invalidates {
                    At::Called { version }
                } else {
                    state.promise(version);
                    At::Done
                }
            }
            (Step::Write, At::Start) => {
                state.data += 1;
                let version = state.data;
                At::Called { version }
            }
            (Step::Remove, At::Called { version }) => {
                self.replace(state, None);
                At::HalfDone { version }
            }
            (Step::Invalidate, At::Called { version } | At::HalfDone { version }) => {
                if self.rules.remove_under_lock {
                    self.replace(state, None);
                }
                self.end_loads(state);
                state.promise(version);
                At::Done
            }
            (Step::NextEpoch, At::Called { version }) => {
                state.epoch += 1;
                At::HalfDone { version }
            }
            (Step::ForgetLoads, At::HalfDone { version }) => {
                if self.rules.all_forgets_loads {
                    state.slot = None;
                }
                state.promise(version);
                At::Done
            }
            (Step::CountChange, At::Called { version }) => {
                state.changes += 1;
                At::Counted { version }
            }
            (Step::InvalidateBusy, At::Counted { version }) => {
                if state.slot.is_some() {
                    self.end_loads(state);
                }
                At::HalfDone { version }
            }
            (Step::InvalidateFound, At::HalfDone { version }) => {
                let in_front = state.front.is_some() && self.rules.front_is_searched;
                if state.entry.is_some() || in_front {
                    self.replace(state, None);
                    self.end_loads(state);
                }
                state.promise(version);
                At::Done
            }
            (Step::BeginPut, _) => At::PutBegun {
                epoch: state.epoch,
                changes: state.changes,
                me: (self.callers[caller] == Caller::Put).then(|| state.attend()),
            },
            (Step::Write, At::PutBegun { me, epoch, changes }) => {
                state.data += 1;
                At::PutWritten {
                    me,
                    epoch,
                    changes,
                    version: state.data,
                }
            }
            (
                Step::Attend,
                At::PutWritten {
                    epoch,
                    changes,
                    version,
                    ..
                },
            ) => At::PutWritten {
                me: Some(state.attend()),
                epoch,
                changes,
                version,
            },
            (
                Step::Settle,
                At::PutWritten {
                    me: Some(me),
                    epoch,
                    changes,
                    version,
                },
            ) => {
                let changes = (self.callers[caller] == Caller::PutByValue).then_some(changes);
                self.settle(state, me, epoch, changes, version);
                At::Leaves { me }
            }
            (step, at) => unreachable!("{step:?} at {at:?}"),
        };
    }

    fn counts(&self, state: &State, entry: &Entry) -> bool {
        entry.epoch == state.epoch || !self.rules.compare_epochs
    }

    /// The entry in memory, if there is one that counts.
    fn found(&self, state: &State) -> Option<Entry> {
        state.entry.filter(|entry| self.counts(state, entry))
    }

    /// Has this entry be the one in memory, or none.
    fn replace(&self, state: &mut State, entry: Option<Entry>) {
        state.entry = entry;
        if self.rules.front_goes_too {
            state.front = None;
        }
    }

    fn look(&self, state: &mut State, kind: Caller) -> At {
        let must = state.promised;
        let in_front = state.front.filter(|entry| self.counts(state, entry));
        let Some(entry) = in_front.or_else(|| self.found(state)) else {
            return At::Missed { must };
        };
        state.wrong.stale |= entry.version < must;
        if kind == Caller::ReadOften && in_front.is_none() {
            At::Found(entry)
        } else {
            At::Done
        }
    }

    fn enter(&self, state: &mut State, must: Version, me: Presence) -> At {
        let mut me = me;
        let found = self.found(state);
        let slot = state.slot();
        if slot.id != me.slot {
            // An invalidation ended the slot this caller came to.
            slot.present += 1;
            me = Presence {
                slot: slot.id,
                puts: slot.puts,
            };
        }
        if let Some(flight) = slot.flight
            && state.flights[flight].ended.is_none()
        {
            state.wrong.joined |= state.flights[flight].began < must;
            return At::Waits { must, me, flight };
        }
        if let Some(entry) = found {
            if self.rules.look_again {
                state.wrong.stale |= entry.version < must;
                return At::Leaves { me };
            }
            state.wrong.needless = true;
        }
        let flight = state.flights.len();
        state.slot().flight = Some(flight);
        state.flights.push(Flight {
            epoch: state.epoch,
            began: state.data,
            leaders: 1,
            ended: None,
        });
        At::InBody {
            me,
            flight,
            read: None,
        }
    }

    fn land(&self, state: &mut State, me: Presence, flight: usize, version: Version) -> At {
        let Flight { epoch, ended, .. } = state.flights[flight];
        let slot = state.slot.as_mut().filter(|slot| slot.id == me.slot);
        let holds = slot.filter(|slot| slot.flight == Some(flight));
        let may = holds.is_some() || !self.rules.land_needs_flight;
        if let Some(slot) = holds {
            slot.flight = None;
        }
        let epoch = if self.rules.epoch_of_beginning {
            epoch
        } else {
            state.epoch
        };
        if may && epoch == state.epoch && ended.is_none() {
            self.replace(state, Some(Entry { version, epoch }));
        }
        state.leave(me);
        let how = Ended::Landed(version);
        At::Publishes {
            me: None,
            flight,
            how,
        }
    }

    fn give_up(&self, state: &mut State, me: Presence, flight: usize, dropped: bool) -> At {
        if dropped {
            state.drops -= 1;
            if !self.rules.guard {
                return At::Done;
            }
        } else {
            state.failures -= 1;
        }
        let leaders = &mut state.flights[flight].leaders;
        *leaders -= 1;
        if *leaders > 0 && self.rules.last_leader_ends {
            return At::Leaves { me };
        }
        if let Some(slot) = state.slot.as_mut().filter(|slot| slot.id == me.slot) {
            slot.flight.take_if(|held| *held == flight);
        }
        let how = Ended::Without;
        At::Publishes {
            me: Some(me),
            flight,
            how,
        }
    }

    fn end_loads(&self, state: &mut State) {
        state.changes += 1;
        if self.rules.invalidation_ends_loads {
            state.slot = None;
        }
    }

    fn settle(
        &self,
        state: &mut State,
        me: Presence,
        epoch: u8,
        changes: Option<u8>,
        version: Version,
    ) {
        let rules = self.rules;
        let (epoch_now, changes_now) = (state.epoch, state.changes);
        state.changes += 1;
        let slot = state.slot();
        let unchanged = (slot.id == me.slot || !rules.put_needs_slot)
            && (slot.puts == me.puts || !rules.put_counts_puts)
            && (epoch_now == epoch || !rules.put_keeps_epoch)
            && (changes.is_none_or(|changes| changes == changes_now) || !rules.put_counts_changes);
        slot.puts += 1;
        if rules.put_ends_loads {
            slot.flight = None;
        }
        if slot.present == 0 {
            state.slot = None;
        }
        let epoch = if rules.put_keeps_epoch {
            epoch
        } else {
            epoch_now
        };
        self.replace(state, unchanged.then_some(Entry { version, epoch }));
        state.promise(version);
    }
}

impl State {
    /// The slot; made if there is none.
    fn slot(&mut self) -> &mut Slot {
        let next = &mut self.next_slot;
        self.slot.get_or_insert_with(|| {
            *next += 1;
            Slot {
                id: *next,
                present: 0,
                puts: 0,
                flight: None,
            }
        })
    }

    fn attend(&mut self) -> Presence {
        let slot = self.slot();
        slot.present += 1;
        Presence {
            slot: slot.id,
            puts: slot.puts,
        }
    }

    fn leave(&mut self, me: Presence) {
        if let Some(slot) = self.slot.as_mut().filter(|slot| slot.id == me.slot) {
            slot.present -= 1;
            if slot.present == 0 {
                self.slot = None;
            }
        }
    }

    /// An invalidation of what was there before this version is over.
    fn promise(&mut self, version: Version) {
        self.promised = self.promised.max(version);
    }
}
