//! Large entries among small ones.

mod support;

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use cache_core::{CacheBackend, backend::NewEntry};
use support::{Fixture, eventually, fence, new_entry, patient, product, read, stored_form};

const LARGE: usize = 4 << 20;

/// A server that has a large entry and small ones. While it is told to, it stops in the middle of a large one.
struct Stalling {
    port: u16,
    stalls: Arc<AtomicBool>,
    /// How many replies it is in the middle of.
    halves: Arc<AtomicUsize>,
    /// The rest of them, to be sent when it goes on.
    rest: Arc<Mutex<Vec<Rest>>>,
}

/// What is to be sent, and where.
type Rest = (TcpStream, Vec<u8>);

impl Stalling {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            stalls: Arc::default(),
            halves: Arc::default(),
            rest: Arc::default(),
        };
        let (stalls, halves) = (Arc::clone(&server.stalls), Arc::clone(&server.halves));
        let rest = Arc::clone(&server.rest);
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let (stalls, halves) = (Arc::clone(&stalls), Arc::clone(&halves));
                let rest = Arc::clone(&rest);
                thread::spawn(move || {
                    let mut buffer = [0; 4096];
                    while let Ok(length @ 1..) = stream.read(&mut buffer) {
                        let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
                        let reply = answer(&request);
                        let stops = reply.len() > LARGE && stalls.load(Ordering::SeqCst);
                        let now = if stops { reply.len() / 2 } else { reply.len() };
                        if stream.write_all(&reply[..now]).is_err() {
                            break;
                        }
                        if stops {
                            let stream = stream.try_clone().unwrap();
                            rest.lock().unwrap().push((stream, reply[now..].to_vec()));
                            halves.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        server
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    fn go_on(&self) {
        for (mut stream, rest) in self.rest.lock().unwrap().drain(..) {
            stream.write_all(&rest).unwrap();
        }
    }
}

fn answer(request: &str) -> Vec<u8> {
    if request.contains("HELLO") {
        return b"%0\r\n+OK\r\n+OK\r\n".to_vec();
    }
    if request.contains("INFO") {
        return b"-NOPERM no\r\n-NOPERM no\r\n".to_vec();
    }
    assert_eq!(request.matches("MGET").count(), 1, "one look-up at a time");
    let size = if request.contains("large") {
        LARGE
    } else {
        200
    };
    let head = format!("*3\r\n${size}\r\n");
    let tokens = "\r\n$8\r\na stamp!\r\n$8\r\nan epoch\r\n";
    [head.as_bytes(), &vec![b'x'; size], tokens.as_bytes()].concat()
}

#[tokio::test]
async fn who_reads_small_entries_does_not_wait_for_large_ones() {
    let server = Stalling::start();
    let backend = patient(&server.url());
    let size = async |key: &str| {
        let loaded = backend.load(product().entry(key)).await;
        loaded.expect("an answer").bytes.expect("an entry").len()
    };
    // From here on it is known which one is large.
    assert_eq!((size("small").await, size("large").await), (200, LARGE));
    server.stalls.store(true, Ordering::SeqCst);
    let large = tokio::spawn({
        let backend = backend.clone();
        async move { backend.load(product().entry("large")).await }
    });
    eventually("half of it is sent", || async {
        server.halves.load(Ordering::SeqCst) == 1
    })
    .await;
    for _ in 0..20 {
        assert_eq!(size("small").await, 200);
    }
    assert!(!large.is_finished(), "its other half was not sent");
    server.go_on();
    let loaded = large.await.unwrap().expect("an answer");
    assert_eq!(loaded.bytes.expect("an entry").len(), LARGE);
}

#[tokio::test]
async fn a_connection_for_large_entries_is_made_when_there_is_one() {
    let f = Fixture::new().await;
    let product = product();
    let large = "x".repeat(LARGE / 8);
    for (value, connections) in [("small", 1), (large.as_str(), 2), ("small again", 2)] {
        let fence = fence(&f.backend, &product, "1").await;
        let new = NewEntry {
            bytes: stored_form(value, fence.epoch),
            ..new_entry("", fence)
        };
        assert!(f.backend.store(product.entry("1"), new).await.unwrap());
        let there = read(&f.backend, &product, "1").await;
        assert_eq!(there.as_deref(), Some(value));
        assert_eq!(f.clients().await.len(), connections);
    }
}
