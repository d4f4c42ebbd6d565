use std::future::poll_fn;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufStream, DuplexStream};

use super::*;

/// A pipe and the other end of its stream, which holds so many bytes.
fn pipe(holds: usize) -> (Pipe, DuplexStream) {
    let (here, there) = tokio::io::duplex(holds);
    let (pipe, driver) = Pipe::over(Box::new(here));
    tokio::spawn(driver);
    (pipe, there)
}

/// Asks in a task of its own, and is in the queue when this returns.
async fn ask(pipe: &Pipe, request: &'static str, replies: usize) -> Answer {
    let pipe = pipe.clone();
    let answer = tokio::spawn(async move { pipe.ask(request.as_bytes(), replies).await });
    tokio::task::yield_now().await;
    answer
}

type Answer = tokio::task::JoinHandle<Result<Bytes, Ended>>;

async fn heard(there: &mut DuplexStream, length: usize) -> String {
    let mut bytes = vec![0; length];
    there.read_exact(&mut bytes).await.expect("it was sent");
    String::from_utf8(bytes).expect("a text")
}

#[tokio::test]
async fn each_gets_his_replies_whatever_comes_in_between() {
    let (pipe, mut there) = pipe(1024);
    let one = ask(&pipe, "a", 1).await;
    let two = ask(&pipe, "bc", 2).await;
    assert_eq!(heard(&mut there, 3).await, "abc");
    // In pieces, with what nobody has asked for before, within and after.
    for piece in [
        ">1\r\n+no",
        "body\r\n$3\r\non",
        "e\r\n+tw",
        "o\r\n>1\r\n+nobody\r\n*1\r\n:2\r",
        "\n>1\r\n+nobody\r\n",
    ] {
        there.write_all(piece.as_bytes()).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(one.await.unwrap().unwrap(), "$3\r\none\r\n");
    assert_eq!(two.await.unwrap().unwrap(), "+two\r\n*1\r\n:2\r\n");
}

#[tokio::test]
async fn the_reply_of_one_who_has_gone_is_nobodys() {
    let (pipe, mut there) = pipe(1024);
    let gone = ask(&pipe, "a", 1).await;
    let stays = ask(&pipe, "b", 1).await;
    assert_eq!(heard(&mut there, 2).await, "ab");
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    there.write_all(b"+a\r\n+b\r\n").await.unwrap();
    assert_eq!(stays.await.unwrap().unwrap(), "+b\r\n");
}

#[tokio::test]
async fn who_finds_too_much_to_be_sent_waits_for_room() {
    let (pipe, mut there) = pipe(1024);
    let much = vec![b'x'; UNSENT + 1];
    let length = much.len();
    // The first is on its way, as much of it as the stream holds. The second waits behind it.
    for _ in 0..2 {
        let (pipe, much) = (pipe.clone(), much.clone());
        tokio::spawn(async move { pipe.ask(&much, 1).await });
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    }
    let late = ask(&pipe, "late", 1).await;
    assert_eq!(pipe.0.0.queue().unsent.len(), length, "it is not taken");
    heard(&mut there, 2 * length).await;
    assert_eq!(heard(&mut there, 4).await, "late");
    there.write_all(b"+1\r\n+2\r\n+3\r\n").await.unwrap();
    assert_eq!(late.await.unwrap().unwrap(), "+3\r\n");
}

#[tokio::test]
async fn when_the_other_end_is_gone_everybody_hears_and_the_signs_say_so() {
    for garbage in ["", "+unasked\r\n", "?\r\n"] {
        let (pipe, mut there) = pipe(1024);
        let answer = ask(&pipe, "a", 1).await;
        let bytes = match garbage {
            "+unasked\r\n" => "+a\r\n+unasked\r\n",
            other => other,
        };
        assert_eq!(heard(&mut there, 1).await, "a");
        there.write_all(bytes.as_bytes()).await.unwrap();
        if garbage.is_empty() {
            drop(there);
        }
        assert_eq!(answer.await.unwrap().is_ok(), garbage == "+unasked\r\n");
        while pipe.signs().life() == ALIVE {
            tokio::task::yield_now().await;
        }
        assert_eq!(pipe.signs().life(), LOST);
        while !pipe.0.0.queue().over {
            tokio::task::yield_now().await;
        }
        assert!(pipe.ask(b"b", 1).await.is_err());
    }
}

#[tokio::test]
async fn with_the_last_who_can_ask_the_stream_is_closed() {
    let (pipe, mut there) = pipe(16);
    // In the middle of a request that the other end does not take.
    ask(&pipe, "more than the stream holds", 1).await.abort();
    drop(pipe);
    let mut rest = Vec::new();
    there.read_to_end(&mut rest).await.expect("it ends");
    assert!(rest.len() <= 16);
}

/// As a stream with TLS does, which takes more than it can pass on.
#[tokio::test]
async fn what_the_stream_holds_back_is_sent_though_nobody_asks_again() {
    let (here, mut there) = tokio::io::duplex(64);
    let (pipe, driver) = Pipe::over(Box::new(BufStream::new(here)));
    tokio::spawn(driver);
    let request = "a".repeat(1000);
    let answer = tokio::spawn(async move { pipe.ask(request.as_bytes(), 1).await });
    assert_eq!(heard(&mut there, 1000).await, "a".repeat(1000));
    there.write_all(b"+OK\r\n").await.unwrap();
    assert_eq!(answer.await.unwrap().unwrap(), "+OK\r\n");
}

#[tokio::test]
async fn a_reply_that_is_kept_keeps_no_memory_of_a_large_one_before_it() {
    let (here, mut there) = tokio::io::duplex(1 << 16);
    let (pipe, mut driver) = Pipe::over(Box::new(here));
    let mut rooms = Vec::new();
    for length in [1 << 20, 70_000, 70_000] {
        let answer = ask(&pipe, "a", 1).await;
        let reply = format!("${length}\r\n{}\r\n", "v".repeat(length));
        let (_, answer) = tokio::join!(there.write_all(reply.as_bytes()), async {
            tokio::select! {
                () = poll_fn(|context| Pin::new(&mut driver).poll(context)) => panic!("is not over"),
                answer = answer => answer,
            }
        });
        assert_eq!(answer.unwrap().unwrap(), reply);
        rooms.push(driver.room);
    }
    assert!(rooms[0] > 1 << 20, "{rooms:?}");
    assert!(rooms[1..].iter().all(|room| *room < 1 << 18), "{rooms:?}");
}
