//! What is within sequences, maps, structs and enums, as the made-up deserializer gives it.

use serde::de::{
    DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
    value::BorrowedStrDeserializer,
};

use super::{
    shape::{Id, Names, Slot},
    stop::Stop,
    tracer::Tracer,
    tree::Tree,
};

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

impl<'de> SeqAccess<'de> for One<'_, '_> {
    type Error = Stop;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        let Some(slot) = self.slot.take() else {
            return Ok(None);
        };
        seed.deserialize(self.inside.tracer(slot)).map(Some)
    }
}

impl<'de> MapAccess<'de> for One<'_, '_> {
    type Error = Stop;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop> {
        seed.deserialize(self.inside.tracer(self.value))
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

impl<'de> MapAccess<'de> for Keys<'_, '_> {
    type Error = Stop;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        let Some((name, _)) = self.keys.get(self.next) else {
            return Ok(None);
        };
        self.next += 1;
        seed.deserialize(BorrowedStrDeserializer::new(name))
            .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop> {
        let (_, slot) = self
            .next
            .checked_sub(1)
            .and_then(|last| self.keys.get(last))
            .ok_or(Stop::Refused)?;
        seed.deserialize(self.inside.tracer(*slot))
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

    fn value<'de, S: DeserializeSeed<'de>>(
        &mut self,
        index: usize,
        seed: S,
    ) -> Result<S::Value, Stop> {
        let slot = self.inside.tree.item(self.inside.id, self.variant, index);
        seed.deserialize(self.inside.tracer(slot))
    }
}

impl<'de> SeqAccess<'de> for &mut Items<'_, '_> {
    type Error = Stop;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        if self.next == self.len {
            return Ok(None);
        }
        self.next += 1;
        self.value(self.next - 1, seed).map(Some)
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

impl<'de> MapAccess<'de> for Named<'_, '_, '_> {
    type Error = Stop;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Stop> {
        let Some(name) = self.names.get(self.items.next) else {
            return Ok(None);
        };
        self.items.next += 1;
        seed.deserialize(BorrowedStrDeserializer::new(name))
            .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Stop> {
        let index = self.items.next.checked_sub(1).ok_or(Stop::Refused)?;
        self.items.value(index, seed)
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
}

impl<'de> EnumAccess<'de> for Choice<'_, '_> {
    type Error = Stop;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Stop> {
        Ok((
            seed.deserialize(BorrowedStrDeserializer::<Stop>::new(self.name))?,
            self,
        ))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_, '_> {
    type Error = Stop;

    fn unit_variant(mut self) -> Result<(), Stop> {
        self.describe("unit", &[]);
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<S::Value, Stop> {
        self.describe("newtype", &[]);
        Items::new(self.inside, Some(self.index), 1).value(0, seed)
    }

    fn tuple_variant<V: Visitor<'de>>(mut self, len: usize, visitor: V) -> Result<V::Value, Stop> {
        self.describe("tuple", &[]);
        visitor.visit_seq(&mut Items::new(self.inside, Some(self.index), len))
    }

    fn struct_variant<V: Visitor<'de>>(
        mut self,
        names: Names,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.describe("struct", names);
        visitor.visit_seq(&mut Items::new(self.inside, Some(self.index), names.len()))
    }
}
