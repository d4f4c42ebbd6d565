//! The way to one server, which all requests take: here it is noted how the server is. Whether it is asked at all is decided by the
//! caches.

use std::sync::{
    Arc,
    atomic::{AtomicU8, AtomicUsize, Ordering},
};

use bytes::Bytes;
use cache_core::backend::{BackendError, BackendErrorKind, BackendHealth};
use redis::{Pipeline, Value};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::{Instant, timeout_at},
};

use crate::{
    acknowledged::Acknowledged,
    address::Address,
    connection::{Connection, Patience, Session},
    error,
    layout::Slot,
    reply,
    request::{Look, Request},
    sizes::{self, Sizes},
};

/// The connections to one server.
pub(crate) struct Link {
    connections: Box<[Connection]>,
    /// For what would hold up the others: see [`Sizes`].
    for_large: Connection,
    sizes: Sizes,
    turn: AtomicUsize,
    health: AtomicU8,
    /// For what takes several writes; made when it is first needed.
    for_sessions: Mutex<Connection>,
    address: Address,
    pub(crate) acknowledged: Arc<Acknowledged>,
}

impl Link {
    pub(crate) fn new(address: Address, connections: usize, patience: Patience) -> Self {
        let acknowledged = Arc::<Acknowledged>::default();
        let connection = |_| Connection::new(address.clone(), patience, Arc::clone(&acknowledged));
        let connections = (0..connections.max(1)).map(connection).collect();
        let (for_large, for_sessions) = (connection(0), Mutex::new(connection(0)));
        Self {
            connections,
            for_large,
            sizes: Sizes::default(),
            turn: AtomicUsize::new(0),
            health: AtomicU8::new(UP),
            for_sessions,
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
        let (packed, replies) = request.packed();
        let connection = self.connection(sizes::is_large(packed.len()));
        let answer = connection.request(&packed, replies, deadline).await;
        let outcome = answer.and_then(|replies| {
            let mut values = reply::all(&replies)?;
            Ok(match request {
                Request::One(_) => values.pop().ok_or_else(error::unexpected)?,
                Request::Many(_) => Value::Array(values),
            })
        });
        self.note(connection, &outcome);
        outcome
    }

    /// Sends a look-up. What `read` finds in the bytes of its replies; where that is nothing, the replies.
    pub(crate) async fn look<T>(
        &self,
        look: &Look,
        deadline: Instant,
        read: fn(&Bytes) -> Option<T>,
    ) -> Result<Result<T, Vec<Value>>, BackendError> {
        let connection = self.connection(self.sizes.was_large(look.slot));
        let outcome = match connection
            .request(&look.packed, look.replies, deadline)
            .await
        {
            Ok(replies) => {
                self.sizes.note(look.slot, replies.len());
                if let Some(found) = read(&replies) {
                    self.note_health(UP);
                    return Ok(Ok(found));
                }
                reply::all(&replies).map(Value::Array)
            }
            Err(error) => Err(error),
        };
        self.note(connection, &outcome);
        reply::array(outcome?).map(Err)
    }

    /// An entry of that size is about to be stored.
    pub(crate) fn note_size(&self, slot: Slot, size: usize) {
        self.sizes.note(slot, size);
    }

    fn connection(&self, large: bool) -> &Connection {
        match &*self.connections {
            _ if large => &self.for_large,
            [only] => only,
            several => &several[self.turn.fetch_add(1, Ordering::Relaxed) % several.len()],
        }
    }

    fn note(&self, connection: &Connection, outcome: &Result<Value, BackendError>) {
        self.note_health(match outcome {
            Ok(reply) => {
                if reply::is_of_replica(reply) {
                    connection.leave();
                }
                match error_in(reply) {
                    Some(BackendErrorKind::Refused) => REFUSED,
                    Some(BackendErrorKind::Role) => DOWN,
                    _ => UP,
                }
            }
            Err(error) if error.kind() == BackendErrorKind::Refused => REFUSED,
            Err(_) => DOWN,
        });
    }

    fn note_health(&self, health: u8) {
        // Read first: a value that every request writes would travel between the processors' caches.
        if self.health.load(Ordering::Relaxed) != health {
            self.health.store(health, Ordering::Relaxed);
        }
    }

    /// A connection for nobody else, for several writes that must follow each other on it.
    pub(crate) async fn session(&self, deadline: Instant) -> Result<Exclusive<'_>, BackendError> {
        let Ok(connection) = timeout_at(deadline, self.for_sessions.lock()).await else {
            // Says nothing against the server.
            return Err(BackendError::new(
                BackendErrorKind::Capacity,
                "without scripts there is one store after the other, and others were before it",
            ));
        };
        let session = connection.session(deadline).await?;
        Ok(Exclusive {
            session,
            _connection: connection,
        })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
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
    _connection: MutexGuard<'a, Connection>,
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
