//! What a process owes, what it has been acknowledged, and how its connection is.

use super::{Rules, Target, Version};

/// One process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Process {
    /// The attempts that are owed, of the key and of the whole cache.
    key: Option<u8>,
    all: Option<u8>,
    attempts: u8,
    pub(super) recovery: Option<Recovery>,
    /// The version of the last write whose invalidation this process has called.
    pub(super) called: Version,
    /// The versions of acknowledged invalidations, of the key and of the whole cache: the ring.
    acknowledged: [Option<Version>; 2],
    /// Its connection is gone, and the next one leads to a server with another role or run id.
    pub(super) reconnects: bool,
}

/// An attempt to make good what is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Recovery {
    pub(super) target: Target,
    pub(super) attempt: u8,
    pub(super) version: Version,
    /// The server has done it; the reply is on its way.
    pub(super) executed: bool,
}

impl Process {
    pub(super) fn owes(&self) -> bool {
        self.key.is_some() || self.all.is_some()
    }

    pub(super) fn begin(&mut self) -> u8 {
        self.attempts += 1;
        self.attempts
    }

    pub(super) fn owe(&mut self, target: Target, attempt: u8) {
        match target {
            Target::Key => self.key = Some(attempt),
            Target::All => (self.key, self.all) = (None, Some(attempt)),
        }
    }

    pub(super) fn paid(&mut self, target: Target, attempt: u8, rules: &Rules) {
        let covered = |owed: &mut u8| *owed <= attempt || !rules.paid_in_order;
        self.key.take_if(covered);
        if target == Target::All {
            self.all.take_if(covered);
        }
    }

    /// What is tried next: the whole cache, if it is owed.
    pub(super) fn next_to_pay(&self) -> Option<Target> {
        let key = self.key.map(|_| Target::Key);
        self.all.map(|_| Target::All).or(key)
    }

    pub(super) fn acknowledge(&mut self, target: Target, version: Version) {
        let last = &mut self.acknowledged[target as usize];
        *last = (*last).max(Some(version));
    }

    /// What is to be replayed.
    pub(super) fn ring(&self) -> impl Iterator<Item = (Target, Version)> + use<> {
        let [key, all] = self.acknowledged;
        let key = key.map(|version| (Target::Key, version));
        key.into_iter()
            .chain(all.map(|version| (Target::All, version)))
    }

    pub(super) fn numbers(&mut self) -> impl Iterator<Item = &mut u8> {
        let recovery = self.recovery.as_mut();
        let recovery = recovery.map(|recovery| &mut recovery.attempt);
        self.key.iter_mut().chain(&mut self.all).chain(recovery)
    }

    pub(super) fn begun(&mut self, attempts: u8) {
        self.attempts = attempts;
    }
}
