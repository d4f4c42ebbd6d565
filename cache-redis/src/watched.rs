//! Stores where scripts are refused: by permissions, or by a proxy that does not know them.
//!
//! `WATCH` and `MULTI` do the same in two round trips. What is watched belongs to a connection and is forgotten by its next
//! `EXEC`, whoever sends it. So there is a connection for this alone, and one store at a time on it; and both writes of a
//! store go over the same one, or the second is not sent.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use cache_core::backend::{BackendError, Token};
use redis::{Pipeline, ServerError, Value};
use tokio::time::Instant;

use crate::{error, link::Link, reply, server::set_token};

/// After that scripts are tried again: permissions change.
const RETRY: Duration = Duration::from_secs(60);

/// Whether scripts are refused, as far as is known.
#[derive(Default)]
pub(crate) struct ScriptsRefused(Mutex<Option<Instant>>);

impl ScriptsRefused {
    pub(crate) fn holds(&self) -> bool {
        let since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.is_some_and(|since| since.elapsed() < RETRY)
    }

    pub(crate) fn note(&self) {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if since.replace(Instant::now()).is_none() {
            tracing::warn!(
                "the redis server refuses scripts: values are stored in two round trips, and what a clear leaves behind is left to expire (said once)"
            );
        }
    }

    pub(crate) fn forget(&self) {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *since = None;
    }
}

/// An entry to be written if its tokens are still in force.
pub(crate) struct Write<'a> {
    pub(crate) key: &'a str,
    pub(crate) guard: &'a str,
    pub(crate) epoch: &'a str,
    /// The tokens that it replaces in any case, if it does: the stamp, and the one that every change replaces.
    pub(crate) supersedes: Option<[&'a str; 2]>,
    pub(crate) bytes: &'a [u8],
    pub(crate) fence: [Token; 2],
    /// In milliseconds, 0: without limit.
    pub(crate) ttl: u64,
    /// The life that the epoch must have left, and is given otherwise; in milliseconds.
    pub(crate) epoch_life: [u64; 2],
}

impl Write<'_> {
    /// As the scripts, whether it was written, and over what. The inner error is the reply that refused it.
    pub(crate) async fn run(
        &self,
        link: &Link,
        deadline: Instant,
    ) -> Result<Result<i64, ServerError>, BackendError> {
        let mut session = link.session(deadline).await?;
        loop {
            let mut look = Pipeline::new();
            // What a store before this one has left there, whose caller went away.
            look.cmd("UNWATCH");
            look.cmd("WATCH").arg(self.guard).arg(self.epoch);
            look.cmd("MGET").arg(self.guard).arg(self.epoch);
            look.cmd("PTTL").arg(self.epoch);
            look.cmd("GETRANGE").arg(self.key).arg(0).arg(0);
            let mut replies = session.send(&look, deadline).await?;
            let foreign = matches!(
                replies.pop(),
                Some(Value::ServerError(failure)) if error::is_wrong_type(&failure)
            );
            if let Some(refused) = reply::take_error(&mut replies) {
                return Ok(Err(refused));
            }
            let [_, _, tokens, life] =
                <[Value; 4]>::try_from(replies).map_err(|_| error::unexpected())?;
            let tokens = reply::array(tokens)?;
            let holds = tokens.len() == 2
                && tokens
                    .iter()
                    .zip(&self.fence)
                    .all(|(found, read)| reply::token(found) == Some(*read));
            let lives = matches!(life, Value::Int(left) if left >= 0 && left.unsigned_abs() >= self.epoch_life[0]);
            if !holds && self.supersedes.is_none() {
                return Ok(Ok(0));
            }
            let mut replies = session.send(&self.writes(holds, lives), deadline).await?;
            if let Some(refused) = reply::take_error(&mut replies) {
                return Ok(Err(refused));
            }
            match replies.pop() {
                Some(Value::Nil) if self.supersedes.is_none() => return Ok(Ok(0)),
                // A token was replaced in between, and what this supersedes is still there.
                Some(Value::Nil) => {}
                Some(Value::Array(mut executed)) => {
                    return Ok(match reply::take_error(&mut executed) {
                        Some(refused) => Err(refused),
                        None if !holds => Ok(0),
                        None => Ok(if foreign { 2 } else { 1 }),
                    });
                }
                _ => return Err(error::unexpected()),
            }
        }
    }

    fn writes(&self, holds: bool, epoch_lives: bool) -> Pipeline {
        let mut writes = Pipeline::new();
        if !holds {
            writes.cmd("UNWATCH");
        }
        writes.cmd("MULTI");
        if let Some([stamp, changes]) = self.supersedes {
            writes.add_command(set_token(stamp, None));
            writes.add_command(set_token(changes, Some("XX")));
        }
        if holds {
            if !epoch_lives {
                writes
                    .cmd("PEXPIRE")
                    .arg(self.epoch)
                    .arg(self.epoch_life[1]);
            }
            let set = writes.cmd("SET").arg(self.key).arg(self.bytes);
            if self.ttl > 0 {
                set.arg("PX").arg(self.ttl);
            }
        } else {
            writes.cmd("UNLINK").arg(self.key);
        }
        writes.cmd("EXEC");
        writes
    }
}
