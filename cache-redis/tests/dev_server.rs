//! The development server, from outside.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use cache_redis::dev::RedisServer;

fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    stream.write_all(b"PING\r\n").unwrap();
    let mut reply = [0; 7];
    stream.read_exact(&mut reply).is_ok() && &reply == b"+PONG\r\n"
}

#[test]
fn it_runs_until_it_is_dropped_and_leaves_nothing_behind() {
    let server = RedisServer::start().unwrap();
    let (port, directory) = (server.port(), server.socket().parent().unwrap().to_owned());
    assert_eq!(server.url(), format!("redis://127.0.0.1:{port}"));
    assert!(answers(port) && directory.exists());
    drop(server);
    assert!(!answers(port) && !directory.exists());
}

#[test]
fn it_is_stopped_and_started_again_on_its_port() {
    let mut server = RedisServer::start().unwrap();
    server.stop();
    assert!(!answers(server.port()));
    assert!(server.pause().is_err());
    server.restart().unwrap();
    server.restart().unwrap();
    assert!(answers(server.port()));
}

#[test]
fn several_run_side_by_side() {
    let servers = [(); 4].map(|()| std::thread::spawn(|| RedisServer::start().unwrap()));
    let servers = servers.map(|server| server.join().unwrap());
    let mut ports = servers.each_ref().map(RedisServer::port);
    ports.sort_unstable();
    assert!(ports.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn arguments_it_does_not_accept_are_an_error() {
    let error = RedisServer::start_with(&["--no-such-option", "1"]).unwrap_err();
    assert!(
        error.to_string().contains("redis-server does not run"),
        "{error}"
    );
}
