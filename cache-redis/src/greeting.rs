//! What is said on a connection before it is used.

use cache_core::backend::BackendError;
use redis::Pipeline;

use crate::{
    acknowledged::{Acknowledged, ServerId, ServerNumber},
    error,
    pipe::Pipe,
    reply,
};

/// How much is said again in one write.
const STEP: usize = 500;

/// Finds out which server this is, and tells it what another one has acknowledged.
pub(crate) async fn greet(
    pipe: &Pipe,
    acknowledged: &Acknowledged,
) -> Result<ServerNumber, BackendError> {
    let meeting = acknowledged.meet(ask(pipe).await?);
    for step in meeting.again.chunks(STEP) {
        let mut again = Pipeline::new();
        for ended in step {
            ended.end(&mut again);
        }
        for removed in pipe.commands(&again).await? {
            reply::count(removed)?;
        }
    }
    if !meeting.again.is_empty() {
        tracing::info!(
            invalidations = meeting.again.len(),
            "told a redis server what another one had acknowledged"
        );
    }
    acknowledged.said_again(&meeting);
    Ok(meeting.server)
}

/// Which server this is, if it can be found out. An error if it is a replica.
async fn ask(pipe: &Pipe) -> Result<Option<ServerId>, BackendError> {
    let mut info = Pipeline::new();
    for section in ["server", "replication"] {
        info.cmd("INFO").arg(section);
    }
    let replies = pipe.commands(&info).await?;
    // Refused, or answered by a proxy that knows nothing of it.
    let texts: Vec<String> = replies
        .into_iter()
        .filter_map(|reply| redis::from_redis_value(reply).ok())
        .collect();
    let field = |name: &str| {
        let mut lines = texts.iter().flat_map(|text| text.lines());
        lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.to_owned()))
    };
    if field("role").is_some_and(|role| role == "slave" || role == "replica") {
        return Err(error::replica());
    }
    Ok(field("run_id")
        .zip(field("master_replid"))
        .map(|(run, replication)| ServerId { run, replication }))
}
