//! Requests on their way, in memory that is used again.
//!
//! What the client library needs to send a request and wait for its reply is a future of more than a kilobyte. That is beyond what
//! allocators hand out without looking around, and a look-up would pay more for that memory than for all else it does here.
//! So each thread keeps some of it.

use std::{
    cell::RefCell,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use redis::{RedisResult, Value, aio::MultiplexedConnection};
use tokio_util::sync::ReusableBoxFuture;

use crate::link::Request;

/// So many are kept by each thread.
const MOST: usize = 512;

type Memory = ReusableBoxFuture<'static, RedisResult<Value>>;

thread_local! {
    static IDLE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

/// A request that is sent when this is polled. Dropped before its reply has come, it is forgotten, and so is its memory.
pub(crate) struct Sending(Option<Memory>);

impl Sending {
    pub(crate) fn new(mut connection: MultiplexedConnection, request: &Request<'_>) -> Self {
        Self(Some(match request {
            Request::One(command) => {
                let command = (*command).clone();
                in_memory(async move { connection.send_packed_command(&command).await })
            }
            Request::Many(pipeline) => {
                let pipeline = (*pipeline).clone();
                in_memory(async move {
                    let replies = connection.send_packed_commands(&pipeline, 0, pipeline.len());
                    replies.await.map(Value::Array)
                })
            }
        }))
    }
}

fn in_memory(work: impl Future<Output = RedisResult<Value>> + Send + 'static) -> Memory {
    match IDLE.try_with(|idle| idle.borrow_mut().pop()) {
        Ok(Some(mut memory)) => {
            // One of another size is given back, and another one made.
            memory.set(work);
            memory
        }
        Ok(None) | Err(_) => Memory::new(work),
    }
}

impl Future for Sending {
    type Output = RedisResult<Value>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let memory = self.0.as_mut().expect("is not polled once it is ready");
        let answer = ready!(memory.poll(context));
        if let Some(memory) = self.0.take() {
            let _ = IDLE.try_with(|idle| {
                let mut idle = idle.borrow_mut();
                if idle.len() < MOST {
                    idle.push(memory);
                }
            });
        }
        Poll::Ready(answer)
    }
}
