//! What is within sequences, maps, structs and enums, as the trace gives it.

use serde::de::{Error, Unexpected};

use super::{
    shape::{Id, Names, Slot},
    stop::Stop,
    tracer::Tracer,
    tree::Tree,
};
use crate::codec::dynamic::{self, Ask, Entries, Given, Seed, Source, Taker};

/// The inside of a node that is being read.
pub(super) struct Inside<'t> {
    pub(super) tree: &'t mut Tree,
    pub(super) id: Id,
    pub(super) must_end: bool,
    pub(super) depth: usize,
}

impl Inside<'_> {
    pub(super) fn tracer(&mut self, slot: Slot) -> Tracer<'_> {
        Tracer::new(self.tree, slot, self.must_end, self.depth)
    }

    /// Whether something that need not be there is: every other time, beginning with the first.
    pub(super) fn has_content(&mut self) -> bool {
        let node = self.tree.node(self.id);
        if self.must_end {
            return false;
        }
        node.tries += 1;
        node.tries % 2 == 1
    }
}

/// A sequence of one element or a map of one entry, or an empty one.
pub(super) struct One<'i, 't> {
    inside: &'i mut Inside<'t>,
    slot: Option<Slot>,
    value: Slot,
}

impl<'i, 't> One<'i, 't> {
    /// Of a sequence, or of a map with that place for its value; without `slot`, an empty one.
    pub(super) fn new(inside: &'i mut Inside<'t>, slot: Option<Slot>, value: Slot) -> Self {
        Self {
            inside,
            slot,
            value,
        }
    }
}

impl<'de> dynamic::Items<'de> for One<'_, '_> {
    fn next(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        match self.slot.take() {
            Some(slot) => seed.read(&mut self.inside.tracer(slot)),
            None => Ok(()),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        None
    }
}

impl<'de> Entries<'de> for One<'_, '_> {
    fn key(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        dynamic::Items::next(self, seed)
    }

    fn value(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        seed.read(&mut self.inside.tracer(self.value))
    }

    fn size_hint(&self) -> Option<usize> {
        None
    }
}

/// A map with the keys that are known to be wanted.
pub(super) struct Keys<'i, 't> {
    inside: &'i mut Inside<'t>,
    keys: Vec<(&'static str, Slot)>,
    next: usize,
}

impl<'i, 't> Keys<'i, 't> {
    pub(super) fn new(inside: &'i mut Inside<'t>, keys: Vec<(&'static str, Slot)>) -> Self {
        Self {
            inside,
            keys,
            next: 0,
        }
    }
}

impl<'de> Entries<'de> for Keys<'_, '_> {
    fn key(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let Some(&(name, _)) = self.keys.get(self.next) else {
            return Ok(());
        };
        self.next += 1;
        seed.read(&mut Name(name))
    }

    fn value(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let (_, slot) = self
            .next
            .checked_sub(1)
            .and_then(|last| self.keys.get(last))
            .ok_or(Stop::Refused)?;
        seed.read(&mut self.inside.tracer(*slot))
    }

    fn size_hint(&self) -> Option<usize> {
        None
    }
}

/// The elements of a tuple, the fields of a struct or of a variant.
pub(super) struct Items<'i, 't> {
    inside: &'i mut Inside<'t>,
    variant: Option<usize>,
    len: usize,
    next: usize,
}

impl<'i, 't> Items<'i, 't> {
    pub(super) fn new(inside: &'i mut Inside<'t>, variant: Option<usize>, len: usize) -> Self {
        Self {
            inside,
            variant,
            len,
            next: 0,
        }
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.next == 0
    }

