//! A server and the ways to it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use cache_redis::dev::RedisServer;
use redis::{Connection, FromRedisValue};
use tempfile::TempDir;

use crate::{Proxy, Trouble};

/// A Redis server that keeps its data on disk, another one to follow or to hand over to, and a proxy for each process.
///
/// What is done to the server blocks: that is for a thread of the test's own.
#[derive(Debug)]
pub struct Station {
    server: RedisServer,
    /// Empty, unless it has taken over.
    other: RedisServer,
    disk: TempDir,
    proxies: Vec<Proxy>,
}

/// Whoever makes the weather has a user of its own, whom nothing is forbidden.
const ADMIN: &[&str] = &["--user", "admin", "on", "nopass", "~*", "+@all"];

impl Station {
    /// A station for so many processes.
    ///
    /// # Panics
    /// If no server can be started; the message names the package that is missing.
    pub async fn open(processes: usize) -> Self {
        let station = tokio::task::spawn_blocking(move || Self::new(processes));
        station.await.expect("the servers start")
    }

    /// Ends the servers and the proxies.
    ///
    /// # Panics
    /// If that panics.
    pub async fn close(self) {
        tokio::task::spawn_blocking(|| drop(self))
            .await
            .expect("servers can be ended");
    }

    fn new(processes: usize) -> Self {
        let disk = tempfile::tempdir().expect("a directory can be made");
        let path = disk.path().to_str().expect("a path that is text");
        // A replica is copied to at once.
        let both = [&["--repl-diskless-sync-delay", "0"], ADMIN].concat();
        let durable = ["--dir", path, "--appendonly", "yes"];
        let debug = ["--enable-debug-command", "local"];
        let arguments = [&durable[..], &debug, &both].concat();
        let server = RedisServer::start_with(&arguments).expect("a Redis server is needed");
        let other = RedisServer::start_with(&both).expect("a Redis server is needed");
        let proxies = (0..processes)
            .map(|_| Proxy::start(server.port()))
            .collect();
        Self {
            server,
            other,
            disk,
            proxies,
        }
    }

    /// The address for each process.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.proxies.iter().map(Proxy::url).collect()
    }

    /// The proxies.
    #[must_use]
    pub fn proxies(&self) -> &[Proxy] {
        &self.proxies
    }

    /// The server.
    pub const fn server(&mut self) -> &mut RedisServer {
        &mut self.server
    }

    /// Starts the server again, after a crash if it still runs, with what it had written.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart(&mut self) {
        self.server.restart().expect("the server starts again");
    }

    /// Starts the server again, after a crash if it still runs, without its data.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart_empty(&mut self) {
        self.server.stop();
        empty(self.disk.path()).expect("the data can be removed");
        self.restart();
    }

    /// What the server has written to disk so far.
    ///
    /// # Panics
    /// If it cannot be read.
    #[must_use]
    pub fn copy_of_disk(&self) -> TempDir {
        let copy = tempfile::tempdir().expect("a directory can be made");
        copy_all(self.disk.path(), copy.path()).expect("the data can be copied");
        copy
    }

    /// Starts the server again with those data in place of its own: as a replica is promoted that was behind.
    ///
    /// # Panics
    /// If it does not start.
    pub fn restart_with(&mut self, data: &TempDir) {
        self.server.stop();
        empty(self.disk.path()).expect("the data can be removed");
        copy_all(data.path(), self.disk.path()).expect("the data can be copied");
        self.restart();
    }

    /// The server becomes a replica of one that is empty.
    pub fn follow(&mut self) {
        let port = self.other.port().to_string();
        self.command(&["REPLICAOF", "127.0.0.1", &port]);
    }

    /// The other server takes over with all the data, for a while. Before the proxies lead to it, the first one is a replica
    /// for a while, which refuses writes.
    ///
    /// # Panics
    /// If one of the servers does not do its part.
    pub fn fail_over(&mut self, mut meanwhile: impl FnMut()) {
        let [first, second] = [self.server.port(), self.other.port()];
        let mut connections = [first, second].map(connection);
        let [server, other] = &mut connections;
        replicate(other, first);
        take_over(server, other, second);
        meanwhile();
        self.lead_to(second);
        meanwhile();
        take_over(other, server, first);
        self.lead_to(first);
        ask::<redis::Value>(other, &["REPLICAOF", "NO", "ONE"]);
        ask::<redis::Value>(other, &["FLUSHALL"]);
    }

    /// All connections end before the first one is made to that server: nobody reads from one while somebody writes to another.
    fn lead_to(&self, port: u16) {
        self.trouble(None, Trouble::Refuse);
        for proxy in &self.proxies {
            proxy.redirect(port);
        }
        self.trouble(None, Trouble::None);
    }

    /// Sends the server a command that has to succeed.
    ///
    /// # Panics
    /// If it does not.
    pub fn command(&mut self, words: &[&str]) {
        self.ask::<redis::Value>(words);
    }

    /// The same, for its answer.
    ///
    /// # Panics
    /// If it does not succeed.
    pub fn ask<T: FromRedisValue>(&mut self, words: &[&str]) -> T {
        ask(&mut connection(self.server.port()), words)
    }

    /// Ends the connections of everybody else.
    pub fn disconnect_clients(&mut self) {
        self.command(DISCONNECT);
    }

    /// Has the server accept no connection, and end those there are, while something goes on.
    pub fn without_others(&mut self, meanwhile: impl FnOnce()) {
        // The one connection that is allowed.
        let mut own = connection(self.server.port());
        ask::<redis::Value>(&mut own, &["CONFIG", "SET", "maxclients", "1"]);
        ask::<redis::Value>(&mut own, DISCONNECT);
        meanwhile();
        ask::<redis::Value>(&mut own, &["CONFIG", "SET", "maxclients", "1000"]);
    }

    /// Sets the trouble of one proxy, or of all.
    pub fn trouble(&self, only: Option<usize>, trouble: Trouble) {
        for (number, proxy) in self.proxies.iter().enumerate() {
            if only.is_none_or(|only| only == number) {
                proxy.set(trouble);
            }
        }
    }
}

