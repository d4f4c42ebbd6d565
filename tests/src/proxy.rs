//! A proxy for bad networks.

use std::{
    fmt, io,
    net::{Ipv4Addr, TcpListener as StdListener},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::{net::TcpListener, sync::watch};

mod carry;

/// What is wrong with the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    #[default]
    None,
    /// Everything takes that much longer, requests and replies. The order stays.
    Delay {
        /// For what goes to the server.
        there: Duration,
        /// For what comes from it.
        back: Duration,
    },
    /// Replies come at so many bytes a second.
    Throttle(u32),
    /// Nothing is carried, and nothing is lost: when this is over, all of it arrives.
    Hold,
    /// Connections are accepted and everything is swallowed. A connection that has lost bytes stays silent for good.
    Blackhole,
    /// Each connection ends after so many more bytes of replies.
    Cut(usize),
    /// Connections are reset, those that exist and those that are made.
    Reset,
    /// The server is gone from the connections that exist, without a word; those that are made afterwards work.
    HalfOpen,
    /// Nobody listens. Connections that exist are closed.
    Refuse,
}

/// A network between a test and a server that can be made bad.
///
/// It listens on a port of its own and carries what comes there to a server on another. What it does to the bytes is set by
/// the test, at any time, also for connections that exist. It runs on a thread of its own: how busy the test is does not
/// change what it does, and a test that moves its own time does not move the proxy's.
pub struct Proxy {
    port: u16,
    state: watch::Sender<State>,
    /// The last change that whoever listens has taken note of.
    applied: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Counts the changes.
    turn: u64,
    trouble: Trouble,
    /// Where the server listens.
    server: u16,
}

impl Proxy {
    /// A proxy for the server on that port of 127.0.0.1, with nothing wrong. It ends when this value is dropped, and with
    /// it all its connections.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn start(server: u16) -> Self {
        let (port, listener) = listen();
        let (state, changes) = watch::channel(State {
            server,
            ..State::default()
        });
        let (applied, connections) = (Arc::default(), Arc::default());
        let listen = accept(
            port,
            listener,
            changes,
            Arc::clone(&applied),
            Arc::clone(&connections),
        );
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime can be made");
            // When the proxy is dropped, `listen` returns; the connections end with the runtime.
            runtime
                .block_on(listen)
                .expect("the port is ours to listen on");
        });
        Self {
            port,
            state,
            applied,
            connections,
        }
    }

    /// The port to connect to.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The proxy as the address of a Redis server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// How many connections have been accepted so far.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Acquire)
    }

    /// From when this returns, what is read and who connects meets that trouble.
    pub fn set(&self, trouble: Trouble) {
        self.change(|state| state.trouble = trouble);
    }

    /// Connections made from when this returns go to the server on that port.
    pub fn redirect(&self, server: u16) {
        self.change(|state| state.server = server);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut turn = 0;
        self.state.send_modify(|state| {
            state.turn += 1;
            turn = state.turn;
            change(state);
        });
        while self.applied.load(Ordering::Acquire) < turn {
            thread::sleep(Duration::from_micros(50));
        }
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("port", &self.port)
            .field("state", &*self.state.borrow())
            .finish_non_exhaustive()
    }
}

/// A port that is free, outside of the range that the system gives to outgoing connections: while the proxy refuses, nobody
/// else is to get it.
fn listen() -> (u16, StdListener) {
    let mut dice = fastrand::Rng::new();
    (0..1000)
        .find_map(|_| {
            let port = dice.u16(10_000..32_000);
            let listener = StdListener::bind((Ipv4Addr::LOCALHOST, port)).ok()?;
            Some((port, listener))
        })
        .expect("a port between 10000 and 32000 is free")
}

async fn accept(
    port: u16,
    listener: StdListener,
    mut changes: watch::Receiver<State>,
    applied: Arc<AtomicU64>,
    connections: Arc<AtomicU64>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut listener = Some(TcpListener::from_std(listener)?);
    loop {
        let state = *changes.borrow_and_update();
        listener = match listener {
            _ if state.trouble == Trouble::Refuse => None,
            None => Some(TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?),
            listener => listener,
        };
        applied.store(state.turn, Ordering::Release);
        let next = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = changes.changed() => if changed.is_err() {
                return Ok(());
            },
            accepted = next => if let Ok((client, _)) = accepted {
                connections.fetch_add(1, Ordering::AcqRel);
                tokio::spawn(carry::connection(client, changes.clone()));
            }
        }
    }
}