    fn value(&mut self, index: usize, seed: &mut dyn Seed<'_>) -> Result<(), Stop> {
        let slot = self.inside.tree.item(self.inside.id, self.variant, index);
        seed.read(&mut self.inside.tracer(slot))
    }
}

impl<'de> dynamic::Items<'de> for Items<'_, '_> {
    fn next(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        if self.next == self.len {
            return Ok(());
        }
        self.next += 1;
        self.value(self.next - 1, seed)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len - self.next)
    }
}

/// The same fields with their names.
pub(super) struct Named<'n, 'i, 't> {
    items: &'n mut Items<'i, 't>,
    names: Names,
}

impl<'n, 'i, 't> Named<'n, 'i, 't> {
    pub(super) fn new(items: &'n mut Items<'i, 't>, names: Names) -> Self {
        Self { items, names }
    }
}

impl<'de> Entries<'de> for Named<'_, '_, '_> {
    fn key(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let Some(&name) = self.names.get(self.items.next) else {
            return Ok(());
        };
        self.items.next += 1;
        seed.read(&mut Name(name))
    }

    fn value(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        let index = self.items.next.checked_sub(1).ok_or(Stop::Refused)?;
        self.items.value(index, seed)
    }

    fn size_hint(&self) -> Option<usize> {
        None
    }
}

/// The name of a field or of a variant.
struct Name(&'static str);

impl<'de> Source<'de> for Name {
    fn give(
        &mut self,
        ask: Ask,
        _by: &'static str,
        taker: &mut dyn Taker<'de>,
    ) -> Result<(), Stop> {
        match ask {
            Ask::Enum(..) => taker.take(Given::Enum(self)),
            _ => taker.take(Given::BorrowedStr(self.0)),
        }
    }

    fn is_human_readable(&self) -> bool {
        true
    }
}

impl Name {
    fn holds_nothing() -> Stop {
        Stop::invalid_type(Unexpected::UnitVariant, &"a variant that holds something")
    }
}

impl<'de> dynamic::Choice<'de> for Name {
    fn variant(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        seed.read(self)
    }

    fn unit(&mut self) -> Result<(), Stop> {
        Ok(())
    }

    fn newtype(&mut self, _: &mut dyn Seed<'de>) -> Result<(), Stop> {
        Err(Self::holds_nothing())
    }

    fn tuple(&mut self, _: usize, _: &mut dyn Taker<'de>) -> Result<(), Stop> {
        Err(Self::holds_nothing())
    }

    fn fields(&mut self, _: Names, _: &mut dyn Taker<'de>) -> Result<(), Stop> {
        Err(Self::holds_nothing())
    }
}

/// One variant of an enum.
pub(super) struct Choice<'i, 't> {
    inside: &'i mut Inside<'t>,
    name: &'static str,
    index: usize,
}

impl<'i, 't> Choice<'i, 't> {
    pub(super) fn new(inside: &'i mut Inside<'t>, name: &'static str, index: usize) -> Self {
        Self {
            inside,
            name,
            index,
        }
    }

    fn describe(&mut self, kind: &'static str, names: Names) {
        self.inside
            .tree
            .describe_variant(self.inside.id, self.index, kind, names);
    }

    fn items(&mut self, len: usize) -> Items<'_, 't> {
        Items::new(self.inside, Some(self.index), len)
    }
}

impl<'de> dynamic::Choice<'de> for Choice<'_, '_> {
    fn variant(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        seed.read(&mut Name(self.name))
    }

    fn unit(&mut self) -> Result<(), Stop> {
        self.describe("unit", &[]);
        Ok(())
    }

    fn newtype(&mut self, seed: &mut dyn Seed<'de>) -> Result<(), Stop> {
        self.describe("newtype", &[]);
        self.items(1).value(0, seed)
    }

    fn tuple(&mut self, len: usize, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        self.describe("tuple", &[]);
        taker.take(Given::Seq(&mut self.items(len)))
    }

    fn fields(&mut self, names: Names, taker: &mut dyn Taker<'de>) -> Result<(), Stop> {
        self.describe("struct", names);
        taker.take(Given::Seq(&mut self.items(names.len())))
    }
}
