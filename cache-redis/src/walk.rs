//! Walks through the whole database in small steps, which is how keys are found that nobody has listed.

use cache_core::backend::BackendError;
use redis::Value;

use crate::{error, request::Request, server::Server};

/// About how many keys the server looks at in one step.
const COUNT: usize = 500;

/// How far a walk has come. A key that is there from its beginning to its end is met at least once.
pub(crate) struct Walk {
    pattern: String,
    /// `None`: at its end.
    cursor: Option<u64>,
}

impl Walk {
    /// A walk that will meet the keys that match the pattern.
    pub(crate) const fn new(pattern: String) -> Self {
        Self {
            pattern,
            cursor: Some(0),
        }
    }
}

impl Server {
    /// One step: some of the keys that match, perhaps none. `None` once the whole database has been walked through.
    pub(crate) async fn next_page(
        &self,
        walk: &mut Walk,
    ) -> Result<Option<Vec<Vec<u8>>>, BackendError> {
        let Some(cursor) = walk.cursor else {
            return Ok(None);
        };
        let mut scan = redis::cmd("SCAN");
        scan.arg(cursor)
            .arg("MATCH")
            .arg(&walk.pattern)
            .arg("COUNT")
            .arg(COUNT);
        let page = match self
            .link
            .request(Request::One(&scan), self.store_deadline())
            .await?
        {
            Value::ServerError(failure) => return Err(error::of_reply(&failure)),
            page => page,
        };
        let (next, keys) =
            redis::from_redis_value::<(u64, _)>(page).map_err(|_| error::unexpected())?;
        walk.cursor = (next != 0).then_some(next);
        Ok(Some(keys))
    }
}
