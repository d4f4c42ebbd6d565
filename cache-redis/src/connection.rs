//! A connection that comes about, is lost and is replaced without anybody's help.
//!
//! The client library has a self-healing connection of its own. It is not used here because it never gives up a
//! connection that swallows everything, and because it belongs to the runtime that created it. Around a plain one that many
//! use at a time (`pipe`) there is a [`Connection`] with four states:
//!
//! ```text
//!          first request                 connected
//!   Idle ───────────────▶ Connecting ───────────────▶ Up
//!    ▲                     │      ▲                    │ lost, silent, or its runtime is gone
//!    │   its runtime gone  │      │ first request      │
//!    ├◀────────────────────┤      │ after the backoff  │
//!    │                     ▼      │                    │
//!    │                    Down ───┘                    │
//!    └◀────────────────────────────────────────────────┘
//! ```
//!
//! - Connecting goes on in a task of its own; requests wait for it no longer than their own time allows, and no longer
//!   than one read budget after it began: who comes later fails at once. A request that finds `Down` fails at once too.
//! - A request is sent once. Only one thing is repeated: a request whose connection vanished together with the runtime
//!   that drove it, which is no failure of the server. Every request of this crate may be repeated.
//! - Before a connection is used it is found out which server it leads to, and that server is told what another one has
//!   acknowledged (`greeting`). One that leads to a replica is not used.
//! - **The watchdog.** A request that is not answered in time makes the connection suspect: one `PING` is sent after
//!   it, and if that is not answered either within [`Patience::silence`], the connection is replaced. A slow server
//!   answers it and keeps its connection.
//! - A late reply never reaches another request: replies are matched by their order on one connection, and a connection
//!   that is replaced is never read again for anything but the requests that were sent on it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use cache_core::{
    __backend::within,
    backend::{BackendError, BackendErrorKind},
};
use redis::{Pipeline, Value};
use tokio::{
    runtime::Handle,
    sync::watch,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    acknowledged::{Acknowledged, ServerNumber},
    address::Address,
    error, greeting,
    pipe::{ALIVE, LOST, ORPHANED, Pipe},
    request::Request,
    stream,
};

/// How long is waited for what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// A request that finds a connection being made waits until it has been tried for that long.
    pub(crate) connecting: Duration,
    /// An attempt to connect is given up after that.
    pub(crate) attempt: Duration,
    /// The watchdog's `PING` is given up after that.
    pub(crate) silence: Duration,
}

/// One connection, or the want of one.
pub(crate) struct Connection(Arc<Inner>);

struct Inner {
    address: Address,
    patience: Patience,
    acknowledged: Arc<Acknowledged>,
    state: Mutex<State>,
}

enum State {
    Idle,
    Connecting {
        since: Instant,
        /// Closed when the attempt is over, whether it succeeded, failed or was dropped.
        over: watch::Receiver<()>,
        /// How many attempts in a row have failed before this one.
        failures: u32,
    },
    Up(Live),
    Down {
        error: BackendError,
        until: Instant,
        failures: u32,
    },
}

#[derive(Clone)]
struct Live {
    pipe: Pipe,
    server: ServerNumber,
}

impl Connection {
    pub(crate) fn new(
        address: Address,
        patience: Patience,
        acknowledged: Arc<Acknowledged>,
    ) -> Self {
        Self(Arc::new(Inner {
            address,
            patience,
            acknowledged,
            state: Mutex::new(State::Idle),
        }))
    }

    /// Sends what is packed and waits for the bytes of that many replies.
    pub(crate) async fn request(
        &self,
        packed: &[u8],
        replies: usize,
        deadline: Instant,
    ) -> Result<Bytes, BackendError> {
        let mut repeated = false;
        loop {
            let mut asked = Asked::on(self.live(deadline).await?, &self.0);
            let answer = within(deadline, asked.live.pipe.ask(packed, replies)).await;
            // Without an answer `asked` is dropped as it is, here or wherever this future is dropped.
            let answer = answer.ok_or_else(overdue)?;
            let live = asked.answered();
            if let Ok(replies) = answer {
                return Ok(replies);
            }
            if live.pipe.signs().life() == ORPHANED && !repeated {
                repeated = true;
                continue;
            }
            return Err(error::lost());
        }
    }

