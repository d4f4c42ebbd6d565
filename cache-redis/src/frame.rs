//! Where replies end in the bytes of a connection, and what is in those that matter for speed.
//!
//! The end of a reply follows from the first lines of what it is made of, without looking at anything else. So whoever reads from
//! a connection only cuts; what a reply says is read by whoever asked. The replies of look-ups are arrays of strings and are
//! read where they lie ([`strings`]); for all others there is the parser of the client library ([`values`]).

use std::ops::Range;

use redis::{RedisResult, Value};

/// The longest string and the most elements that are taken for a reply and not for garbage: more than a server has.
const MOST: usize = 1 << 30;

/// The bytes are no reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Garbage;

/// Looks for the end of a reply while its bytes come in. What was looked at is not looked at again.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Everything before is known.
    at: usize,
    /// How many values the reply still consists of. What is nested needs no more than this number.
    open: usize,
}

/// What is known of a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// It ends here.
    Whole(usize),
    /// It ends there or later.
    Beyond(usize),
}

impl Scan {
    /// Begins a reply.
    pub(crate) fn from(at: usize) -> Self {
        Self { at, open: 1 }
    }

    /// Goes on with a reply of which that many bytes are there now.
    pub(crate) fn extent(&mut self, bytes: &[u8]) -> Result<Extent, Garbage> {
        while self.open > 0 {
            let Some((kind, line, end)) = line(bytes, self.at) else {
                return Ok(Extent::Beyond(bytes.len() + 1));
            };
            let within = match kind {
                b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => {
                    self.at = end;
                    0
                }
                b'$' | b'!' | b'=' => {
                    let end = match length(line)? {
                        Some(length) => end + length + 2,
                        None => end,
                    };
                    if bytes.len() < end {
                        return Ok(Extent::Beyond(end));
                    }
                    if !bytes[..end].ends_with(b"\r\n") {
                        return Err(Garbage);
                    }
                    self.at = end;
                    0
                }
                b'*' | b'~' | b'>' | b'%' | b'|' => {
                    self.at = end;
                    let elements = length(line)?.unwrap_or(0);
                    match kind {
                        b'%' => 2 * elements,
                        // What it belongs to comes after it.
                        b'|' => 2 * elements + 1,
                        _ => elements,
                    }
                }
                _ => return Err(Garbage),
            };
            self.open = self.open - 1 + within;
            if self.open > MOST {
                return Err(Garbage);
            }
        }
        Ok(Extent::Whole(self.at))
    }
}

/// The line at `at` by its first byte and what follows it, and where the next one begins. `None`: it is not all there.
#[inline]
fn line(bytes: &[u8], at: usize) -> Option<(u8, &[u8], usize)> {
    let (kind, rest) = bytes.get(at..)?.split_first()?;
    let length = rest.iter().position(|byte| *byte == b'\r')?;
    (rest.len() > length + 1).then(|| (*kind, &rest[..length], at + 1 + length + 2))
}

/// A number of bytes or elements; `None`: there is nothing.
#[inline]
fn length(digits: &[u8]) -> Result<Option<usize>, Garbage> {
    if digits == b"-1" {
        return Ok(None);
    }
    if digits.is_empty() {
        return Err(Garbage);
    }
    let mut number = 0;
    for digit in digits {
        if !digit.is_ascii_digit() || number > MOST / 10 {
            return Err(Garbage);
        }
        number = 10 * number + usize::from(digit - b'0');
    }
    Ok(Some(number))
}

/// Where the strings are of which the reply at the beginning of `bytes` consists, and where it ends. `None`: it is something else
/// than an array of that many strings. A string that does not exist has no place.
#[inline]
pub(crate) fn strings<const N: usize>(bytes: &[u8]) -> Option<([Option<Range<usize>>; N], usize)> {
    let (b'*', elements, mut at) = line(bytes, 0)? else {
        return None;
    };
    if length(elements).ok()? != Some(N) {
        return None;
    }
    let mut places = [const { None }; N];
    for place in &mut places {
        (*place, at) = string(bytes, at)?;
    }
    Some((places, at))
}

