//! What a failure of Redis or of the way to it means for a cache.
//!
//! The server's own sentences may quote users, commands and keys, so only the code of a reply goes into an error.

use cache_core::backend::{BackendError, BackendErrorKind as Kind};
use redis::{ErrorKind, RedisError, ServerError, ServerErrorKind};

/// An error reply.
pub(crate) fn of_reply(error: &ServerError) -> BackendError {
    reply(error.code(), error.details())
}

/// An error of the client library: an error reply it has unwrapped, or a failure of the connection.
pub(crate) fn of_client(error: &RedisError) -> BackendError {
    match error.kind() {
        ErrorKind::Server(_) | ErrorKind::Extension => {
            reply(error.code().unwrap_or_default(), error.detail())
        }
        ErrorKind::AuthenticationFailed => {
            refused("the server does not accept the user name or the password")
        }
        ErrorKind::RESP3NotSupported => BackendError::new(
            Kind::Protocol,
            "the server does not speak RESP3, use Redis 6.0 or newer",
        ),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => unexpected(),
        ErrorKind::Io if error.is_timeout() => {
            BackendError::new(Kind::Timeout, "the connection timed out")
        }
        ErrorKind::Io if error.is_connection_refusal() => {
            BackendError::new(Kind::Unavailable, "nobody listens at the address")
        }
        ErrorKind::Io => lost(),
        _ => BackendError::new(Kind::Unavailable, "no connection could be made"),
    }
}

/// The connection ended before the reply came.
pub(crate) fn lost() -> BackendError {
    BackendError::new(Kind::Unavailable, "the connection was lost")
}

/// The server answered with something else than was asked for.
pub(crate) fn unexpected() -> BackendError {
    BackendError::new(
        Kind::Protocol,
        "the reply is not of the form that belongs to the command",
    )
}

/// Whether a store was refused because the memory of the server is used up.
pub(crate) fn is_out_of_memory(error: &ServerError) -> bool {
    error.code() == "OOM"
}

/// Whether it is a replica that says this.
pub(crate) fn is_of_replica(error: &ServerError) -> bool {
    matches!(error.code(), "READONLY" | "MASTERDOWN")
}

/// The server has no say in what its data are.
pub(crate) fn replica() -> BackendError {
    BackendError::new(
        Kind::Role,
        "the server is a replica, caches need its master",
    )
}

/// Whether there is something else than a string under the key.
pub(crate) fn is_wrong_type(error: &ServerError) -> bool {
    error.code() == "WRONGTYPE"
}

/// Whether the server does not know an option of the command.
pub(crate) fn is_syntax(error: &ServerError) -> bool {
    error.code() == "ERR"
        && error
            .details()
            .is_some_and(|text| text.contains("syntax error"))
}

/// Whether scripts cannot be run here at all.
pub(crate) fn is_scripts_refused(error: &ServerError) -> bool {
    let says = |what: &str| {
        error
            .details()
            .is_some_and(|text| text.to_ascii_lowercase().contains(what))
    };
    match error.code() {
        // Not where it is a key that is refused.
        "NOPERM" => says("'eval'") || says("'evalsha'"),
        "ERR" => says("unknown command"),
        _ => false,
    }
}

/// Whether the server does not know a script (any more).
pub(crate) fn is_unknown_script(error: &ServerError) -> bool {
    error.kind() == Some(ServerErrorKind::NoScript)
}

fn refused(detail: &str) -> BackendError {
    BackendError::new(Kind::Refused, detail)
}

fn reply(code: &str, detail: Option<&str>) -> BackendError {
    match code {
        "WRONGPASS" => {
            refused("the server does not accept the user name or the password (WRONGPASS)")
        }
        "NOAUTH" => refused("the server asks for a password, put one into the url (NOAUTH)"),
        "NOPERM" => refused("the user lacks a permission for this command or these keys (NOPERM)"),
        "DENIED" => refused("the server is in protected mode (DENIED)"),
        "OOM" => BackendError::new(Kind::Capacity, "the memory of the server is used up (OOM)"),
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "READONLY" | "MISCONF"
        | "NOREPLICAS" | "BUSY" | "MOVED" | "ASK" => BackendError::new(
            Kind::Role,
            format!("the server cannot do this now ({code})"),
        ),
        // These have no code of their own.
        "ERR" if detail.is_some_and(|text| text.contains("max number of clients")) => {
            BackendError::new(Kind::Capacity, "the server takes no more connections")
        }
        "ERR" if detail.is_some_and(|text| text.contains("DB index")) => {
            refused("the server has no database of the number in the url")
        }
        // A code is a word in capitals; what is none may be a piece of somebody's data.
        _ if code.len() <= 20 && code.bytes().all(|byte| byte.is_ascii_uppercase()) => {
            BackendError::new(
                Kind::Protocol,
                format!("the server refused the command ({code})"),
            )
        }
        _ => BackendError::new(Kind::Protocol, "the server refused the command"),
    }
}