    /// Leaves the server: the next request finds out who is the master now.
    pub(crate) fn leave(&self) {
        if let State::Up(live) = &*self.0.state() {
            live.pipe.signs().end(LOST);
        }
    }

    /// The connection for several writes that must go over the same one.
    pub(crate) async fn session(&self, deadline: Instant) -> Result<Session, BackendError> {
        Ok(Session {
            live: self.live(deadline).await?,
            inner: Arc::clone(&self.0),
        })
    }

    /// The connection, or why there is none. Makes one if it is time to.
    async fn live(&self, deadline: Instant) -> Result<Live, BackendError> {
        // An attempt that ends without a connection and without an error ended with its runtime. More than a few of
        // those are no accident: the runtime of this request is about to end too, and would be asked for ever.
        for _ in 0..4 {
            let (mut over, since) = match self.0.connection_or_attempt()? {
                Ok(live) => return Ok(live),
                Err(attempt) => attempt,
            };
            let until = deadline.min(since + self.0.patience.connecting);
            // Closing is what is waited for; nothing is ever sent.
            if timeout_at(until, over.changed()).await.is_err() {
                return Err(still_connecting());
            }
        }
        Err(BackendError::new(
            BackendErrorKind::Unavailable,
            "the tokio runtime to connect on is ending",
        ))
    }
}

/// One connection as it is now: when it is lost, this is over.
pub(crate) struct Session {
    live: Live,
    inner: Arc<Inner>,
}

impl Session {
    /// Sends the commands in one write, once. Error replies are among the replies.
    pub(crate) async fn send(
        &mut self,
        commands: &Pipeline,
        deadline: Instant,
    ) -> Result<Vec<Value>, BackendError> {
        let mut asked = Asked::on(self.live.clone(), &self.inner);
        let answer = within(deadline, self.live.pipe.commands(commands)).await;
        let replies = answer.ok_or_else(overdue)?;
        asked.answered();
        replies
    }
}

/// An attempt under way: what closes when it is over, and when it began.
type Attempt = (watch::Receiver<()>, Instant);

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held; and if it did, every state is a state to go on from.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_of_use(&self, live: &Live) -> bool {
        // Another server means that somebody else has met one: this connection may lead to the one before.
        live.pipe.signs().life() == ALIVE && live.server == self.acknowledged.server()
    }

    fn connection_or_attempt(self: &Arc<Self>) -> Result<Result<Live, Attempt>, BackendError> {
        let mut state = self.state();
        let failures = match &*state {
            State::Up(live) if self.is_of_use(live) => return Ok(Ok(live.clone())),
            // An attempt can also stand still for ever: on a runtime that is alive and that nobody drives.
            State::Connecting { since, over, .. }
                if over.has_changed().is_ok() && since.elapsed() <= 2 * self.patience.attempt =>
            {
                if since.elapsed() >= self.patience.connecting {
                    return Err(still_connecting());
                }
                return Ok(Err((over.clone(), *since)));
            }
            State::Down { error, until, .. } if Instant::now() < *until => {
                return Err(error.clone());
            }
            State::Down { failures, .. } | State::Connecting { failures, .. } => *failures,
            State::Idle | State::Up(_) => 0,
        };
        let Ok(runtime) = Handle::try_current() else {
            return Err(BackendError::new(
                BackendErrorKind::Unavailable,
                "there is no tokio runtime to connect on, call it from within one",
            ));
        };
        let (alive, over) = watch::channel(());
        let since = Instant::now();
        *state = State::Connecting {
            since,
            over: over.clone(),
            failures,
        };
        // The task holds what it works for weakly: a backend that is dropped does not go on connecting for long.
        let inner = Arc::downgrade(self);
        let (address, limit) = (self.address.clone(), self.patience.attempt);
        let acknowledged = Arc::clone(&self.acknowledged);
        runtime.spawn(async move {
            let outcome = connect(&address, limit, &acknowledged).await;
            if let Some(inner) = inner.upgrade() {
                inner.attempt_ended(since, outcome, failures);
            }
            // The waiters look at the state when this closes, so it has to be written by now.
            drop(alive);
        });
        Ok(Err((over, since)))
    }

    fn attempt_ended(&self, began: Instant, outcome: Result<Live, BackendError>, failures: u32) {
        let mut state = self.state();
        if !matches!(&*state, State::Connecting { since, .. } if *since == began) {
            return;
        }
        *state = match outcome {
            Ok(live) => {
                tracing::debug!(address = %self.address, "connected to redis");
                State::Up(live)
            }
            Err(error) => {
                tracing::debug!(address = %self.address, %error, "no connection to redis");
                State::Down {
                    error,
                    until: Instant::now() + backoff(failures),
                    failures: failures.saturating_add(1),
                }
            }
        };
    }
}

