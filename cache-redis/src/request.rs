//! What is sent, ready to be sent.

use cache_core::backend::EntryId;
use redis::{Cmd, Pipeline};

use crate::layout::{self, Slot};

/// What is sent in one write.
pub(crate) enum Request<'a> {
    One(&'a Cmd),
    /// The reply is an array of the replies of all commands.
    Many(&'a Pipeline),
}

impl Request<'_> {
    /// The bytes to send, and how many replies there will be.
    pub(crate) fn packed(&self) -> (Vec<u8>, usize) {
        match self {
            Request::One(command) => (command.get_packed_command(), 1),
            Request::Many(pipeline) => (pipeline.get_packed_pipeline(), pipeline.len()),
        }
    }
}

/// A look-up of an entry, ready to be sent.
pub(crate) struct Look {
    pub(crate) packed: Vec<u8>,
    pub(crate) replies: usize,
    /// Of the entry.
    pub(crate) slot: Slot,
}

/// `MGET entry stamp epoch`, ready to be sent.
pub(crate) fn pack_read(entry: EntryId<'_>) -> Look {
    let mut packed = Packed::for_entry(entry);
    packed.array(4);
    packed.string(&["MGET"]);
    let slot = packed.entry(entry);
    packed.tokens(entry, slot);
    Look {
        packed: packed.0,
        replies: 1,
        slot,
    }
}

/// `MGET stamp epoch` and `GETRANGE entry` for so many bytes at its end, ready to be sent.
pub(crate) fn pack_revalidation(entry: EntryId<'_>, end: usize) -> Look {
    let mut packed = Packed::for_entry(entry);
    // First the entry: the slot follows from its key, and what is in front of it from the slot.
    packed.array(4);
    packed.string(&["GETRANGE"]);
    let slot = packed.entry(entry);
    let mut number = itoa::Buffer::new();
    packed.string(&["-", number.format(end)]);
    packed.string(&["-1"]);
    let look_at_end = packed.0.len();
    packed.array(3);
    packed.string(&["MGET"]);
    packed.tokens(entry, slot);
    packed.0.rotate_left(look_at_end);
    Look {
        packed: packed.0,
        replies: 2,
        slot,
    }
}

/// Commands as they are sent: arrays of strings.
struct Packed(Vec<u8>);

impl Packed {
    /// With room for everything that looks at this entry.
    fn for_entry(entry: EntryId<'_>) -> Self {
        let cache = 3 * entry.cache().prefix().len();
        Self(Vec::with_capacity(160 + cache + entry.key_text().len()))
    }

    fn array(&mut self, elements: usize) {
        self.line(b'*', elements);
    }

    fn string(&mut self, parts: &[&str]) {
        self.line(b'$', parts.iter().map(|part| part.len()).sum());
        for part in parts {
            self.0.extend_from_slice(part.as_bytes());
        }
        self.0.extend_from_slice(b"\r\n");
    }

    fn line(&mut self, kind: u8, number: usize) {
        self.0.push(kind);
        let mut digits = itoa::Buffer::new();
        self.0.extend_from_slice(digits.format(number).as_bytes());
        self.0.extend_from_slice(b"\r\n");
    }

    /// The key of an entry.
    fn entry(&mut self, entry: EntryId<'_>) -> Slot {
        let (prefix, text) = (entry.cache().prefix(), entry.key_text());
        self.string(&[prefix, ":", text]);
        let end = self.0.len() - 2;
        layout::slot(&self.0[end - prefix.len() - 1 - text.len()..end])
    }

    /// The keys of its stamp and its epoch.
    fn tokens(&mut self, entry: EntryId<'_>, slot: Slot) {
        let space = layout::space(entry.cache().prefix());
        self.string(&layout::stamp_parts(&space, slot));
        self.string(&layout::epoch_parts(&space));
    }
}
