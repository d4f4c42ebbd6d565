//! What is often known at once, and sometimes has to be waited for.

// For generated code, which is documented where it is generated.
#![allow(missing_debug_implementations)]

use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// A future of few words. It is boxed only if there is something to wait for, and of one type whatever it waits for: so the
/// future of an annotated function is compiled without any of it.
pub struct Soon<T>(State<T>);

enum State<T> {
    Now(Option<T>),
    Later(Pin<Box<dyn Future<Output = T> + Send>>),
}

impl<T> Soon<T> {
    #[inline]
    pub(crate) fn now(value: T) -> Self {
        Self(State::Now(Some(value)))
    }

    pub(crate) fn later(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(State::Later(Box::pin(work)))
    }

    pub(crate) fn map<U: 'static>(self, change: impl FnOnce(T) -> U + Send + 'static) -> Soon<U>
    where
        T: 'static,
    {
        match self.0 {
            State::Now(value) => Soon(State::Now(value.map(change))),
            State::Later(work) => Soon::later(async move { change(work.await) }),
        }
    }
}

impl<T: Unpin> Future for Soon<T> {
    type Output = T;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            State::Now(value) => Poll::Ready(value.take().expect("is not polled once it is ready")),
            State::Later(work) => work.as_mut().poll(context),
        }
    }
}
