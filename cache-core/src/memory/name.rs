//! Keys as moka has them.
//!
//! When moka's table grows, or is full of removed entries, it hashes the keys of all that are left. Most of them were not looked at for long,
//! so for each text the processor would wait for memory. That was two fifths of the time of a miss. So a key has its hash beside
//! it, and the text is only looked at where two are the same.

use std::{
    hash::{BuildHasher, Hash, Hasher, RandomState},
    sync::Arc,
};

use moka::Equivalent;

/// The key of an entry.
#[derive(PartialEq, Eq)]
pub(super) struct Name {
    hash: u64,
    pub(super) text: Arc<str>,
}

/// A key that is looked for.
pub(super) struct Wanted<'k> {
    hash: u64,
    text: &'k str,
}

/// Makes names: by a seed of its own, so that nobody outside can make keys that meet.
#[derive(Default)]
pub(super) struct Names(RandomState);

impl Names {
    pub(super) fn name(&self, text: Arc<str>) -> Name {
        Name {
            hash: self.0.hash_one(&*text),
            text,
        }
    }

    pub(super) fn wanted<'k>(&self, text: &'k str) -> Wanted<'k> {
        Wanted {
            hash: self.0.hash_one(text),
            text,
        }
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Hash for Wanted<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Equivalent<Name> for Wanted<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        self.hash == name.hash && *self.text == *name.text
    }
}

/// Takes the hash of a name for what it is.
#[derive(Clone, Default)]
pub(super) struct AsItIs(u64);

impl BuildHasher for AsItIs {
    type Hasher = Self;

    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for AsItIs {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a name is hashed already");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
