//! The steps that only the server can do atomically, and how they are sent: by their hash, as a whole only when the
//! server does not know them (any more).

use std::{borrow::Cow, sync::LazyLock};

use cache_core::backend::{BackendError, EPOCH_BEFORE_END, Token};
use redis::{Cmd, Value};
use tokio::time::Instant;

use crate::{error, link::Link, request::Request};

/// Input: entry, stamp, epoch; the stamp and the epoch read before, the bytes, their time to live in milliseconds or 0, and the life that the
/// epoch must have left, and is given otherwise.
/// Output: 1 if the entry was written, 2 if there was something else than a string in its place, which a look-up does not see.
///
/// An absent stamp or epoch (`false` in Lua) equals nothing. The epoch is prolonged only if it would end before the
/// entry, which is worth nothing without it; not at every store, because each change of an epoch is news to every process
/// that keeps copies.
pub(crate) static STORE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local now = redis.call('MGET', KEYS[2], KEYS[3])
if now[1] ~= ARGV[1] or now[2] ~= ARGV[2] then return 0 end
local there = redis.pcall('GETRANGE', KEYS[1], 0, 0)
local foreign = type(there) == 'table' and there.err and string.find(there.err, 'WRONGTYPE', 1, true)
if redis.call('PTTL', KEYS[3]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[3], ARGV[6]) end
if ARGV[4] == '0' then redis.call('SET', KEYS[1], ARGV[3]) else redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return foreign and 2 or 1",
    )
});

/// Input: as [`STORE`], where in place of the stamp there may be another token of the cache; further the stamp and the token
/// that every change replaces; a fresh token and its life.
///
/// The fresh token is put in force in any case (the second only where there is one), and an entry that may not be written
/// is removed.
pub(crate) static PUT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        "local now = redis.call('MGET', KEYS[2], KEYS[3])
redis.call('SET', KEYS[4], ARGV[7], 'PX', ARGV[8])
redis.call('SET', KEYS[5], ARGV[7], 'XX', 'PX', ARGV[8])
if now[1] ~= ARGV[1] or now[2] ~= ARGV[2] then redis.call('UNLINK', KEYS[1]) return 0 end
if redis.call('PTTL', KEYS[3]) < tonumber(ARGV[5]) then redis.call('PEXPIRE', KEYS[3], ARGV[6]) end
if ARGV[4] == '0' then redis.call('SET', KEYS[1], ARGV[3]) else redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return 1",
    )
});

/// Input: keys; epochs. Output: how many were removed.
///
/// Removes the keys that hold an entry stored under one of these epochs. Looking and removing are one step, so that an
/// entry written in between stays.
pub(crate) static SWEEP: LazyLock<Script> = LazyLock::new(|| {
    // Where `GETRANGE` finds the epoch in an entry: the first and the last byte, counted from its end.
    let (first, last) = (EPOCH_BEFORE_END, EPOCH_BEFORE_END - Token::LEN + 1);
    Script::new(format!(
        "local old, removed = {{}}, 0
for _, epoch in ipairs(ARGV) do old[epoch] = true end
for _, key in ipairs(KEYS) do
  local epoch = redis.pcall('GETRANGE', key, -{first}, -{last})
  if type(epoch) == 'string' and old[epoch] then removed = removed + redis.call('UNLINK', key) end
end
return removed"
    ))
});

/// A script and the hash it is called by.
pub(crate) struct Script {
    code: Cow<'static, str>,
    hash: String,
}

impl Script {
    fn new(code: impl Into<Cow<'static, str>>) -> Self {
        let code = code.into();
        let hash = redis::Script::new(&code).get_hash().to_owned();
        Self { code, hash }
    }

    /// Runs the script. An error reply is part of the value.
    pub(crate) async fn run(
        &self,
        link: &Link,
        keys: &[&[u8]],
        arguments: &[&[u8]],
        deadline: Instant,
    ) -> Result<Value, BackendError> {
        let command = |name: &str, script: &str| {
            let size = keys
                .iter()
                .chain(arguments)
                .map(|part| part.len())
                .sum::<usize>();
            let mut command =
                Cmd::with_capacity(3 + keys.len() + arguments.len(), size + script.len() + 16);
            command.arg(name).arg(script).arg(keys.len());
            for part in keys.iter().chain(arguments) {
                command.arg(*part);
            }
            command
        };
        let reply = link
            .request(Request::One(&command("EVALSHA", &self.hash)), deadline)
            .await?;
        match &reply {
            // Restarted, failed over, or its scripts were flushed. `EVAL` runs it and makes it known again.
            Value::ServerError(failure) if error::is_unknown_script(failure) => {
                link.request(Request::One(&command("EVAL", &self.code)), deadline)
                    .await
            }
            _ => Ok(reply),
        }
    }
}
