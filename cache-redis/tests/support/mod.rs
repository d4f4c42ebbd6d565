//! What the tests of this crate share.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::{
    collections::BTreeSet,
    future::Future,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use cache_core::{
    Bytes, CacheBackend,
    backend::{BackendError, CacheId, EPOCH_BEFORE_END, Fence, FenceScope, NewEntry, Token},
};
use cache_redis::{RedisBackend, RedisBackendBuilder, dev::RedisServer};
use redis::{FromRedisValue, aio::MultiplexedConnection};

/// A server, a backend for it and a plain connection to look at it from outside.
pub(crate) struct Fixture {
    pub(crate) server: RedisServer,
    pub(crate) backend: RedisBackend,
    pub(crate) outside: MultiplexedConnection,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let server = RedisServer::start().expect("redis-server starts");
        let backend = patient(&server.url());
        let outside = outside(&server.url()).await;
        Self {
            server,
            backend,
            outside,
        }
    }

    /// Sends one command given as words.
    pub(crate) async fn ask<T: FromRedisValue>(&mut self, words: &[&str]) -> T {
        ask(&mut self.outside, words).await
    }

    /// The connections to the server other than the one to look at it from outside.
    pub(crate) async fn clients(&self) -> BTreeSet<u64> {
        clients(self.outside.clone()).await
    }

    /// Waits until the connections to the server are such.
    pub(crate) async fn until_clients(&self, what: &str, are: impl Fn(BTreeSet<u64>) -> bool) {
        let are = &are;
        eventually(what, || {
            let outside = self.outside.clone();
            async move { are(clients(outside).await) }
        })
        .await;
    }

    /// Waits until that many connections wait for the server to carry out what they have sent.
    pub(crate) async fn until_blocked(&self, clients: u64) {
        eventually("a request is held back by the server", || {
            let mut outside = self.outside.clone();
            async move {
                let info: String = ask(&mut outside, &["INFO", "clients"]).await;
                info.contains(&format!("blocked_clients:{clients}\r\n"))
            }
        })
        .await;
    }

    /// The keys of all entries there are, in order.
    pub(crate) async fn value_keys(&mut self) -> Vec<String> {
        self.keys("cache:*").await
    }

    /// The keys that match the pattern, in order. For tests only: `KEYS` is what the backend must never use.
    pub(crate) async fn keys(&mut self, pattern: &str) -> Vec<String> {
        let mut keys: Vec<String> = self.ask(&["KEYS", pattern]).await;
        keys.sort();
        keys
    }
}

async fn clients(mut outside: MultiplexedConnection) -> BTreeSet<u64> {
    let own: u64 = ask(&mut outside, &["CLIENT", "ID"]).await;
    let list: String = ask(&mut outside, &["CLIENT", "LIST"]).await;
    let ids = list
        .lines()
        .filter_map(|line| line.split([' ', '=']).nth(1)?.parse().ok());
    ids.filter(|id| *id != own).collect()
}

/// A backend that waits long enough for a busy machine.
pub(crate) fn patient(url: &str) -> RedisBackend {
    patient_builder(url).build().expect("the url is good")
}

pub(crate) fn patient_builder(url: &str) -> RedisBackendBuilder {
    RedisBackend::builder(url)
        .read_budget(Duration::from_secs(5))
        .store_budget(Duration::from_secs(5))
}

pub(crate) async fn outside(url: &str) -> MultiplexedConnection {
    let client = redis::Client::open(url).expect("the url is good");
    client
        .get_multiplexed_async_connection()
        .await
        .expect("the server answers")
}

pub(crate) async fn ask<T: FromRedisValue>(
    connection: &mut MultiplexedConnection,
    words: &[&str],
) -> T {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    command
        .query_async(connection)
        .await
        .expect("the server carries it out")
}

pub(crate) fn product() -> CacheId {
    CacheId::new("product", "cache:product")
}

/// The bytes of an entry as a cache stores it, as far as this crate looks at them: where the epoch is.
pub(crate) fn stored_form(value: &str, epoch: Token) -> Bytes {
    let mut bytes = value.as_bytes().to_vec();
    bytes.extend_from_slice(epoch.as_bytes());
    bytes.extend_from_slice(&[b'.'; EPOCH_BEFORE_END - Token::LEN]);
    bytes.into()
}

/// The value and the epoch in what [`stored_form`] made.
pub(crate) fn opened(bytes: &Bytes) -> (&str, Token) {
    let (value, trailer) = bytes.split_at(bytes.len() - EPOCH_BEFORE_END);
    let epoch = trailer
        .first_chunk()
        .expect("a trailer begins with the epoch");
    let value = std::str::from_utf8(value).expect("values are texts");
    (value, Token::from_bytes(*epoch))
}