/// The same for one string.
#[inline]
pub(crate) fn string(bytes: &[u8], at: usize) -> Option<(Option<Range<usize>>, usize)> {
    let (kind, digits, begin) = line(bytes, at)?;
    match (kind, length(digits)) {
        (b'$', Ok(Some(length))) => {
            let end = begin + length;
            (bytes.len() >= end + 2).then_some((Some(begin..end), end + 2))
        }
        (b'$', Ok(None)) | (b'_', _) => Some((None, begin)),
        _ => None,
    }
}

/// The values of all of the replies.
pub(crate) fn values(mut bytes: &[u8]) -> RedisResult<Vec<Value>> {
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let end = match Scan::from(0).extent(bytes) {
            Ok(Extent::Whole(end)) => end,
            // The parser says what is wrong.
            Ok(Extent::Beyond(_)) | Err(Garbage) => bytes.len(),
        };
        values.push(redis::parse_redis_value(&bytes[..end])?);
        bytes = &bytes[end..];
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLIES: [&str; 14] = [
        "+OK\r\n",
        "-ERR no\r\n",
        ":-7\r\n",
        "_\r\n",
        "$-1\r\n",
        "$0\r\n\r\n",
        "$9\r\na\r\n$1\r\n+b\r\n",
        "*0\r\n",
        "*-1\r\n",
        "*3\r\n$1\r\na\r\n_\r\n$-1\r\n",
        "*2\r\n*2\r\n:1\r\n*0\r\n%1\r\n+a\r\n$2\r\nbc\r\n",
        "|1\r\n+ttl\r\n:3\r\n*1\r\n:1\r\n",
        ">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n",
        "=5\r\ntxt:a\r\n",
    ];

    #[test]
    fn a_reply_ends_where_it_ends_however_its_bytes_come() {
        for reply in REPLIES {
            let bytes = format!("{reply}+and more\r\n");
            let mut scan = Scan::from(0);
            for there in 0..reply.len() {
                let extent = scan.extent(&bytes.as_bytes()[..there]);
                let Ok(Extent::Beyond(least)) = extent else {
                    panic!("{reply:?} after {there}: {extent:?}");
                };
                assert!(
                    (there + 1..=reply.len()).contains(&least),
                    "{reply:?} {there}"
                );
            }
            assert_eq!(
                scan.extent(bytes.as_bytes()),
                Ok(Extent::Whole(reply.len()))
            );
            assert_eq!(
                Scan::from(0).extent(bytes.as_bytes()),
                Ok(Extent::Whole(reply.len()))
            );
        }
    }

    #[test]
    fn the_parser_of_the_client_library_finds_the_same_ends() {
        let all = REPLIES.concat();
        let values = values(all.as_bytes()).expect("they are replies");
        let each = REPLIES.map(|reply| redis::parse_redis_value(reply.as_bytes()).expect("one"));
        assert_eq!(values, each);
    }

    #[test]
    fn what_is_no_reply_is_told_from_one_that_is_not_over() {
        for garbage in [
            "\0\r\n",
            "HTTP/1.1 400 Bad Request\r\n",
            "$x\r\n",
            "$\r\n",
            "$-2\r\n",
            "$+1\r\na\r\n",
            "$1\r\nabc",
            "*99999999999999999999\r\n",
            "*2\r\n*1000000000\r\n*1000000000\r\n",
            "$?\r\n",
        ] {
            let extent = Scan::from(0).extent(garbage.as_bytes());
            assert_eq!(extent, Err(Garbage), "{garbage:?}");
        }
    }

    #[test]
    fn strings_are_found_in_an_array_of_that_many() {
        let bytes = b"*3\r\n$4\r\n\r\n\r\n\r\n_\r\n$-1\r\n+next\r\n";
        let (places, end) = strings::<3>(bytes).expect("an array of three strings");
        assert_eq!(places, [Some(8..12), None, None]);
        assert_eq!(&bytes[end..], b"+next\r\n");
        for other in [
            &b"*2\r\n$1\r\na\r\n$1\r\nb\r\n"[..],
            b"*3\r\n:1\r\n:2\r\n:3\r\n",
            b"-ERR\r\n",
            b"*3\r\n$1\r\na\r\n",
            b"",
        ] {
            assert_eq!(strings::<3>(other), None);
        }
    }
}
