//! Where things are in Redis.
//!
//! | key | holds | lives |
//! |---|---|---|
//! | `<prefix>:<key text>` | an entry | as long as it was stored for |
//! | `cs:<space>:{tag}` | the stamp shared by all entries of one slot | 24 hours |
//! | `cs:<space>:e` | the epoch of the cache | 24 hours, and never shorter than an entry stored under it |
//! | `cs:+:<space>` | a token that every change of the cache replaces, where a put of unknown key asked for one | 24 hours |
//! | `cs:~` | what was written last to find out whether the server can be written to | 24 hours |
//!
//! **The space follows from the prefix, not from the name.** Stamps and epochs guard entries, and an entry is what
//! stands under its key: two programs that use one prefix share entries and have to share what guards them, whatever
//! they call the cache; two programs with one name and different prefixes share nothing, and clearing one must not
//! clear the other. For the prefix `cache:<name>` the space is the name; any other prefix is written after a `=`, which
//! no name begins with, with everything but letters, digits and `.` `_` `/` `-` percent-encoded. So no two prefixes meet,
//! no space is the beginning of another, and no brace gets in the way of the tag.
//!
//! **The tag** is the shortest text that belongs to the hash slot of the entry. A Redis Cluster keeps keys of one slot on
//! one server, so a script may touch the entry and its stamp together. On a single server the slots are merely 16 384
//! stripes that stamps are shared by.

use std::{borrow::Cow, fmt::Write as _, sync::LazyLock};

use cache_core::backend::{CacheId, EntryId};

/// The number of hash slots of Redis.
pub(crate) const SLOTS: usize = 16_384;

/// One of them.
pub(crate) type Slot = u16;

/// Written to find out whether that is possible. No space begins with a `~`.
pub(crate) const PROBE_KEY: &str = "cs:~";

/// The three keys that belong to an entry.
pub(crate) struct Keys {
    pub(crate) value: String,
    pub(crate) stamp: String,
    pub(crate) epoch: String,
}

impl Keys {
    pub(crate) fn of(entry: EntryId<'_>) -> Self {
        let value = concat(&[entry.cache().prefix(), ":", entry.key_text()]);
        let space = space(entry.cache().prefix());
        let stamp = concat(&stamp_parts(&space, slot(value.as_bytes())));
        let epoch = concat(&epoch_parts(&space));
        Self {
            value,
            stamp,
            epoch,
        }
    }
}

/// What the key of a stamp is put together of.
pub(crate) fn stamp_parts(space: &str, slot: Slot) -> [&str; 5] {
    ["cs:", space, ":{", tag(slot), "}"]
}

/// What the key of an epoch is put together of.
pub(crate) fn epoch_parts(space: &str) -> [&str; 3] {
    // A Cluster needs one epoch for each slot, `cs:<space>:e:{tag}`: this is the place.
    ["cs:", space, ":e"]
}

/// `format!` takes several times as long, and every step needs some of these.
fn concat(parts: &[&str]) -> String {
    let mut text = String::with_capacity(parts.iter().map(|part| part.len()).sum());
    for part in parts {
        text.push_str(part);
    }
    text
}

/// The key of the epoch of a cache.
pub(crate) fn epoch_key(cache: &CacheId) -> String {
    concat(&epoch_parts(&space(cache.prefix())))
}

/// The key of the token that every change of a cache replaces. No space begins with a `+`.
///
/// It belongs to no particular slot, so a Cluster will have to do without it.
pub(crate) fn changes_key(cache: &CacheId) -> String {
    format!("cs:+:{}", space(cache.prefix()))
}

/// A pattern for `SCAN` that matches every stamp of a cache and nothing else.
pub(crate) fn stamp_pattern(cache: &CacheId) -> String {
    format!("cs:{}:{{*", space(cache.prefix()))
}

/// A pattern for `SCAN` that matches every entry of a cache. It matches the entries of a cache whose prefix is this one and
/// more (`shop` and `shop:x`) too: what is done to a match must tell them apart.
pub(crate) fn entry_pattern(cache: &CacheId) -> String {
    let mut pattern = String::with_capacity(cache.prefix().len() + 2);
    for character in cache.prefix().chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push_str(":*");
    pattern
}

/// The key text in the key of an entry of `cache`.
pub(crate) fn key_text<'k>(cache: &CacheId, key: &'k [u8]) -> Option<&'k str> {
    std::str::from_utf8(key)
        .ok()?
        .strip_prefix(cache.prefix())?
        .strip_prefix(':')
}

/// What stands for the cache in the keys of what guards it.
pub(crate) fn space(prefix: &str) -> Cow<'_, str> {
    if let Some(name) = prefix.strip_prefix("cache:")
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.bytes().all(is_plain)
    {
        return Cow::Borrowed(name);
    }
    let mut space = String::with_capacity(prefix.len() + 8);
    space.push('=');
    for byte in prefix.bytes() {
        if is_plain(byte) {
            space.push(char::from(byte));
        } else {
            write!(space, "%{byte:02X}").expect("writing to a string never fails");
        }
    }
    Cow::Owned(space)
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-')
}

/// The hash slot of a key. Only what stands between the first `{` and the `}` after it counts, unless that is nothing.
pub(crate) fn slot(key: &[u8]) -> Slot {
    let tagged = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        let close = rest.iter().position(|byte| *byte == b'}')?;
        (close > 0).then(|| &rest[..close])
    });
    crc16(tagged.unwrap_or(key)) % SLOTS as u16
}

