//! One connection that many use at a time.
//!
//! Who asks appends the request to what is to be sent, and waits for the reply. One task, the **driver**, has the stream. It
//! sends what has come together, cuts what comes in into replies ([`frame`](crate::frame)) and hands each to the one whose turn
//! it is: a server answers in the order in which it was asked. So requests that come at about the same time share a write,
//! replies share a read, a reply is never copied, and reading it is the work of those who asked, on all their threads.
//!
//! - A request that is dropped is answered all the same, and nobody gets that reply.
//! - When the connection ends, by the server, the network or with the runtime of the driver, the [`Signs`] say so before the
//!   first of those who wait hears of it.
//! - What is not sent yet is bounded: those who find too much of it wait until it is gone.

#[cfg(test)]
mod tests;

use std::{
    collections::VecDeque,
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    task::{Context, Poll, Waker, ready},
};

use bytes::{Bytes, BytesMut};
use cache_core::backend::BackendError;
use redis::{Pipeline, Value};
use tokio::sync::{Notify, oneshot};
use tokio_util::io::poll_read_buf;

use crate::{
    error,
    frame::{Extent, Scan},
    reply,
    request::Request,
    stream::Stream,
};

/// Memory for what comes in is taken in pieces of this size; replies that lie in a piece keep it.
const PIECE: usize = 32 << 10;
/// A new piece is begun where less than this is left.
const LEAST: usize = 4 << 10;
/// After so many bytes have come in, those who have got them have their turn, while a processor still has them at hand.
const TURN: usize = 128 << 10;
/// From so many on that ask at a time, it pays to wait for more.
const MANY: usize = 4;
/// Who finds more than this not sent yet waits.
const UNSENT: usize = 4 << 20;

/// A way to ask, cheap to clone. With the last one the connection is closed.
#[derive(Clone)]
pub(crate) struct Pipe(Arc<Handle>);

struct Handle(Arc<Shared>);

struct Shared {
    queue: Mutex<Queue>,
    /// For those who wait until there is less to be sent.
    room: Notify,
    signs: Signs,
}

/// What the driver has not taken yet.
#[derive(Default)]
struct Queue {
    unsent: Vec<u8>,
    waiting: Vec<Waiting>,
    /// The driver, if it has to be told when there is something.
    driver: Option<Waker>,
    /// Nobody answers any more.
    over: bool,
    /// Nobody can ask any more.
    closed: bool,
}

/// Somebody who waits for that many replies.
struct Waiting {
    replies: usize,
    answer: oneshot::Sender<Bytes>,
}

/// The connection ended before the reply came.
#[derive(Debug)]
pub(crate) struct Ended;

/// What is known about a connection without asking it.
#[derive(Default)]
pub(crate) struct Signs {
    life: AtomicU8,
    /// Whether the watchdog waits for a `PING`.
    pub(crate) watched: AtomicBool,
}

pub(crate) const ALIVE: u8 = 0;
/// The server or the network ended it, or it proved to be silent.
pub(crate) const LOST: u8 = 1;
/// The task that drove it is gone, and with it the runtime it ran on.
pub(crate) const ORPHANED: u8 = 2;

impl Signs {
    pub(crate) fn life(&self) -> u8 {
        self.life.load(Ordering::Acquire)
    }

    /// The first cause stays.
    pub(crate) fn end(&self, how: u8) {
        let _ = self
            .life
            .compare_exchange(ALIVE, how, Ordering::AcqRel, Ordering::Acquire);
    }
}

