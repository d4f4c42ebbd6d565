//! One connection through a proxy.

use std::{
    io,
    net::Ipv4Addr,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    sync::{mpsc, watch},
    time::{Instant, sleep, sleep_until},
};

use super::{State, Trouble};

type Changes = watch::Receiver<State>;

/// How a connection ends.
enum End {
    /// One side has closed it, or it was cut.
    Closed,
    Reset,
    /// The client is not told.
    Unnoticed,
}

pub(super) async fn connection(mut client: TcpStream, changes: Changes) {
    let state = *changes.borrow();
    let mut end = match state.trouble {
        Trouble::Reset => End::Reset,
        // What is said on it is lost, so the server need not hear of it.
        Trouble::Blackhole => End::Unnoticed,
        _ => through(&mut client, &changes, state).await,
    };
    while let End::Unnoticed = end {
        let (now, mut nowhere) = (changes.borrow().turn, tokio::io::sink());
        end = tokio::select! {
            _ = tokio::io::copy(&mut client, &mut nowhere) => End::Closed,
            end = ended(changes.clone(), now) => end,
        };
    }
    if let End::Reset = end {
        let _ = client.set_zero_linger();
    }
}

/// Carries both directions until the connection ends.
async fn through(client: &mut TcpStream, changes: &Changes, state: State) -> End {
    // Without a server the client's connection is closed, which is all that can be said once it was accepted.
    let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, state.server)).await else {
        return End::Closed;
    };
    let _ = client.set_nodelay(true).and(server.set_nodelay(true));
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let lost = AtomicBool::new(false);
    tokio::select! {
        _ = direction(Way::There, from_client, to_server, changes.clone(), &lost) => End::Closed,
        _ = direction(Way::Back, from_server, to_client, changes.clone(), &lost) => End::Closed,
        end = ended(changes.clone(), state.turn) => end,
    }
}

/// Waits for a trouble that ends connections that were made before it.
async fn ended(mut changes: Changes, made: u64) -> End {
    let state = changes.wait_for(|state| {
        let ends = matches!(
            state.trouble,
            Trouble::Reset | Trouble::Refuse | Trouble::HalfOpen
        );
        ends && state.turn > made
    });
    match state.await.map(|state| state.trouble) {
        Ok(Trouble::Reset) => End::Reset,
        Ok(Trouble::HalfOpen) => End::Unnoticed,
        Ok(_) | Err(_) => End::Closed,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

/// Carries one direction until it ends: a reader that decides what becomes of the bytes, and a writer that takes its time.
async fn direction(
    way: Way,
    from: impl AsyncRead + Unpin,
    to: impl AsyncWrite + Unpin,
    changes: Changes,
    lost: &AtomicBool,
) -> io::Result<()> {
    let (line, bytes) = mpsc::channel(256);
    let write = write(way, bytes, to, changes.clone());
    tokio::try_join!(read(way, from, line, changes, lost), write).map(drop)
}

/// Bytes, and when they are to arrive.
type Chunk = (Instant, Vec<u8>);

async fn read(
    way: Way,
    mut from: impl AsyncRead + Unpin,
    line: mpsc::Sender<Chunk>,
    mut changes: Changes,
    lost: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    // What is left until the cut, and which one that is.
    let (mut left, mut cut) = (0, None);
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read?,
            changed = changes.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return Ok(()),
            },
        };
        if read == 0 {
            return Ok(());
        }
        let Ok(state) = changes
            .wait_for(|state| state.trouble != Trouble::Hold)
            .await
            .map(|state| *state)
        else {
            return Ok(());
        };
        if state.trouble == Trouble::Blackhole {
            lost.store(true, Ordering::Relaxed);
        }
        if lost.load(Ordering::Relaxed) {
            continue;
        }
        let mut chunk = buffer[..read].to_vec();
        if let (Trouble::Cut(after), Way::Back) = (state.trouble, way) {
            if cut != Some(state.turn) {
                (left, cut) = (after, Some(state.turn));
            }
            chunk.truncate(left);
            left -= chunk.len();
        }
        let is_cut = chunk.len() < read;
        let delay = match (state.trouble, way) {
            (Trouble::Delay { there, .. }, Way::There) => there,
            (Trouble::Delay { back, .. }, Way::Back) => back,
            _ => Duration::ZERO,
        };
        if line.send((Instant::now() + delay, chunk)).await.is_err() || is_cut {
            return Ok(());
        }
    }
}

async fn write(
    way: Way,
    mut bytes: mpsc::Receiver<Chunk>,
    mut to: impl AsyncWrite + Unpin,
    changes: Changes,
) -> io::Result<()> {
    const TICK: Duration = Duration::from_millis(10);
    while let Some((due, chunk)) = bytes.recv().await {
        // A sleep takes a millisecond at least, and most bytes are due at once.
        if due > Instant::now() {
            sleep_until(due).await;
        }
        let mut rest = &chunk[..];
        while !rest.is_empty() {
            let trouble = changes.borrow().trouble;
            let now = match trouble {
                Trouble::Throttle(rate) if way == Way::Back => {
                    sleep(TICK).await;
                    let in_a_tick = (rate / 100).max(1);
                    rest.len().min(usize::try_from(in_a_tick).unwrap_or(1))
                }
                _ => rest.len(),
            };
            to.write_all(&rest[..now]).await?;
            rest = &rest[now..];
        }
    }
    Ok(())
}
