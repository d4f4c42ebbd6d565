//! A server on a thread of its own, and requests to it over connections that stay open.

use std::{
    error::Error,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use axum::Router;
use futures_util::future::join_all;
use rustix::time::ClockId;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
};

use crate::measure::processor_time;

const CONNECTIONS: usize = 50;

pub(crate) struct Server(SocketAddr);

impl Server {
    /// It runs until the program ends.
    pub(crate) fn start(router: Router) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?;
        thread::spawn(move || runtime.block_on(axum::serve(listener, router).into_future()));
        Ok(Self(address))
    }

    /// Sends as much as is answered for some time, from this thread.
    pub(crate) fn load(&self, tokens: &[String], time: Duration) -> Load {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("the system has a runtime more");
        let answered = AtomicU64::new(0);
        let of_others = || {
            let all = processor_time(ClockId::ProcessCPUTime);
            all.saturating_sub(processor_time(ClockId::ThreadCPUTime))
        };
        let (begin, others) = (Instant::now(), of_others());
        runtime.block_on(async {
            let connections = (0..CONNECTIONS).map(|at| {
                let tokens = tokens[at..].iter().chain(&tokens[..at]);
                connection(self.0, tokens.cycle(), begin + time, &answered)
            });
            join_all(connections).await;
        });
        let answered = answered.load(Ordering::Relaxed) as f64;
        Load {
            seconds_per_request: (of_others() - others).as_secs_f64() / answered,
            requests_per_second: answered / begin.elapsed().as_secs_f64(),
        }
    }
}

/// What a server did.
pub(crate) struct Load {
    /// Of its processor's time.
    pub(crate) seconds_per_request: f64,
    pub(crate) requests_per_second: f64,
}

async fn connection<'a>(
    address: SocketAddr,
    tokens: impl Iterator<Item = &'a String>,
    until: Instant,
    answered: &AtomicU64,
) {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.set_nodelay(true).expect("it is TCP");
    let mut answer = vec![0; 4_096];
    for token in tokens {
        if Instant::now() >= until {
            return;
        }
        let request = format!(
            "GET /role HTTP/1.1\r\nhost: localhost\r\naccept-language: en\r\nauthorization: Bearer {token}\r\n\r\n"
        );
        stream
            .write_all(request.as_bytes())
            .await
            .expect("it reads");
        // An answer is small enough to come in one piece.
        let len = stream.read(&mut answer).await.expect("it answers");
        assert!(answer[..len].starts_with(b"HTTP/1.1 200 OK\r\n"));
        assert!(answer[..len].ends_with(b"\r\n\r\ncustomer"));
        answered.fetch_add(1, Ordering::Relaxed);
    }
}
