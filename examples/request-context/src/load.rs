//! A server on a thread of its own, and requests to it over connections that stay open.

use std::{
    error::Error,
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use axum::Router;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
};

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
    pub(crate) fn seconds_per_request(&self, tokens: &[String], time: Duration) -> f64 {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("the system has a runtime more");
        let answered = AtomicU64::new(0);
        runtime.block_on(async {
            let begin = Instant::now();
            let connections = (0..CONNECTIONS).map(|at| {
                let tokens = tokens[at..].iter().chain(&tokens[..at]);
                connection(self.0, tokens.cycle(), begin + time, &answered)
            });
            futures_util::future::join_all(connections).await;
            begin.elapsed().as_secs_f64() / answered.load(Ordering::Relaxed) as f64
        })
    }
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
