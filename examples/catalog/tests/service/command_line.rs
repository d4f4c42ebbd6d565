//! Starting and ending the service.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Command, Output},
};

use crate::running::{PATIENCE, Service, soon};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_catalog"))
        .args(arguments)
        .output()
        .expect("the service starts")
}

#[test]
fn it_says_where_it_listens() {
    let service = Service::start(&[]);
    assert_eq!(service.announced.len(), 1);
    let port: u16 = service
        .url
        .strip_prefix("http://127.0.0.1:")
        .expect("an address")
        .parse()
        .expect("a port");
    assert_ne!(port, 0);
    assert_eq!(service.get("/healthz").status, 200);
}

#[test]
fn a_signal_ends_it_cleanly() {
    for signal in ["TERM", "INT"] {
        let mut service = Service::start(&[]);
        // With a connection that is kept open and one on which nothing was ever sent.
        service.get("/healthz").text(200);
        let _silent =
            TcpStream::connect(service.url.trim_start_matches("http://")).expect("a connection");
        service.signal(signal);
        assert_eq!(service.wait().code(), Some(0), "{signal}");
        assert!(service.try_send("GET", "/healthz", &[], "").is_err());
    }
}

#[test]
fn a_request_under_way_is_finished() {
    let mut service = Service::start(&[]);
    let address = service.url.trim_start_matches("http://").to_owned();
    let body = crate::running::order("14.99", &[("00000001", 1)]);
    let (first, rest) = body.split_at(body.len() / 2);
    let mut connection = TcpStream::connect(&address).expect("a connection");
    connection
        .set_read_timeout(Some(PATIENCE))
        .expect("a limit");
    write!(
        connection,
        "POST /orders HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{first}",
        body.len()
    )
    .expect("half a request");
    // The other half follows when the service has been told to end: it then refuses new connections.
    service.get("/healthz").text(200);
    service.signal("TERM");
    soon("new connections are refused", || {
        TcpStream::connect(&address).err()
    });
    connection
        .write_all(rest.as_bytes())
        .expect("the other half");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(service.wait().success());
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    for (arguments, message) in [
        (
            &["--backend", "disk"][..],
            "invalid value 'disk' for '--backend <BACKEND>'",
        ),
        (&["--backend", "redis"], "--backend redis needs --redis URL"),
        (
            &["--backend", "memory", "--redis", "dev"],
            "--redis puts the caches in Redis",
        ),
        (
            &["--backend", "none", "--redis", "dev"],
            "--redis puts the caches in Redis",
        ),
        (&["--tiered"], "--tiered puts memory in front of Redis"),
        (
            &["--database", "mysql://localhost/shop"],
            "write sqlite:FILE or postgres://",
        ),
        (&["--database", "sqlite:"], "name the file"),
        (
            &["--admin-token", ""],
            "a value is required for '--admin-token <TOKEN>'",
        ),
        (
            &["--redis", "dev", "--redis-budget", "0"],
            "invalid value '0' for '--redis-budget <MILLISECONDS>'",
        ),
        (&["--nonsense"], "unexpected argument '--nonsense'"),
    ] {
        let output = run(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    let service = Service::start(&[]);
    let taken = service.url.trim_start_matches("http://");
    let output = run(&["--listen", taken]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("cannot listen on {taken}")));
}
