//! Reading replies.

use std::ops::Range;

use bytes::Bytes;
use cache_core::backend::{BackendError, Fence, Loaded, Token};
use redis::{ServerError, Value};

use crate::{error, frame};

pub(crate) fn array(reply: Value) -> Result<Vec<Value>, BackendError> {
    match reply {
        Value::Array(values) => Ok(values),
        Value::ServerError(failure) => Err(error::of_reply(&failure)),
        _ => Err(error::unexpected()),
    }
}

/// Takes the first error out of the replies to several commands. It is the one that says why; those after it may
/// only say that something went wrong.
pub(crate) fn take_error(replies: &mut Vec<Value>) -> Option<ServerError> {
    let index = replies
        .iter()
        .position(|reply| matches!(reply, Value::ServerError(_)))?;
    match replies.swap_remove(index) {
        Value::ServerError(failure) => Some(failure),
        _ => None,
    }
}

/// All of the replies in these bytes.
pub(crate) fn all(bytes: &[u8]) -> Result<Vec<Value>, BackendError> {
    frame::values(bytes).map_err(|failure| error::of_client(&failure))
}

/// What `MGET entry stamp epoch` found. What is not a string, or not a token, counts as absent.
pub(crate) struct Read {
    pub(crate) bytes: Option<Bytes>,
    pub(crate) stamp: Option<Token>,
    pub(crate) epoch: Option<Token>,
}

impl Read {
    /// From a reply in which they lie one after the other. The entry is not copied.
    pub(crate) fn in_place(reply: &Bytes) -> Option<Self> {
        let ([entry, stamp, epoch], _) = frame::strings(reply)?;
        Some(Self {
            bytes: entry.map(|place| reply.slice(place)),
            stamp: token_at(reply, stamp),
            epoch: token_at(reply, epoch),
        })
    }

    pub(crate) fn from(reply: Value) -> Result<Self, BackendError> {
        let [entry, stamp, epoch] =
            <[Value; 3]>::try_from(array(reply)?).map_err(|_| error::unexpected())?;
        let bytes = match entry {
            Value::BulkString(bytes) => Some(Bytes::from(bytes)),
            Value::Nil => None,
            _ => return Err(error::unexpected()),
        };
        Ok(Self {
            bytes,
            stamp: token(&stamp),
            epoch: token(&epoch),
        })
    }
}

impl From<Read> for Loaded {
    fn from(read: Read) -> Self {
        Self {
            bytes: read.bytes,
            fence: fence(read.stamp, read.epoch),
        }
    }
}

/// What `MGET stamp epoch` and `GETRANGE entry` found.
pub(crate) struct Ending {
    pub(crate) fence: Option<Fence>,
    /// Empty if there is no entry; `None` if what is there has no end.
    pub(crate) end: Option<Bytes>,
}

impl Ending {
    /// From replies in which they lie one after the other.
    pub(crate) fn in_place(replies: &Bytes) -> Option<Self> {
        let ([stamp, epoch], at) = frame::strings(replies)?;
        let (end, _) = frame::string(replies, at)?;
        Some(Self {
            fence: fence(token_at(replies, stamp), token_at(replies, epoch)),
            end: end.map(|place| replies.slice(place)),
        })
    }

    pub(crate) fn from(replies: Vec<Value>) -> Result<Self, BackendError> {
        let [tokens, end] = <[Value; 2]>::try_from(replies).map_err(|_| error::unexpected())?;
        let tokens = array(tokens)?;
        let [stamp, epoch] = tokens.as_slice() else {
            return Err(error::unexpected());
        };
        Ok(Self {
            fence: fence(token(stamp), token(epoch)),
            end: match end {
                Value::BulkString(end) => Some(end.into()),
                _ => None,
            },
        })
    }
}

/// Whether a reply says that the server is a replica.
pub(crate) fn is_of_replica(reply: &Value) -> bool {
    match reply {
        Value::ServerError(failure) => error::is_of_replica(failure),
        Value::Array(replies) => replies.iter().any(
            |reply| matches!(reply, Value::ServerError(failure) if error::is_of_replica(failure)),
        ),
        _ => false,
    }
}

pub(crate) fn token(reply: &Value) -> Option<Token> {
    match reply {
        Value::BulkString(bytes) => token_of(bytes),
        _ => None,
    }
}

/// The token that lies there.
fn token_at(bytes: &[u8], place: Option<Range<usize>>) -> Option<Token> {
    token_of(&bytes[place?])
}

fn token_of(bytes: &[u8]) -> Option<Token> {
    bytes.try_into().ok().map(Token::from_bytes)
}

/// Both tokens, or nothing that would hold.
fn fence(stamp: Option<Token>, epoch: Option<Token>) -> Option<Fence> {
    stamp
        .zip(epoch)
        .map(|(stamp, epoch)| Fence { stamp, epoch })
}

/// A number of things done.
pub(crate) fn count(reply: Value) -> Result<u64, BackendError> {
    match reply {
        Value::Int(number) => u64::try_from(number).map_err(|_| error::unexpected()),
        Value::ServerError(failure) => Err(error::of_reply(&failure)),
        _ => Err(error::unexpected()),
    }
}

pub(crate) fn sum(replies: impl Iterator<Item = Value>) -> Result<u64, BackendError> {
    replies.map(count).sum()
}