impl Pipe {
    /// The way to ask over this stream, and the driver, which has to be spawned.
    pub(crate) fn over(stream: Box<dyn Stream>) -> (Self, Driver) {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            room: Notify::new(),
            signs: Signs::default(),
        });
        let driver = Driver {
            stream,
            shared: Arc::clone(&shared),
            sending: Vec::new(),
            sent: 0,
            held_back: false,
            waiting: VecDeque::new(),
            read: BytesMut::new(),
            room: 0,
            received: 0,
            least: 0,
            replies: 0,
            begin: 0,
            scan: Scan::from(0),
            batch: 0,
            waits: false,
        };
        (Self(Arc::new(Handle(shared))), driver)
    }

    pub(crate) fn signs(&self) -> &Signs {
        &self.0.0.signs
    }

    /// Sends a request and waits for its replies: the bytes of all of them.
    pub(crate) async fn ask(&self, request: &[u8], replies: usize) -> Result<Bytes, Ended> {
        let shared = &*self.0.0;
        let answer = loop {
            match shared.try_ask(request, replies)? {
                Some(answer) => break answer,
                None => self.room().await,
            }
        };
        answer.await.map_err(|_| Ended)
    }

    /// Sends the commands in one write and waits for their replies. Error replies are among them.
    pub(crate) async fn commands(&self, commands: &Pipeline) -> Result<Vec<Value>, BackendError> {
        let (packed, replies) = Request::Many(commands).packed();
        let answer = self.ask(&packed, replies).await;
        reply::all(&answer.map_err(|_| error::lost())?)
    }

    /// Waits until there may be room. Apart, so that it takes no place in the future of those who need not.
    fn room(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            let shared = &*self.0.0;
            let room = shared.room.notified();
            if shared.queue().is_full() {
                room.await;
            }
        })
    }
}

