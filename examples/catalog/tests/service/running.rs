//! A running service and the requests that tests send to it.

use std::{
    fmt::{self, Display},
    io::{BufRead, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Barrier, mpsc},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use ureq::{Agent, http};

/// How long anything may take that happens by itself soon: generous, so that no test depends on how busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The binary, running; killed when dropped.
pub(crate) struct Service {
    child: Child,
    /// What it printed before it was listening.
    pub(crate) announced: Vec<String>,
    pub(crate) url: String,
    agent: Agent,
}

/// The answer to a request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    headers: http::HeaderMap,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not more of a catalog than one wants to read in a failed test.
        let beginning: String = self.body.chars().take(300).collect();
        write!(f, "{} {:?} {beginning}", self.status, self.headers)
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .get(name)
            .map(|value| value.to_str().expect("a header of text"))
    }

    /// The body, which says to be JSON and is.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        serde_json::from_str(&self.body).expect("a body of JSON")
    }

    /// The status, checked, and the message of an error.
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        let json = self.json();
        let fields = json.as_object().expect("an object");
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["message"], "{self:?}");
        json["message"].as_str().expect("a text").to_owned()
    }

    /// The status, checked, and the body as it was sent.
    pub(crate) fn text(&self, status: u16) -> &str {
        assert_eq!(self.status, status, "{self:?}");
        &self.body
    }
}

impl Service {
    /// Starts the service on a free port and waits until it listens.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut arguments = arguments.to_vec();
        if !arguments.contains(&"--listen") {
            arguments.extend(["--listen", "127.0.0.1:0"]);
        }
        if arguments.contains(&"--redis") {
            // On a busy machine Redis may not answer within a tenth of a second: the answer would be right, but no hit.
            arguments.extend(["--redis-budget", "5000"]);
        }
        let mut child = Command::new(env!("CARGO_BIN_EXE_catalog"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build()
            .new_agent();
        let mut announced = Vec::new();
        let deadline = Instant::now() + PATIENCE;
        let url = loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line: String = lines
                .recv_timeout(left)
                .expect("a line that says where it listens");
            announced.push(line);
            if let Some(url) = announced
                .last()
                .and_then(|line| line.strip_prefix("listening on "))
            {
                // A service on every address is reached at this machine's own.
                break url.replace("0.0.0.0", "127.0.0.1");
            }
        };
        Self {
            child,
            announced,
            url,
            agent,
        }
    }

    /// What follows `beginning` in a line that was printed.
    pub(crate) fn announced(&self, beginning: &str) -> Option<&str> {
        self.announced
            .iter()
            .find_map(|line| line.strip_prefix(beginning))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, json: &str) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], json)
    }

    pub(crate) fn patch(&self, path: &str, json: &str) -> Answer {
        self.send("PATCH", path, &[("content-type", "application/json")], json)
    }

    /// Reads a cached path and checks where the answer came from.
    pub(crate) fn expect(&self, outcome: &str, path: &str) -> Answer {
        let answer = self.get(path);
        assert_eq!(
            answer.header("x-cache"),
            Some(outcome),
            "{path}: {answer:?}"
        );
        answer
    }

    /// A counter of a cache.
    pub(crate) fn count(&self, cache: &str, counter: &str) -> u64 {
        self.get("/cache-stats").json()[cache][counter]
            .as_u64()
            .unwrap_or_else(|| panic!("no {counter} of {cache}"))
    }

    /// An order by somebody for these units.
    pub(crate) fn order(&self, payment: impl Display, items: &[(&str, i64)]) -> Answer {
        self.post("/orders", &order(payment, items))
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.try_send(method, path, headers, body)
            .expect("an answer")
    }

    pub(crate) fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, ureq::Error> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = if body.is_empty() && matches!(method, "GET" | "HEAD" | "DELETE") {
            self.agent.run(request.body(()).expect("a request"))
        } else {
            self.agent
                .run(request.body(body.to_owned()).expect("a request"))
        };
        let mut answer = answer?;
        let body = answer.body_mut().read_to_string()?;
        Ok(Answer {
            status: answer.status().as_u16(),
            body,
            headers: answer.headers().clone(),
        })
    }

    /// Sends a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        signal(name, self.child.id());
    }

    /// Waits for the end of the process.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait(&mut self.child)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Asked first, so that it can end a Redis of its own.
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.signal("TERM");
            if !ends_within(&mut self.child, PATIENCE) {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
    }
}

/// The body of an order.
pub(crate) fn order(payment: impl Display, items: &[(&str, i64)]) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|(sku, quantity)| format!(r#"{{"sku":"{sku}","quantity":{quantity}}}"#))
        .collect();
    format!(
        r#"{{"customerName":"Ada","customerEmail":"ada@example.org","shippingAddress":"1 Main Street","paymentAmount":{payment},"items":[{}]}}"#,
        items.join(",")
    )
}

/// The answers of many requests that are sent at the same time.
pub(crate) fn at_once<T: Send>(count: usize, send: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(count);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let (start, send) = (&start, &send);
                scope.spawn(move || {
                    start.wait();
                    send(number)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("an answer"))
            .collect()
    })
}

pub(crate) fn signal(name: &str, process: u32) {
    let status = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "kill -{name} failed"
    );
}

pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    assert!(ends_within(child, PATIENCE), "the process does not end");
    child.wait().expect("a status")
}

/// Waits for what happens off the path of any request, and gives what came of it.
pub(crate) fn soon<T>(what: &str, mut happened: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(outcome) = happened() {
            return outcome;
        }
        assert!(Instant::now() < deadline, "in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if child.try_wait().expect("a status").is_some() {
            return true;
        }
        thread::sleep(Duration::from_millis(5));
    }
    false
}
