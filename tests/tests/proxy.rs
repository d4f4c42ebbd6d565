//! The proxy does to a connection what it says.

use std::{io, time::Duration};

use tests::{Proxy, Trouble, soon};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::{Instant, timeout},
};

/// Longer than anything takes that comes, and short enough to wait for what does not.
const NEVER: Duration = Duration::from_millis(200);

/// A server that answers with what it is sent, and a proxy for it.
async fn echo() -> Proxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = client.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
            });
        }
    });
    Proxy::start(port)
}

async fn connect(proxy: &Proxy) -> TcpStream {
    TcpStream::connect(("127.0.0.1", proxy.port()))
        .await
        .expect("the proxy listens")
}

/// What comes back for `text`; fewer bytes if the connection ends before.
async fn say(connection: &mut TcpStream, text: &str) -> io::Result<String> {
    connection.write_all(text.as_bytes()).await?;
    let mut answer = vec![0; text.len()];
    let mut read = 0;
    while read < answer.len() {
        match soon(connection.read(&mut answer[read..])).await? {
            0 => break,
            more => read += more,
        }
    }
    answer.truncate(read);
    Ok(String::from_utf8(answer).expect("it was text"))
}

/// Asserts that a connection is open and says nothing.
async fn assert_silent(connection: &mut TcpStream) {
    let mut byte = [0];
    let read = timeout(NEVER, connection.read(&mut byte)).await;
    assert!(read.is_err(), "it says something or ends: {read:?}");
}

#[tokio::test]
async fn without_trouble_everything_arrives() {
    let proxy = echo().await;
    let mut connection = connect(&proxy).await;
    assert_eq!(say(&mut connection, "one").await.unwrap(), "one");
    let large = "0123456789".repeat(100_000);
    let (mut from, mut to) = connection.split();
    let mut answer = vec![0; large.len()];
    let (wrote, read) = tokio::join!(
        to.write_all(large.as_bytes()),
        soon(from.read_exact(&mut answer))
    );
    wrote.and(read).expect("the connection lasts");
    assert!(answer == large.as_bytes());
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
async fn a_delay_is_for_each_way_and_keeps_the_order() {
    let proxy = echo().await;
    let mut connection = connect(&proxy).await;
    let (there, back) = (Duration::from_millis(40), Duration::from_millis(60));
    proxy.set(Trouble::Delay { there, back });
    let began = Instant::now();
    connection.write_all(b"one").await.unwrap();
    assert_eq!(say(&mut connection, "two").await.unwrap(), "one");
    assert!(began.elapsed() >= there + back);
    proxy.set(Trouble::None);
    let mut rest = [0; 3];
    soon(connection.read_exact(&mut rest)).await.unwrap();
    assert_eq!(&rest, b"two");
}

#[tokio::test]
async fn throttled_replies_come_slowly() {
    let proxy = echo().await;
    let mut connection = connect(&proxy).await;
    proxy.set(Trouble::Throttle(10_000));
    let (began, text) = (Instant::now(), "0123456789".repeat(100));
    assert_eq!(say(&mut connection, &text).await.unwrap(), text);
    assert!(began.elapsed() >= Duration::from_millis(90), "{began:?}");
}

#[tokio::test]
async fn what_was_held_arrives_afterwards() {
    let proxy = echo().await;
    let mut connection = connect(&proxy).await;
    proxy.set(Trouble::Hold);
    connection.write_all(b"one").await.unwrap();
    assert_silent(&mut connection).await;
    proxy.set(Trouble::None);
    assert_eq!(say(&mut connection, "two").await.unwrap(), "one");
}

#[tokio::test]
async fn a_blackhole_accepts_and_stays_silent_for_good() {
    let proxy = echo().await;
    let mut before = connect(&proxy).await;
    assert_eq!(say(&mut before, "one").await.unwrap(), "one");
    proxy.set(Trouble::Blackhole);
    let mut within = connect(&proxy).await;
    before.write_all(b"two").await.unwrap();
    within.write_all(b"two").await.unwrap();
    assert_silent(&mut before).await;
    assert_silent(&mut within).await;

    proxy.set(Trouble::None);
    before.write_all(b"three").await.unwrap();
    assert_silent(&mut before).await;
    let mut after = connect(&proxy).await;
    assert_eq!(say(&mut after, "four").await.unwrap(), "four");
}

#[tokio::test]
async fn a_cut_is_in_the_middle_of_a_reply() {
    let proxy = echo().await;
    let mut connection = connect(&proxy).await;
    assert_eq!(say(&mut connection, "one").await.unwrap(), "one");
    proxy.set(Trouble::Cut(5));
    assert_eq!(say(&mut connection, "one").await.unwrap(), "one");
    assert_eq!(say(&mut connection, "three").await.unwrap(), "th");
}

#[tokio::test]
async fn a_reset_is_an_error_and_no_end() {
    let proxy = echo().await;
    let mut before = connect(&proxy).await;
    assert_eq!(say(&mut before, "one").await.unwrap(), "one");
    proxy.set(Trouble::Reset);
    let reset = soon(before.read(&mut [0])).await.unwrap_err();
    assert_eq!(reset.kind(), io::ErrorKind::ConnectionReset);
    let mut within = connect(&proxy).await;
    let reset = soon(within.read(&mut [0])).await.unwrap_err();
    assert_eq!(reset.kind(), io::ErrorKind::ConnectionReset);

    proxy.set(Trouble::None);
    let mut after = connect(&proxy).await;
    assert_eq!(say(&mut after, "two").await.unwrap(), "two");
}

#[tokio::test]
async fn half_open_connections_are_silent_and_new_ones_work() {
    let proxy = echo().await;
    let mut before = connect(&proxy).await;
    assert_eq!(say(&mut before, "one").await.unwrap(), "one");
    proxy.set(Trouble::HalfOpen);
    let mut within = connect(&proxy).await;
    assert_eq!(say(&mut within, "two").await.unwrap(), "two");
    before.write_all(b"three").await.unwrap();
    assert_silent(&mut before).await;

    proxy.set(Trouble::None);
    assert_silent(&mut before).await;
    assert_eq!(say(&mut within, "four").await.unwrap(), "four");
}

#[tokio::test]
async fn who_is_refused_is_told_at_once() {
    let proxy = echo().await;
    let mut before = connect(&proxy).await;
    assert_eq!(say(&mut before, "one").await.unwrap(), "one");
    proxy.set(Trouble::Refuse);
    assert_eq!(soon(before.read(&mut [0])).await.unwrap(), 0);
    let refused = TcpStream::connect(("127.0.0.1", proxy.port())).await;
    assert_eq!(
        refused.unwrap_err().kind(),
        io::ErrorKind::ConnectionRefused
    );

    proxy.set(Trouble::None);
    let mut after = connect(&proxy).await;
    assert_eq!(say(&mut after, "two").await.unwrap(), "two");
}

#[tokio::test]
async fn it_can_be_pointed_at_another_server() {
    let proxy = echo().await;
    proxy.redirect(1); // where nobody listens
    let mut connection = connect(&proxy).await;
    assert_eq!(soon(connection.read(&mut [0])).await.unwrap(), 0);
}
