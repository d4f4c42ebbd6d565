//! A number for the structure of a type, by which an entry of another type is known.
//!
//! The compact codecs decode bytes of an old type as a new one without an error, and wrongly: two fields change places,
//! an `i64` becomes a `u64`. So every entry carries the fingerprint of its type. A field added, removed, renamed, moved or
//! retyped, a variant added, a type renamed, all of that at any depth, gives another one. `Box<T>`, `Arc<T>` and `T` have
//! the same: their bytes are the same.
//!
//! # How
//! There is no reflection, but there is `Deserialize`: a type says what it wants to read. [`trace`] answers with made-up
//! values, again and again, until it has seen every variant and every option from within; what was asked becomes a graph
//! of types, and recursive types a cycle in it. [`record`] adds what the values obtained in this way serialise to.
//! Nothing in it depends on the process, the platform or the build.
//!
//! Where the trace cannot see everything (`untagged` and internally tagged enums, `flatten`, a `Deserialize` that accepts
//! none of the made-up values) the type's name goes in as well: still the same for the same program, but blind to some
//! changes in those types. The `version` of a cache is for these.

mod attempts;
mod hash;
mod made_up;
mod record;
mod shape;
mod stop;
mod trace;
mod tracer;
mod tree;
mod within;

#[cfg(test)]
mod tests;

use std::{
    any::{TypeId, type_name},
    collections::{BTreeSet, HashMap},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{LazyLock, PoisonError, RwLock},
};

use serde::{Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::Xxh3;

pub(crate) use self::stop::Stop;
use self::{tracer::Tracer, tree::Tree};
use crate::codec::{
    any_value::{NewPlace, place},
    can_be_read_by_place,
    dynamic::{Seed, Source},
};

/// Types of any size are finished long before; this ends the rest.
const MAX_PASSES: usize = 4_096;

/// So many passes may bring nothing new before what is still missing is given up.
const MAX_IDLE_PASSES: usize = 128;

/// What is known of the structure of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    /// Stands for the type.
    pub(crate) fingerprint: u64,
    /// Whether values can be read back by the place of their fields, without names.
    pub(crate) positional: bool,
}

/// A type, without naming it: exploring it is compiled once.
pub(crate) struct Subject {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
    place: NewPlace,
}

/// The structure of a type: found out at the first call, looked up at the others.
pub(crate) fn of(subject: &Subject) -> Structure {
    static KNOWN: LazyLock<RwLock<HashMap<TypeId, Structure>>> = LazyLock::new(RwLock::default);
    // The table is never left half changed, so a panic elsewhere does not spoil it.
    if let Some(known) = KNOWN
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&subject.id())
    {
        return *known;
    }
    // Without the lock: this runs code of the user.
    let structure = subject.find_out();
    KNOWN
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(subject.id(), structure);
    structure
}

impl Subject {
    pub(crate) const fn of<V: Serialize + DeserializeOwned + Send + Sync + 'static>() -> Self {
        Self {
            id: TypeId::of::<V>,
            name: type_name::<V>,
            place: place::<V>,
        }
    }

    pub(crate) fn id(&self) -> TypeId {
        (self.id)()
    }

    pub(crate) fn name(&self) -> &'static str {
        (self.name)()
    }

    fn find_out(&self) -> Structure {
        let explored = self.explore();
        // The name where the structure is not all there is.
        let name = if explored.complete { "" } else { (self.name)() };
        Structure {
            fingerprint: explored.hash(name),
            positional: explored.positional,
        }
    }
}

/// Reads a value, to see whether that is possible.
struct Again(NewPlace);

impl<'de> Seed<'de> for Again {
    fn read(&mut self, source: &mut dyn Source<'de>) -> Result<(), Stop> {
        (self.0)().read(source)
    }
}

/// All that was found out about a type.
struct Explored {
    tree: Tree,
    /// The structures that its values were written in.
    samples: BTreeSet<u64>,
    /// Whether everything was seen.
    complete: bool,
    positional: bool,
}

impl Explored {
    fn hash(&self, name: &str) -> u64 {
        let mut hasher = Xxh3::new();
        self.tree.hash(&mut hasher);
        for sample in &self.samples {
            hasher.update(&sample.to_le_bytes());
        }
        hasher.update(name.as_bytes());
        hasher.digest()
    }
}

impl Subject {
    fn explore(&self) -> Explored {
        let mut tree = Tree::default();
        let mut samples = BTreeSet::new();
        let mut positional = true;
        let mut complete = false;
        let mut idle = 0;
        for _ in 0..MAX_PASSES {
            tree.begin_pass();
            // A `Deserialize` may well panic on a made-up value.
            let pass = catch_unwind(AssertUnwindSafe(|| {
                let mut place = (self.place)();
                place.read(&mut Tracer::root(&mut tree))?;
                let value = place.read_value().expect("it was read");
                let is_new =
                    record::structure_of(value).is_some_and(|sample| samples.insert(sample));
                Ok((
                    is_new,
                    !is_new || can_be_read_by_place(value, &mut Again(self.place)),
                ))
            }));
            match pass {
                Ok(Ok((is_new, by_place))) => {
                    positional &= by_place;
                    tree.accepted(is_new);
                }
                Ok(Err(stop)) => tree.refused(&stop),
                Err(_panic) => break,
            }
            complete = tree.is_complete();
            idle = if tree.made_progress() { 0 } else { idle + 1 };
            if complete || idle > MAX_IDLE_PASSES {
                break;
            }
        }
        let describes_itself = tree.describes_itself();
        Explored {
            tree,
            samples,
            complete: complete && !describes_itself,
            positional: positional && !describes_itself,
        }
    }
}
