//! What a Redis server is asked to do.

use std::{
    io::{BufRead, BufReader, Write},
    net::{Shutdown, TcpStream},
    thread::{self, JoinHandle},
};

/// Writes down every command that the world's server carries out, those within scripts too.
#[derive(Debug)]
pub struct Monitor {
    stream: TcpStream,
    reader: JoinHandle<Vec<String>>,
}

impl Monitor {
    /// Begins with the commands that come after this call.
    ///
    /// # Panics
    /// In a world without a server, and if the server does not answer.
    #[must_use]
    pub fn start() -> Self {
        let server = crate::world();
        let port = server.redis.as_ref().expect("a Redis server").port();
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server answers");
        stream
            .write_all(b"MONITOR\r\n")
            .expect("the server listens");
        let mut lines = BufReader::new(stream.try_clone().expect("a second handle"));
        let mut answer = String::new();
        lines.read_line(&mut answer).expect("the server answers");
        assert_eq!(answer, "+OK\r\n");
        // A thread, so that the server is never kept waiting for a test that is busy.
        let reader = thread::spawn(move || {
            lines
                .lines()
                .map_while(Result::ok)
                .take_while(|line| !line.contains(END))
                .collect()
        });
        Self { stream, reader }
    }

    /// The commands since the start, as the server shows them: `"SET" "key" "value"`.
    ///
    /// # Panics
    /// If the server does not answer.
    pub async fn commands(self) -> Vec<String> {
        redis::cmd("ECHO")
            .arg(END)
            .exec_async(&mut crate::redis().await)
            .await
            .expect("the server answers");
        let lines = self.reader.join().expect("reading does not panic");
        let _ = self.stream.shutdown(Shutdown::Both);
        // Input: `+1764500000.123456 [0 127.0.0.1:4711] "SET" "key" "value"`.
        lines
            .iter()
            .filter_map(|line| Some(line[line.find("] ")? + 2..].to_owned()))
            .collect()
    }
}

const END: &str = "end-of-this-test";
