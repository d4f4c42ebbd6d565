//! The server: what it holds, and what the commands of the protocol do, each in one step.

use super::{Rules, Target, Version};

/// Random ones are numbered, so that no two are equal.
pub(super) type Token = u8;

/// The two tokens that were in force when an entry was looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fence {
    pub(super) stamp: Token,
    pub(super) epoch: Token,
}

/// What a stamp is. Only the first is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// A fresh random token.
    Random,
    /// A number that an invalidation makes one more.
    Counted,
    /// A mark that an invalidation leaves behind; a store is refused while it stands.
    Tombstones,
    /// The name of the process that made it; an invalidation removes it.
    PerClient,
}

/// What Redis holds: `k`, `s`, `e` and `cs:+` of the protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Server {
    value: Option<Value>,
    stamp: Option<Token>,
    epoch: Option<Token>,
    changes: Option<Token>,
    /// It refuses what needs memory, and removes.
    full: bool,
    /// The last number that was given out.
    last: Token,
    /// Whether somebody looks at the numbers of stores. Else there are none, and fewer states.
    numbers_stores: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Value {
    version: Version,
    /// In its trailer.
    epoch: Token,
    /// In its trailer: the random number of the store that wrote it. A copy is known by it.
    store: Option<Token>,
}

/// What a process keeps of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copy {
    pub(super) version: Version,
    pub(super) epoch: Token,
    pub(super) store: Option<Token>,
}

/// What can be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Key {
    Value,
    Stamp,
    Epoch,
    Changes,
}

impl Server {
    /// One that holds an entry, if it is `warm`.
    pub(super) fn new(warm: bool, numbers_stores: bool) -> Self {
        let cold = Self {
            numbers_stores,
            ..Self::default()
        };
        if !warm {
            return cold;
        }
        Self {
            value: Some(Value {
                version: 0,
                epoch: 2,
                store: numbers_stores.then_some(3),
            }),
            stamp: Some(1),
            epoch: Some(2),
            last: 3,
            ..cold
        }
    }

    /// Another server, or the same one restarted, never gives a random token that was given before.
    pub(super) fn replaced_by(&mut self, other: Self) {
        let last = self.last;
        *self = Self { last, ..other };
    }

    fn fresh(&mut self) -> Token {
        self.last += 1;
        self.last
    }

    fn next_stamp(&mut self, rules: &Rules) -> Option<Token> {
        match rules.stamps {
            Stamps::Random => Some(self.fresh()),
            Stamps::Counted => Some(self.stamp.map_or(1, |stamp| stamp + 1)),
            Stamps::Tombstones => Some(0),
            Stamps::PerClient => None,
        }
    }

    fn next_epoch(&mut self, rules: &Rules) -> Token {
        if rules.random_epochs {
            self.fresh()
        } else {
            self.epoch.map_or(1, |epoch| epoch + 1)
        }
    }

    /// `MGET k s e`: the version, if it counts.
    pub(super) fn read(&self, rules: &Rules) -> Option<Version> {
        let epoch = self.epoch?;
        let value = self.value.as_ref()?;
        (value.epoch == epoch || !rules.epoch_in_trailer).then_some(value.version)
    }

    /// The same for a process that keeps it.
    pub(super) fn copy(&self, rules: &Rules) -> Option<Copy> {
        self.read(rules)?;
        let value = self.value.as_ref()?;
        Some(Copy {
            version: value.version,
            epoch: value.epoch,
            store: value.store,
        })
    }

    pub(super) fn epoch(&self) -> Option<Token> {
        self.epoch
    }

    /// `GETRANGE k -TRAILER -1`: whether it is the end of what that store has written.
    pub(super) fn ends_in(&self, store: Option<Token>) -> bool {
        self.value
            .as_ref()
            .is_some_and(|value| value.store == store)
    }

    fn entry(&mut self, version: Version, epoch: Token) -> Value {
        let store = self.numbers_stores.then(|| self.fresh());
        Value {
            version,
            epoch,
            store,
        }
    }