fn connection(port: u16) -> Connection {
    const PATIENCE: Duration = Duration::from_secs(20);
    let client = redis::Client::open(format!("redis://admin:any@127.0.0.1:{port}"))
        .expect("the address is valid");
    let connection = client
        .get_connection_with_timeout(PATIENCE)
        .expect("the server lets its administrator in");
    connection
        .set_read_timeout(Some(PATIENCE))
        .expect("that is a time");
    connection
}

/// Returns when the server is a replica of the one on that port and has its data.
fn replicate(server: &mut Connection, master: u16) {
    ask::<redis::Value>(server, &["REPLICAOF", "127.0.0.1", &master.to_string()]);
    until_info(server, "master_link_status:up");
}

/// Has a replica take over from its master, who becomes a replica of it. No write is lost.
fn take_over(master: &mut Connection, replica: &mut Connection, port: u16) {
    until_info(master, "state=online");
    let to = ["FAILOVER", "TO", "127.0.0.1", &port.to_string()];
    ask::<redis::Value>(master, &to);
    until_info(replica, "role:master");
    until_info(master, "master_link_status:up");
}

fn until_info(server: &mut Connection, text: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !ask::<String>(server, &["INFO", "replication"]).contains(text) {
        assert!(Instant::now() < deadline, "it never came to `{text}`");
        thread::sleep(Duration::from_millis(2));
    }
}

const DISCONNECT: &[&str] = &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"];

fn ask<T: FromRedisValue>(connection: &mut Connection, words: &[&str]) -> T {
    let mut command = redis::cmd(words[0]);
    for word in &words[1..] {
        command.arg(*word);
    }
    loop {
        match command.query(connection) {
            Ok(answer) => return answer,
            // Restarted just now.
            Err(error) if error.code() == Some("LOADING") => {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => panic!("{words:?}: {error}"),
        }
    }
}

fn empty(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            fs::remove_dir_all(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    let entries: Vec<PathBuf> = fs::read_dir(from)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    for path in entries {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            fs::create_dir_all(&target)?;
            copy_all(&path, &target)?;
        } else if path.extension().is_none_or(|extension| extension != "sock") {
            fs::copy(&path, target)?;
        }
    }
    Ok(())
}