impl Queue {
    fn is_full(&self) -> bool {
        self.unsent.len() > UNSENT && !self.over
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing panics while it is held but for want of memory.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None`: there is no room.
    fn try_ask(
        &self,
        request: &[u8],
        replies: usize,
    ) -> Result<Option<oneshot::Receiver<Bytes>>, Ended> {
        let (answer, receiver) = oneshot::channel();
        let mut queue = self.queue();
        if queue.over {
            return Err(Ended);
        }
        if queue.is_full() {
            return Ok(None);
        }
        queue.unsent.extend_from_slice(request);
        queue.waiting.push(Waiting { replies, answer });
        let driver = queue.driver.take();
        drop(queue);
        if let Some(driver) = driver {
            driver.wake();
        }
        Ok(Some(receiver))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.closed = true;
        let driver = queue.driver.take();
        drop(queue);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

/// Sends and receives, until the connection ends or nobody can ask any more.
pub(crate) struct Driver {
    stream: Box<dyn Stream>,
    shared: Arc<Shared>,
    sending: Vec<u8>,
    /// So much of it is taken by the stream.
    sent: usize,
    /// Whether the stream may still hold some of it back, as one with TLS does.
    held_back: bool,
    /// Who waits for replies, in order.
    waiting: VecDeque<Waiting>,
    read: BytesMut,
    /// How much room `read` had when it was made.
    room: usize,
    /// In this turn, so many bytes have come in.
    received: usize,
    /// So many bytes are needed to go on.
    least: usize,
    /// Of the first who asked, so many replies are there.
    replies: usize,
    /// Where the next one begins.
    begin: usize,
    scan: Scan,
    /// Of the last write, for so many.
    batch: usize,
    /// Whether the last turn was left to others.
    waits: bool,
}

/// Whether something was done.
type Done = bool;

impl Driver {
    /// Takes over what is to be sent, if everything before is sent. Says whether there is anything, or `None` if there never
    /// will be.
    fn take(&mut self, context: &Context<'_>) -> Option<bool> {
        let busy = self.sent < self.sending.len();
        if !busy {
            self.sent = 0;
            self.sending.clear();
            // What was needed once for a large value is not kept.
            self.sending.shrink_to(PIECE);
        }
        let mut queue = self.shared.queue();
        if queue.closed {
            return None;
        }
        if busy || queue.unsent.is_empty() {
            if !queue
                .driver
                .as_ref()
                .is_some_and(|known| known.will_wake(context.waker()))
            {
                queue.driver = Some(context.waker().clone());
            }
            return Some(busy);
        }
        let was_full = queue.is_full();
        std::mem::swap(&mut queue.unsent, &mut self.sending);
        self.batch = queue.waiting.len();
        self.waiting.extend(queue.waiting.drain(..));
        drop(queue);
        if was_full {
            self.shared.room.notify_waiters();
        }
        Some(true)
    }

    fn send(&mut self, context: &mut Context<'_>) -> Result<Done, Ended> {
        let mut done = false;
        while self.sent < self.sending.len() {
            let stream = Pin::new(&mut *self.stream);
            match stream.poll_write(context, &self.sending[self.sent..]) {
                Poll::Ready(Ok(count @ 1..)) => self.sent += count,
                Poll::Ready(_) => return Err(Ended),
                Poll::Pending => return Ok(done),
            }
            (done, self.held_back) = (true, true);
        }
        if self.held_back {
            match Pin::new(&mut *self.stream).poll_flush(context) {
                Poll::Ready(Ok(())) => self.held_back = false,
                Poll::Ready(Err(_)) => return Err(Ended),
                Poll::Pending => {}
            }
        }
        Ok(done)
    }

    fn receive(&mut self, context: &mut Context<'_>) -> Result<Done, Ended> {
        let missing = self.least.saturating_sub(self.read.len());
        if self.read.capacity() - self.read.len() < missing.max(LEAST) {
            self.make_room(missing.max(PIECE));
        }
        match poll_read_buf(Pin::new(&mut *self.stream), context, &mut self.read) {
            Poll::Ready(Ok(count @ 1..)) => {
                self.received += count;
                self.hand_out().map(|()| true)
            }
            Poll::Ready(_) => Err(Ended),
            Poll::Pending => Ok(false),
        }
    }

    fn make_room(&mut self, more: usize) {
        if self.room > 2 * PIECE {
            // What a large reply has needed is not used again: who keeps a part of it would keep all of it.
            let mut fresh = BytesMut::with_capacity(self.read.len() + more);
            fresh.extend_from_slice(&self.read);
            self.read = fresh;
        } else {
            self.read.reserve(more);
        }
        self.room = self.read.capacity();
    }

    /// Gives what has come in to those who wait for it.
    fn hand_out(&mut self) -> Result<(), Ended> {
        while self.begin < self.read.len() {
            let end = match self.scan.extent(&self.read).map_err(|_| Ended)? {
                Extent::Beyond(least) => {
                    self.least = least;
                    return Ok(());
                }
                Extent::Whole(end) => end,
            };
            if self.read[self.begin] == b'>' {
                // Belongs to no request. Nothing asks for it; but who says so.
                let after = self.read.split_off(end);
                self.read.truncate(self.begin);
                self.read.unsplit(after);
                self.scan = Scan::from(self.begin);
                continue;
            }
            self.begin = end;
            self.replies += 1;
            let first = self.waiting.front().ok_or(Ended)?;
            if self.replies == first.replies {
                let replies = self.read.split_to(end).freeze();
                (self.begin, self.replies) = (0, 0);
                if let Some(first) = self.waiting.pop_front() {
                    // If nobody waits any more, nobody gets it.
                    let _ = first.answer.send(replies);
                }
            }
            self.scan = Scan::from(self.begin);
        }
        self.least = 0;
        Ok(())
    }

    /// Where many ask, those who are about to will have done so when the driver has its next turn, and share its write. What a
    /// runtime does by itself is to give a task that is woken its turn at once. Where few ask, the detour would cost more than
    /// the write that it spares.
    fn lets_others_go_first(&mut self) -> bool {
        self.waits = !self.waits
            && self.batch.max(self.waiting.len()) >= MANY
            && !self.shared.queue().unsent.is_empty();
        self.waits
    }

    fn go_on(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        self.received = 0;
        if self.lets_others_go_first() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            let Some(any) = self.take(context) else {
                return Poll::Ready(Ok(()));
            };
            let sent = (any || self.held_back) && self.send(context)?;
            if !self.receive(context)? && !sent {
                return Poll::Pending;
            }
            if self.received >= TURN {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let _ = ready!(self.go_on(context));
        self.shared.signs.end(LOST);
        Poll::Ready(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // If it was not over before, it is its runtime that is.
        self.shared.signs.end(ORPHANED);
        let mut queue = self.shared.queue();
        queue.over = true;
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        drop(waiting);
        self.shared.room.notify_waiters();
    }
}