pub(crate) fn new_entry(value: &str, fence: Fence) -> NewEntry {
    NewEntry {
        bytes: stored_form(value, fence.epoch),
        ttl: Some(Duration::from_secs(60)),
        fence,
        scope: FenceScope::Entry,
    }
}

/// The tokens in force.
pub(crate) async fn fence(backend: &RedisBackend, cache: &CacheId, key: &str) -> Fence {
    backend
        .load(cache.entry(key))
        .await
        .expect("the server answers")
        .fence
        .expect("tokens are created")
}

/// What a cache does after a miss.
pub(crate) async fn fill(backend: &RedisBackend, cache: &CacheId, key: &str) {
    let fence = fence(backend, cache, key).await;
    assert!(
        backend
            .store(cache.entry(key), new_entry(key, fence))
            .await
            .expect("the server answers")
    );
}

/// What a cache would serve: the value without its trailer, if it belongs to the present epoch.
pub(crate) async fn read(backend: &RedisBackend, cache: &CacheId, key: &str) -> Option<String> {
    let loaded = backend
        .load(cache.entry(key))
        .await
        .expect("the server answers");
    let (bytes, fence) = (loaded.bytes?, loaded.fence?);
    let (value, epoch) = opened(&bytes);
    (epoch == fence.epoch).then(|| value.to_owned())
}

/// Tries again until it holds; for what happens in the background and cannot be waited for.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds().await {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Runs a call that must fail and says how long that took.
pub(crate) async fn failing<T: std::fmt::Debug>(
    call: impl Future<Output = Result<T, BackendError>>,
) -> (BackendError, Duration) {
    let began = Instant::now();
    let error = call.await.expect_err("the call fails");
    (error, began.elapsed())
}

/// What a server carries out, one line for each command.
pub(crate) struct Monitor(BufReader<TcpStream>);

impl Monitor {
    pub(crate) fn start(server: &RedisServer) -> Self {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port())).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        stream.write_all(b"MONITOR\r\n").unwrap();
        let mut lines = BufReader::new(stream);
        let mut ok = String::new();
        lines.read_line(&mut ok).unwrap();
        assert_eq!(ok, "+OK\r\n");
        Self(lines)
    }

    /// The commands since the last time, as lists of their words, without those that scripts run.
    pub(crate) async fn commands(&mut self, f: &mut Fixture) -> Vec<Vec<String>> {
        let _: String = f.ask(&["ECHO", "end of what is looked at"]).await;
        let mut commands = Vec::new();
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            if line.contains("end of what is looked at") {
                return commands;
            }
            let (origin, command) = line.split_once("] ").unwrap();
            if !origin.ends_with("lua") {
                commands.push(
                    command
                        .trim()
                        .trim_matches('"')
                        .split("\" \"")
                        .map(str::to_owned)
                        .collect(),
                );
            }
        }
    }

    /// The names of the commands since the last time.
    pub(crate) async fn names(&mut self, f: &mut Fixture) -> Vec<String> {
        self.commands(f)
            .await
            .into_iter()
            .map(|mut words| words.remove(0))
            .collect()
    }
}

/// A way to a server that can swallow what is sent on it.
pub(crate) struct Proxy {
    port: u16,
    behind: Arc<AtomicU16>,
    accepted: Arc<AtomicUsize>,
    swallowed: Arc<AtomicUsize>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    pub(crate) fn start(server: &RedisServer) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (accepted, swallowed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (count, limit) = (Arc::clone(&accepted), Arc::clone(&swallowed));
        let behind = Arc::new(AtomicU16::new(server.port()));
        let open = Arc::<Mutex<Vec<TcpStream>>>::default();
        let (leads_to, opened) = (Arc::clone(&behind), Arc::clone(&open));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let behind = leads_to.load(Ordering::SeqCst);
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, behind)) else {
                    continue;
                };
                opened.lock().unwrap().push(client.try_clone().unwrap());
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let limit = Arc::clone(&limit);
                    thread::spawn(move || {
                        let mut buffer = [0; 4096];
                        while let Ok(length @ 1..) = from.read(&mut buffer) {
                            if number >= limit.load(Ordering::SeqCst)
                                && to.write_all(&buffer[..length]).is_err()
                            {
                                break;
                            }
                        }
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Self {
            port,
            behind,
            accepted,
            swallowed,
            open,
        }
    }

    /// From now on it is the way to that server; the connections there are end.
    pub(crate) fn lead_to(&self, server: &RedisServer) {
        self.behind.store(server.port(), Ordering::SeqCst);
        for client in self.open.lock().unwrap().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// From now on nothing passes on the connections there are. Those to come work.
    pub(crate) fn swallow(&self) {
        self.swallowed.store(self.accepted(), Ordering::SeqCst);
    }

    /// How many connections have been made.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}
