//! A private Redis server for examples and tests.

use std::{
    ffi::OsString,
    fmt,
    hash::{BuildHasher, RandomState},
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// The server is started by a shell that outlives it: it passes signals on, and when its input ends, because this process
/// let go of the server or was killed itself, it kills the server and removes its directory. So a server in a `static`,
/// which is never dropped, does not stay behind either.
///
/// Arguments: the directory, the program, its arguments. Output: the process id, then a line for each signal.
const KEEPER: &str = r#"dir=$1; shift
mkdir -p "$dir" && cd "$dir" || exit 1
"$@" </dev/null >redis.log 2>&1 &
server=$!
echo "$server"
while read -r signal; do kill -s "$signal" "$server"; echo sent; done
kill -s KILL "$server" 2>/dev/null
wait "$server" 2>/dev/null
cd /; rm -rf "$dir""#;

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A `redis-server` of its own: on a free port of 127.0.0.1, with an empty database that is never written to disk, gone when this value
/// is dropped or the process ends.
///
/// Starting one takes some 20 milliseconds, during which the thread is blocked: that is meant for examples and tests, in
/// asynchronous ones too, not for a server under load.
///
/// The program is searched on the `PATH`, or named by the environment variable `REDIS_SERVER`. Runs where there is a POSIX
/// shell.
///
/// # Examples
///
/// ```
/// use cache_redis::{RedisBackend, dev::RedisServer};
///
/// let server = RedisServer::start()?;
/// let redis = RedisBackend::open(&server.url())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RedisServer {
    port: u16,
    dir: PathBuf,
    arguments: Vec<String>,
    running: Option<Running>,
}

struct Running {
    keeper: Child,
    /// `None` once the keeper has been told to end.
    signals: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl RedisServer {
    /// Starts a server.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NotFound`] if there is no `redis-server`; the message names the package. Otherwise what kept it from
    /// answering.
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_redis::dev::RedisServer;
    ///
    /// let server = RedisServer::start()?;
    /// let other = RedisServer::start()?;
    /// assert_ne!(server.port(), other.port());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn start() -> io::Result<Self> {
        Self::start_with(&[])
    }