    /// The same as a read, once the tokens that are absent were created; `None` if they cannot be.
    pub(super) fn tokens(&mut self, process: usize, rules: &Rules) -> Option<Fence> {
        if self.stamp.is_none() && !self.full {
            self.stamp = match rules.stamps {
                Stamps::Random => Some(self.fresh()),
                Stamps::Counted => Some(1),
                Stamps::Tombstones => None,
                Stamps::PerClient => u8::try_from(process).ok(),
            };
        }
        self.create_epoch(rules);
        let stamp = match rules.stamps {
            Stamps::Tombstones => 0, // there is nothing to compare
            _ => self.stamp?,
        };
        let epoch = self.epoch?;
        Some(Fence { stamp, epoch })
    }

    /// For a put whose key is not known: in place of the stamp the token that every change replaces.
    pub(super) fn cache_tokens(&mut self, rules: &Rules) -> Option<Fence> {
        if self.changes.is_none() && !self.full {
            self.changes = Some(self.fresh());
        }
        self.create_epoch(rules);
        let (stamp, epoch) = (self.changes?, self.epoch?);
        Some(Fence { stamp, epoch })
    }

    fn create_epoch(&mut self, rules: &Rules) {
        if self.epoch.is_none() && !self.full {
            self.epoch = Some(self.next_epoch(rules));
        }
    }

    /// The script of a store. An absent token equals nothing.
    pub(super) fn store(&mut self, fence: Fence, version: Version, rules: &Rules) {
        let stamp = match rules.stamps {
            Stamps::Tombstones => self.stamp.is_none(),
            _ => self.stamp == Some(fence.stamp),
        };
        let may = stamp && self.epoch == Some(fence.epoch);
        if (may || !rules.fence) && !self.full {
            self.value = Some(self.entry(version, fence.epoch));
        }
    }

    pub(super) fn invalidate(&mut self, target: Target, rules: &Rules) {
        match target {
            Target::Key if self.full && !rules.full_removes_tokens => self.value = None,
            _ if self.full => self.remove(target),
            Target::Key => {
                self.value = None;
                self.stamp = self.next_stamp(rules);
                if rules.invalidation_replaces_changes {
                    self.replace_changes();
                }
            }
            // `XX`: an absent epoch refuses already.
            Target::All if self.epoch.is_some() => self.epoch = Some(self.next_epoch(rules)),
            Target::All => {}
        }
    }

    /// An invalidation that creates nothing: on a server that is full, and where it is said again to another server.
    pub(super) fn remove(&mut self, target: Target) {
        match target {
            Target::Key => (self.value, self.stamp) = (None, None),
            Target::All => self.epoch = None,
        }
        self.changes = None;
    }

    /// The script of a put.
    pub(super) fn put(&mut self, fence: Fence, by_value: bool, version: Version, rules: &Rules) {
        let guard = if by_value { self.changes } else { self.stamp };
        let may = guard == Some(fence.stamp) && self.epoch == Some(fence.epoch);
        if self.full {
            self.remove(Target::Key);
            return;
        }
        if rules.put_replaces_stamp {
            self.stamp = self.next_stamp(rules);
        }
        if rules.put_replaces_changes {
            self.replace_changes();
        }
        self.value = (may || !rules.put_compares).then(|| self.entry(version, fence.epoch));
    }

    /// Only where somebody holds it.
    fn replace_changes(&mut self) {
        if self.changes.is_some() {
            self.changes = Some(self.fresh());
        }
    }

    pub(super) fn holds(&self, key: Key) -> bool {
        match key {
            Key::Value => self.value.is_some(),
            Key::Stamp => self.stamp.is_some(),
            Key::Epoch => self.epoch.is_some(),
            Key::Changes => self.changes.is_some(),
        }
    }

    pub(super) fn evict(&mut self, key: Key) {
        match key {
            Key::Value => self.value = None,
            Key::Stamp => self.stamp = None,
            Key::Epoch => self.epoch = None,
            Key::Changes => self.changes = None,
        }
    }

    pub(super) fn flush(&mut self) {
        self.replaced_by(Self::new(false, self.numbers_stores));
    }

    pub(super) fn flood(&mut self) {
        self.full = !self.full;
    }

    pub(super) fn numbers(&mut self) -> impl Iterator<Item = &mut Token> {
        let tokens = [&mut self.stamp, &mut self.epoch, &mut self.changes];
        let value = self.value.as_mut().into_iter();
        let in_trailer = value
            .flat_map(|value| [Some(&mut value.epoch), value.store.as_mut()])
            .flatten();
        tokens.into_iter().flatten().chain(in_trailer)
    }

    pub(super) fn given_out(&mut self, numbers: Token) {
        self.last = numbers;
    }
}
