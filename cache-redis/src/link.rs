//! The way to one server, which all requests take: here it is noted how the server is. Whether it is asked at all is decided by the
//! caches.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
};

use cache_core::backend::{BackendError, BackendErrorKind, BackendHealth};
use redis::{Cmd, Pipeline, Value};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::{Instant, timeout_at},
};

use crate::{
    acknowledged::Acknowledged,
    address::Address,
    connection::{Connection, Patience, Session},
    error,
};

/// What is sent in one write.
pub(crate) enum Request<'a> {
    One(&'a Cmd),
    /// The reply is an array of the replies of all commands.
    Many(&'a Pipeline),
}

/// The connections to one server.
pub(crate) struct Link {
    connections: Box<[Connection]>,
    turn: AtomicUsize,
    health: AtomicU8,
    /// For what takes several writes; made when it is first needed.
    apart: Mutex<Connection>,
    address: Address,
    pub(crate) acknowledged: Arc<Acknowledged>,
}

impl Link {
    pub(crate) fn new(address: Address, connections: usize, patience: Patience) -> Self {
        let acknowledged = Arc::<Acknowledged>::default();
        let connection = |_| Connection::new(address.clone(), patience, Arc::clone(&acknowledged));
        let connections = (0..connections.max(1)).map(connection).collect();
        let apart = Mutex::new(connection(0));
        Self {
            connections,
            turn: AtomicUsize::new(0),
            health: AtomicU8::new(UP),
            apart,
            address,
            acknowledged,
        }
    }

    /// Sends a request and waits for its reply until `deadline`. Error replies to the single commands are in the value.
    pub(crate) async fn request(
        &self,
        request: Request<'_>,
        deadline: Instant,
    ) -> Result<Value, BackendError> {
        let connection = match &*self.connections {
            [only] => only,
            several => &several[self.turn.fetch_add(1, Ordering::Relaxed) % several.len()],
        };
        let outcome = connection.request(&request, deadline).await;
        let health = match &outcome {
            Ok(reply) => match error_in(reply) {
                Some(BackendErrorKind::Refused) => REFUSED,
                Some(BackendErrorKind::Role) => DOWN,
                _ => UP,
            },
            Err(error) if error.kind() == BackendErrorKind::Refused => REFUSED,
            Err(_) => DOWN,
        };
        // Read first: a value that every request writes would travel between the processors' caches.
        if self.health.load(Ordering::Relaxed) != health {
            self.health.store(health, Ordering::Relaxed);
        }
        outcome
    }

    /// A connection for nobody else, for several writes that must follow each other on it.
    pub(crate) async fn session(&self, deadline: Instant) -> Result<Exclusive<'_>, BackendError> {
        let Ok(apart) = timeout_at(deadline, self.apart.lock()).await else {
            // Says nothing against the server.
            return Err(BackendError::new(
                BackendErrorKind::Capacity,
                "without scripts there is one store after the other, and others were before it",
            ));
        };
        let session = apart.session(deadline).await?;
        Ok(Exclusive {
            session,
            _apart: apart,
        })
    }

    pub(crate) fn health(&self) -> BackendHealth {
        match self.health.load(Ordering::Relaxed) {
            UP => BackendHealth::Up,
            REFUSED => BackendHealth::Refused,
            _ => BackendHealth::Down,
        }
    }
}

/// While it lives, nobody else has a [`Session`] on that connection.
pub(crate) struct Exclusive<'a> {
    session: Session,
    _apart: MutexGuard<'a, Connection>,
}

impl Exclusive<'_> {
    pub(crate) async fn send(
        &mut self,
        commands: &Pipeline,
        deadline: Instant,
    ) -> Result<Vec<Value>, BackendError> {
        self.session.send(commands, deadline).await
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("address", &self.address)
            .field("connections", &self.connections.len())
            .finish()
    }
}

/// The class of the first error reply to one of the commands.
fn error_in(reply: &Value) -> Option<BackendErrorKind> {
    match reply {
        Value::ServerError(failure) => Some(error::of_reply(failure).kind()),
        Value::Array(replies) => replies.iter().find_map(|reply| match reply {
            Value::ServerError(failure) => Some(error::of_reply(failure).kind()),
            _ => None,
        }),
        _ => None,
    }
}

const UP: u8 = 0;
const DOWN: u8 = 1;
const REFUSED: u8 = 2;