    /// Starts a server with further arguments, for example `&["--requirepass", "secret"]`.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start); also if the server does not accept the arguments.
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_redis::{RedisBackend, dev::RedisServer};
    ///
    /// let server = RedisServer::start_with(&["--requirepass", "secret"])?;
    /// let redis = RedisBackend::open(&format!("redis://:secret@127.0.0.1:{}", server.port()))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_with(arguments: &[&str]) -> io::Result<Self> {
        let mut last = None;
        // A port that was free may be taken by the time the server wants it.
        for _ in 0..5 {
            let port = free_port()?;
            let dir =
                std::env::temp_dir().join(format!("cache-redis-{}-{port}", std::process::id()));
            let arguments = arguments
                .iter()
                .map(|argument| (*argument).to_owned())
                .collect();
            let mut server = Self {
                port,
                dir,
                arguments,
                running: None,
            };
            match server.run() {
                Ok(()) => return Ok(server),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| io::Error::other("redis-server could not be started")))
    }

    /// `redis://127.0.0.1:<port>`.
    ///
    /// # Examples
    ///
    /// ```
    /// let server = cache_redis::dev::RedisServer::start()?;
    /// assert_eq!(server.url(), format!("redis://127.0.0.1:{}", server.port()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The port on 127.0.0.1.
    ///
    /// # Examples
    ///
    /// ```
    /// let server = cache_redis::dev::RedisServer::start()?;
    /// std::net::TcpStream::connect(("127.0.0.1", server.port()))?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path of the server's Unix socket.
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_redis::{RedisBackend, dev::RedisServer};
    ///
    /// let server = RedisServer::start()?;
    /// let redis = RedisBackend::open(&format!("unix://{}", server.socket().display()))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.dir.join("redis.sock")
    }

    /// Kills the server, as a crash does. It can be started again with [`restart`](Self::restart).
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    /// use cache_redis::{RedisBackend, dev::RedisServer};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut server = RedisServer::start()?;
    /// # let redis = RedisBackend::open(&server.url())?;
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(redis)).build()?;
    /// let price = caches.cache("price")?; // on that server
    /// server.stop();
    /// assert_eq!(price.get_or_load(&42, async { 2990 }).await, 2990); // as without a cache
    /// assert!(price.insert(&42, 2990).await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// Starts the server again on the same port, with an empty database, after killing it if it still runs.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start); also if something else has taken the port.
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_redis::dev::RedisServer;
    ///
    /// let mut server = RedisServer::start()?;
    /// let url = server.url();
    /// server.restart()?; // a crash in between, and all data lost
    /// assert_eq!(server.url(), url);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        self.run()
    }

    /// Halts the server: connections stay open, nothing is answered.
    ///
    /// # Errors
    ///
    /// If the server does not run.
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_core::{CacheConfig, CacheManager};
    /// use cache_redis::{RedisBackend, dev::RedisServer};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut server = RedisServer::start()?;
    /// # let redis = RedisBackend::open(&server.url())?;
    /// # let caches = CacheManager::builder().defaults(CacheConfig::on(redis)).build()?;
    /// let price = caches.cache("price")?; // on that server
    /// price.insert(&42, 2990).await?;
    /// server.pause()?;
    /// assert_eq!(price.get(&42).await, None); // after the read budget, 100 ms
    /// server.resume()?;
    /// # Ok(()) }
    /// ```
    pub fn pause(&mut self) -> io::Result<()> {
        self.signal("STOP")
    }

    /// Lets a halted server go on.
    ///
    /// # Errors
    ///
    /// If the server does not run.
    ///
    /// # Examples
    ///
    /// ```
    /// use cache_redis::dev::RedisServer;
    ///
    /// let mut server = RedisServer::start()?;
    /// server.pause()?;
    /// server.resume()?;
    /// server.stop();
    /// assert!(server.resume().is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn resume(&mut self) -> io::Result<()> {
        self.signal("CONT")
    }

    fn signal(&mut self, signal: &str) -> io::Result<()> {
        let stopped = || {
            io::Error::new(
                io::ErrorKind::NotConnected,
                "the redis server is stopped, restart it first",
            )
        };
        let running = self.running.as_mut().ok_or_else(stopped)?;
        writeln!(running.signals.as_mut().ok_or_else(stopped)?, "{signal}")?;
        let mut sent = String::new();
        running.answers.read_line(&mut sent)?;
        if sent.is_empty() {
            Err(stopped())
        } else {
            Ok(())
        }
    }

    fn run(&mut self) -> io::Result<()> {
        let program = program()?;
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "sh"])
            .arg(&self.dir)
            .arg(program)
            .args([
                "--port",
                &self.port.to_string(),
                "--bind",
                "127.0.0.1",
                "--unixsocket",
                "redis.sock",
            ])
            .args(["--save", "", "--appendonly", "no", "--daemonize", "no"])
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let signals = keeper.stdin.take();
        let answers = keeper
            .stdout
            .take()
            .map(BufReader::new)
            .ok_or_else(|| io::Error::other("a shell without output"))?;
        let mut running = Running {
            keeper,
            signals,
            answers,
        };
        let mut id = String::new();
        running.answers.read_line(&mut id)?;
        self.running = Some(running);
        self.wait_until_it_answers(id.trim())
    }

    fn wait_until_it_answers(&mut self, id: &str) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        // Asking for the process id keeps us from taking another server on that port for ours. Any reply at all will do if
        // the server asks for a password first, or lets nobody in.
        let ours = format!("process_id:{id}\r\n");
        loop {
            let reply = ask(self.port).unwrap_or_default();
            if reply.contains(&ours) || reply.starts_with("-NOAUTH") {
                return Ok(());
            }
            let log = std::fs::read_to_string(self.dir.join("redis.log")).unwrap_or_default();
            // Somebody else answers, or has taken the port since it was found free.
            if !reply.is_empty() || log.contains("Address already in use") {
                self.stop();
                return Err(io::Error::new(
                    io::ErrorKind::AddrInUse,
                    format!("port {} is taken", self.port),
                ));
            }
            if log.contains("FATAL") || log.contains("exiting") || Instant::now() > deadline {
                self.stop();
                let last = log.lines().last().unwrap_or("it says nothing");
                return Err(io::Error::other(format!(
                    "redis-server does not run: {last}"
                )));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The end of its input is what the keeper waits for; when it is gone, so are the server and its directory.
        self.signals = None;
        let _ = self.keeper.wait();
    }
}

impl fmt::Debug for RedisServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the arguments: there may be a password among them.
        f.debug_struct("RedisServer")
            .field("port", &self.port)
            .field("running", &self.running.is_some())
            .finish_non_exhaustive()
    }
}

fn program() -> io::Result<OsString> {
    if let Some(named) = std::env::var_os("REDIS_SERVER") {
        return if Path::new(&named).is_file() {
            std::path::absolute(named).map(Into::into)
        } else {
            Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the file named by REDIS_SERVER does not exist, write the path of redis-server into it",
            ))
        };
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths)
        .map(|directory| directory.join("redis-server"))
        .find(|candidate| candidate.is_file())
        .map(Into::into)
        .ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "redis-server is not installed, get it with `apt-get install redis-server` (Debian, Ubuntu) or set REDIS_SERVER to its path",
            )
        })
}

/// A port that nobody listens on. Below the range that the system gives to outgoing connections (on Linux from 32768): one
/// of those could take the port while the server is stopped.
fn free_port() -> io::Result<u16> {
    let random = RandomState::new();
    for attempt in 0..100_u32 {
        let port = 10_000 + u16::try_from(random.hash_one(attempt) % 22_000).unwrap_or(0);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::Error::new(
        io::ErrorKind::AddrInUse,
        "no free port was found between 10000 and 32000",
    ))
}

/// The beginning of the reply to `INFO server`.
fn ask(port: u16) -> io::Result<String> {
    let mut stream = TcpStream::connect_timeout(
        &SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Duration::from_millis(500),
    )?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"INFO server\r\nQUIT\r\n")?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    Ok(reply)
}