/// How long requests fail at once after an attempt to connect has failed: 50 ms, doubled up to 400 ms.
fn backoff(failures: u32) -> Duration {
    Duration::from_millis(50 << failures.min(3))
}

fn overdue() -> BackendError {
    BackendError::new(BackendErrorKind::Timeout, "the reply did not come in time")
}

fn still_connecting() -> BackendError {
    BackendError::new(
        BackendErrorKind::Timeout,
        "no connection could be made in time, it is still being tried",
    )
}

async fn connect(
    address: &Address,
    limit: Duration,
    acknowledged: &Acknowledged,
) -> Result<Live, BackendError> {
    let arrive = async {
        let opened = stream::open(address.client()).await;
        let (pipe, driver) = Pipe::over(opened.map_err(|failure| error::of_client(&failure))?);
        // Here and now: the connection belongs to this runtime.
        tokio::spawn(driver);
        let server = greeting::greet(&pipe, acknowledged).await?;
        Ok(Live { pipe, server })
    };
    timeout(limit, arrive)
        .await
        .unwrap_or_else(|_| Err(still_connecting()))
}

/// A request on its way. Dropped without an answer after more than a moment, it calls the watchdog; that happens when its time is
/// over, and just as well when the caller has less patience than we have and drops the request.
struct Asked {
    live: Live,
    silence: Duration,
    since: Instant,
    answered: bool,
}

impl Asked {
    /// Longer than an answer takes that was merely not waited for.
    const MOMENT: Duration = Duration::from_millis(5);

    fn on(live: Live, inner: &Inner) -> Self {
        Self {
            live,
            silence: inner.patience.silence,
            since: Instant::now(),
            answered: false,
        }
    }

    fn answered(&mut self) -> &Live {
        self.answered = true;
        &self.live
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.answered
            && self.since.elapsed() >= Self::MOMENT
            // On the runtime of the caller: the one of the connection may be what has stopped.
            && let Ok(runtime) = Handle::try_current()
            && !self.live.pipe.signs().watched.swap(true, Ordering::AcqRel)
        {
            runtime.spawn(Watch(self.live.pipe.clone()).over(self.silence));
        }
    }
}

/// The watchdog: replaces a connection on which nothing is answered any more. It ends with its task, whatever ends that.
struct Watch(Pipe);

impl Watch {
    async fn over(self, silence: Duration) {
        let ping = redis::cmd("PING");
        let (packed, replies) = Request::One(&ping).packed();
        if !matches!(
            timeout(silence, self.0.ask(&packed, replies)).await,
            Ok(Ok(_))
        ) {
            tracing::debug!("a connection to redis is silent and is replaced");
            self.0.signs().end(LOST);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.signs().watched.store(false, Ordering::Release);
    }
}