/// CRC-16/XMODEM, the checksum that Redis names slots by.
fn crc16(bytes: &[u8]) -> u16 {
    static TABLE: [u16; 256] = {
        let mut table = [0; 256];
        let mut index = 0;
        while index < 256 {
            let mut crc = (index as u16) << 8;
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 0x8000 == 0 {
                    crc << 1
                } else {
                    (crc << 1) ^ 0x1021
                };
                bit += 1;
            }
            table[index] = crc;
            index += 1;
        }
        table
    };
    bytes.iter().fold(0, |crc, byte| {
        (crc << 8) ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)]
    })
}

/// The shortest text, among those the first in the order of the alphabet below, that belongs to that slot.
fn tag(slot: Slot) -> &'static str {
    /// Part of the layout: processes that disagree on it do not see each other's invalidations.
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    /// Enough for every slot.
    const LONGEST: u32 = 3;

    static TAGS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        // All texts one after another in one string, which lives as long as the process: no allocation for each.
        let mut texts = String::with_capacity(SLOTS * LONGEST as usize);
        let mut places = vec![0..0; SLOTS];
        let mut missing = SLOTS;
        'all: for length in 1..=LONGEST {
            for number in 0..ALPHABET.len().pow(length) {
                let begin = texts.len();
                for digit in (0..length).rev() {
                    texts.push(char::from(
                        ALPHABET[number / ALPHABET.len().pow(digit) % ALPHABET.len()],
                    ));
                }
                let place = &mut places[usize::from(crc16(&texts.as_bytes()[begin..])) % SLOTS];
                if place.end == 0 {
                    *place = begin..texts.len();
                    missing -= 1;
                    if missing == 0 {
                        break 'all;
                    }
                } else {
                    texts.truncate(begin);
                }
            }
        }
        let texts: &'static str = texts.leak();
        places.into_iter().map(|place| &texts[place]).collect()
    });
    TAGS[usize::from(slot)]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn slots_are_those_of_redis() {
        // As `CLUSTER KEYSLOT` answers.
        assert_eq!(slot(b"foo"), 12_182);
        assert_eq!(slot(b"123456789"), 12_739);
        assert_eq!(slot(b"{user1000}.following"), slot(b"user1000"));
        assert_eq!(slot(b"foo{{bar}}zap"), slot(b"{bar"));
        assert_eq!(slot(b"foo{}{bar}"), crc16(b"foo{}{bar}") % 16_384);
        assert_eq!(slot(b"foo{bar"), crc16(b"foo{bar") % 16_384);
    }

    #[test]
    fn every_slot_has_a_tag_of_its_own_that_belongs_to_it() {
        let tags = (0..SLOTS as u16)
            .map(|slot| (slot, tag(slot)))
            .collect::<Vec<_>>();
        assert!(
            tags.iter().all(
                |(number, tag)| slot(tag.as_bytes()) == *number && (1..=3).contains(&tag.len())
            )
        );
        assert_eq!(
            tags.iter()
                .map(|(_, tag)| tag)
                .collect::<HashSet<_>>()
                .len(),
            SLOTS
        );
    }

    #[test]
    fn the_layout_is_pinned() {
        let product = CacheId::new("product", "cache:product");
        let keys = Keys::of(product.entry("42"));
        assert_eq!(keys.value, "cache:product:42");
        assert_eq!(keys.epoch, "cs:product:e");
        assert_eq!(keys.stamp, "cs:product:{dY}");

        let shop = CacheId::new("product", "shop:{x}*");
        assert_eq!(Keys::of(shop.entry("1")).epoch, "cs:=shop%3A%7Bx%7D%2A:e");
        assert_eq!(epoch_key(&shop), "cs:=shop%3A%7Bx%7D%2A:e");
        assert_eq!(entry_pattern(&shop), "shop:{x}\\*:*");
    }

    #[test]
    fn a_stamp_lies_in_the_slot_of_its_entry() {
        for prefix in ["cache:product", "shop", "shop:{x}", "a{", "}{b}"] {
            for text in ["1", "{a}b", "[1,\"{x}\"]", "}{", "{}"] {
                let cache = CacheId::new("product", prefix);
                let keys = Keys::of(cache.entry(text));
                assert_eq!(
                    slot(keys.value.as_bytes()),
                    slot(keys.stamp.as_bytes()),
                    "{prefix} {text}"
                );
            }
        }
    }

    #[test]
    fn no_two_prefixes_share_a_space() {
        let prefixes = [
            "cache:a",
            "cache:=a",
            "a",
            "cache",
            "cache:",
            "cache:a:b",
            "cache:a%3Ab",
            "=a",
            "A",
            "cache:A",
            "cache:-a",
            "ä",
        ];
        let spaces = prefixes.map(space);
        assert_eq!(HashSet::from(spaces.clone()).len(), prefixes.len());
        assert!(spaces.iter().all(|space| {
            space
                .bytes()
                .all(|byte| is_plain(byte) || b"=%".contains(&byte))
        }));
    }

    #[test]
    fn the_key_text_is_what_follows_the_prefix() {
        let cache = CacheId::new("a", "cache:a");
        assert_eq!(key_text(&cache, b"cache:a:x:y"), Some("x:y"));
        assert_eq!(key_text(&cache, b"cache:ab:x"), None);
        assert_eq!(key_text(&cache, b"cache:a:\xff"), None);
    }
}
