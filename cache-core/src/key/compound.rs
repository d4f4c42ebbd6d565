//! What [`Canonical`] writes piece by piece: sequences, structs and maps.

use serde::{Serialize, ser};

use super::{
    Fault, KeyError,
    canonical::{Canonical, Place},
};

/// Writes the elements of sequences and tuples.
pub(super) struct Items<'a> {
    canonical: Canonical<'a>,
    first: bool,
    close: &'static str,
    place: Place,
}

impl<'a> Items<'a> {
    pub(super) fn new(canonical: Canonical<'a>, place: Place, close: &'static str) -> Self {
        Self {
            canonical,
            first: true,
            close,
            place,
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), KeyError> {
        if !std::mem::take(&mut self.first) {
            self.canonical.text.push_str(",");
        }
        value.serialize(self.canonical.inner(self.place)?)
    }

    fn close(self) -> Result<(), KeyError> {
        self.canonical.text.push_str(self.close);
        Ok(())
    }
}

macro_rules! items {
    ($($trait:ident: $method:ident),*) => {$(
        impl ser::$trait for Items<'_> {
            type Ok = ();
            type Error = KeyError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), KeyError> {
                self.item(value)
            }

            fn end(self) -> Result<(), KeyError> {
                self.close()
            }
        }
    )*};
}

items! {
    SerializeSeq: serialize_element, SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field, SerializeTupleVariant: serialize_field
}

/// Writes the fields of structs, in the order in which they come.
pub(super) struct Fields<'a> {
    canonical: Canonical<'a>,
    first: bool,
    close: &'static str,
}

impl<'a> Fields<'a> {
    pub(super) fn new(canonical: Canonical<'a>, close: &'static str) -> Self {
        Self {
            canonical,
            first: true,
            close,
        }
    }
}

macro_rules! fields {
    ($($trait:ident),*) => {$(
        impl ser::$trait for Fields<'_> {
            type Ok = ();
            type Error = KeyError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), KeyError> {
                if !std::mem::take(&mut self.first) {
                    self.canonical.text.push_str(",");
                }
                self.canonical.text.push_quoted(name);
                self.canonical.text.push_str(":");
                value.serialize(self.canonical.inner(Place::Nested)?)
            }

            fn end(self) -> Result<(), KeyError> {
                self.canonical.text.push_str(self.close);
                Ok(())
            }
        }
    )*};
}

fields! { SerializeStruct, SerializeStructVariant }

/// Writes the entries of maps, sorted by the text of their keys.
pub(super) struct Entries<'a> {
    canonical: Canonical<'a>,
    /// Where the first entry begins.
    start: usize,
    entries: Vec<Entry>,
}

/// Where an entry lies in the buffer, without the comma behind it.
struct Entry {
    key: usize,
    key_end: usize,
    end: usize,
}

impl<'a> Entries<'a> {
    pub(super) fn new(canonical: Canonical<'a>) -> Self {
        Self {
            start: canonical.text.len(),
            canonical,
            entries: Vec::new(),
        }
    }

    /// Puts the entries in order. Those with one key text stay in the order in which they came: they come from
    /// several maps flattened into one, and which came first tells them apart.
    fn sort(&mut self) {
        let text = self.canonical.text.as_str();
        let key = |entry: &Entry| &text[entry.key..entry.key_end];
        if self.entries.is_sorted_by_key(key) {
            return;
        }
        self.entries.sort_by_key(key);
        let mut sorted = String::with_capacity(text.len() - self.start);
        for entry in &self.entries {
            if !sorted.is_empty() {
                sorted.push(',');
            }
            sorted.push_str(&text[entry.key..entry.end]);
        }
        self.canonical.text.truncate(self.start);
        self.canonical.text.push_str(&sorted);
    }
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = KeyError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), KeyError> {
        if !self.entries.is_empty() {
            self.canonical.text.push_str(",");
        }
        let key = self.canonical.text.len();
        value.serialize(self.canonical.inner(Place::Nested)?)?;
        let key_end = self.canonical.text.len();
        self.entries.push(Entry {
            key,
            key_end,
            end: key_end,
        });
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), KeyError> {
        self.canonical.text.push_str(":");
        value.serialize(self.canonical.inner(Place::Nested)?)?;
        // A value without a key comes from a `Serialize` that breaks the rules of serde.
        self.entries.last_mut().ok_or(Fault::Refused)?.end = self.canonical.text.len();
        Ok(())
    }

    fn end(mut self) -> Result<(), KeyError> {
        self.sort();
        self.canonical.text.push_str("}");
        Ok(())
    }
}
