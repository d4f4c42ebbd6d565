//! A server and the ways to it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use cache_redis::dev::RedisServer;
use redis::{Connection, FromRedisValue};
use tempfile::TempDir;

use crate::{Proxy, Trouble};

/// A Redis server that keeps its data on disk, another one for it to follow, and a proxy for each process.
///
/// What is done to the server blocks: that is for a thread of the test's own.
#[derive(Debug)]
pub struct Station {
    server: RedisServer,
    master: RedisServer,
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
        let arguments = [
            &["--dir", path, "--appendonly", "yes"],
            &["--enable-debug-command", "local"][..],
            // A replica is copied to without writing to disk, and at once.
            &["--repl-diskless-sync-delay", "0"],
            ADMIN,
        ]
        .concat();
        let server = RedisServer::start_with(&arguments).expect("a Redis server is needed");
        let master = RedisServer::start_with(&["--repl-diskless-sync-delay", "0"])
            .expect("a Redis server is needed");
        let proxies = (0..processes)
            .map(|_| Proxy::start(server.port()))
            .collect();
        Self {
            server,
            master,
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
        let port = self.master.port().to_string();
        self.command(&["REPLICAOF", "127.0.0.1", &port]);
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
        ask(&mut self.connection(), words)
    }

    fn connection(&self) -> Connection {
        const PATIENCE: Duration = Duration::from_secs(20);
        let url = format!("redis://admin:any@127.0.0.1:{}", self.server.port());
        let client = redis::Client::open(url).expect("the address is valid");
        let connection = client
            .get_connection_with_timeout(PATIENCE)
            .expect("the server lets its administrator in");
        connection
            .set_read_timeout(Some(PATIENCE))
            .expect("that is a time");
        connection
    }

    /// Ends the connections of everybody else.
    pub fn disconnect_clients(&mut self) {
        self.command(DISCONNECT);
    }

    /// Has the server accept no connection, and end those there are, while something goes on.
    pub fn without_others(&mut self, meanwhile: impl FnOnce()) {
        // The one connection that is allowed.
        let mut own = self.connection();
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
