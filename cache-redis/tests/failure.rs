//! A server that is away, halted, out of reach, or does not want us: calls fail within their budget and work again without help.

mod support;

use std::{
    net::{Ipv4Addr, TcpListener},
    time::{Duration, Instant},
};

use cache_core::{
    CacheBackend, CacheError,
    backend::{BackendErrorKind, BackendHealth},
};
use cache_redis::{RedisBackend, dev::RedisServer};
use support::{
    Fixture, Proxy, eventually, failing, fence, fill, outside, patient, patient_builder, product,
    read,
};

const READ: Duration = Duration::from_millis(100);
const STORE: Duration = Duration::from_millis(1500);
/// What a busy machine adds.
const SLACK: Duration = Duration::from_secs(1);

fn hasty(url: &str) -> RedisBackend {
    RedisBackend::builder(url)
        .read_budget(READ)
        .store_budget(STORE)
        .build()
        .unwrap()
}

async fn eventually_works(backend: &RedisBackend) {
    eventually("the backend works again", || {
        let backend = backend.clone();
        async move {
            backend
                .load(product().entry("1"))
                .await
                .is_ok_and(|loaded| loaded.fence.is_some())
        }
    })
    .await;
    assert_eq!(backend.health(), BackendHealth::Up);
}

#[tokio::test]
async fn opening_does_not_wait_for_the_server_and_needs_no_runtime() {
    let began = Instant::now();
    // A network that swallows everything.
    let backend = std::thread::spawn(|| hasty("redis://192.0.2.1:6379"))
        .join()
        .unwrap();
    assert!(began.elapsed() < Duration::from_millis(50));
    assert_eq!(backend.health(), BackendHealth::Up);
}

#[tokio::test]
async fn a_server_that_is_not_there_fails_at_once_and_is_found_when_it_is() {
    let mut server = RedisServer::start().unwrap();
    server.stop();
    let backend = hasty(&server.url());
    for _ in 0..3 {
        let (error, took) = failing(backend.load(product().entry("1"))).await;
        assert_eq!(error.kind(), BackendErrorKind::Unavailable);
        assert!(took < READ + SLACK, "{took:?}");
        let (error, _) = failing(backend.invalidate(product().entry("1"))).await;
        assert_eq!(error.kind(), BackendErrorKind::Unavailable);
    }
    assert_eq!(backend.health(), BackendHealth::Down);
    server.restart().unwrap();
    eventually_works(&backend).await;
}

#[tokio::test]
async fn while_no_connection_can_be_made_only_the_first_callers_wait() {
    // It accepts (the kernel does), and never says a word.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let backend = hasty(&format!("redis://{}", silent.local_addr().unwrap()));
    let (error, took) = failing(backend.load(product().entry("1"))).await;
    assert_eq!(error.kind(), BackendErrorKind::Timeout);
    assert!((READ / 2..READ + SLACK).contains(&took), "{took:?}");
    let began = Instant::now();
    for _ in 0..20 {
        failing(backend.load(product().entry("1"))).await;
        failing(backend.invalidate(product().entry("1"))).await;
    }
    assert!(began.elapsed() < SLACK, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_restarted_server_is_connected_to_again() {
    let mut f = Fixture::new().await;
    fill(&f.backend, &product(), "1").await;
    for _ in 0..3 {
        f.server.restart().unwrap();
        // The loss is noticed without a request that fails. The old connection ended before the server was started
        // again, and this runtime has learned of that when it has heard from the new one.
        f.outside = outside(&f.server.url()).await;
        assert_eq!(read(&f.backend, &product(), "1").await, None);
        fill(&f.backend, &product(), "1").await;
    }
}

#[tokio::test]
async fn a_connection_that_the_server_closes_is_replaced_before_the_next_request() {
    let mut f = Fixture::new().await;
    fill(&f.backend, &product(), "1").await;
    let before = f.clients().await;
    let _: u64 = f
        .ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
        .await;
    // It has ended when the server has no others any more, and this runtime knows when it has heard that.
    f.until_clients("it is closed", |clients| clients.is_empty())
        .await;
    assert_eq!(
        read(&f.backend, &product(), "1").await.as_deref(),
        Some("1")
    );
    let after = f.clients().await;
    assert!(after.len() == 1 && before.is_disjoint(&after));
}

#[tokio::test]
async fn a_halted_server_costs_the_budget_and_nothing_more_when_it_goes_on() {
    let mut f = Fixture::new().await;
    let backend = hasty(&f.server.url());
    eventually_works(&backend).await;

    f.server.pause().unwrap();
    let (error, took) = failing(backend.load(product().entry("1"))).await;
    assert_eq!(error.kind(), BackendErrorKind::Timeout);
    assert!((READ / 2..READ + SLACK).contains(&took), "{took:?}");
    let (error, took) = failing(backend.invalidate(product().entry("1"))).await;
    assert_eq!(error.kind(), BackendErrorKind::Timeout);
    assert!(took < STORE + SLACK, "{took:?}");
    assert_eq!(backend.health(), BackendHealth::Down);
    f.server.resume().unwrap();

    eventually_works(&backend).await;
}

#[tokio::test]
async fn a_slow_server_keeps_its_connection() {
    let mut f = Fixture::new().await;
    let backend = RedisBackend::builder(&f.server.url())
        .read_budget(Duration::from_millis(50))
        .store_budget(Duration::from_secs(10))
        .build()
        .unwrap();
    eventually_works(&backend).await;
    let before = f.clients().await;
    for _ in 0..3 {
        let _: () = f.ask(&["CLIENT", "PAUSE", "200", "ALL"]).await;
        let (error, _) = failing(backend.load(product().entry("1"))).await;
        assert_eq!(error.kind(), BackendErrorKind::Timeout);
        // Has more time, and its answer comes over the same connection.
        assert!(!backend.invalidate(product().entry("2")).await.unwrap());
    }
    assert_eq!(f.clients().await, before);
}

#[tokio::test]
async fn a_connection_that_swallows_everything_is_replaced() {
    let f = Fixture::new().await;
    let proxy = Proxy::start(&f.server);
    let backend = hasty(&proxy.url());
    eventually_works(&backend).await;
    assert_eq!(proxy.accepted(), 1);
    proxy.swallow();
    let began = Instant::now();
    let (error, took) = failing(backend.load(product().entry("1"))).await;
    assert_eq!(error.kind(), BackendErrorKind::Timeout);
    assert!(took < READ + SLACK, "{took:?}");
    eventually_works(&backend).await;
    assert!(
        began.elapsed() < READ + STORE + 3 * SLACK,
        "{:?}",
        began.elapsed()
    );
    assert_eq!(proxy.accepted(), 2);
}

/// A caller whose own time limit is shorter than ours.
#[tokio::test]
async fn a_silent_connection_is_noticed_although_nobody_waits_for_it_to_the_end() {
    let f = Fixture::new().await;
    let proxy = Proxy::start(&f.server);
    let backend = hasty(&proxy.url());
    eventually_works(&backend).await;
    proxy.swallow();
    eventually("another connection is made", || {
        let (backend, accepted) = (backend.clone(), proxy.accepted());
        async move {
            let cache = product();
            let _ = tokio::time::timeout(Duration::from_millis(20), backend.load(cache.entry("1")))
                .await;
            accepted == 2
        }
    })
    .await;
    eventually_works(&backend).await;
}

/// B56.
#[tokio::test]
async fn a_wrong_password_is_refused_and_not_shown() {
    let server = RedisServer::start_with(&["--requirepass", "correct horse"]).unwrap();
    let url = |who: &str| format!("redis://{who}127.0.0.1:{}", server.port());
    for wrong in ["", ":s3cret@", "bob:s3cret@"] {
        let backend = patient(&url(wrong));
        let (error, _) = failing(backend.load(product().entry("key text"))).await;
        assert_eq!(error.kind(), BackendErrorKind::Refused);
        assert_eq!(backend.health(), BackendHealth::Refused);
        for text in [
            error.to_string(),
            format!("{error:?}"),
            format!("{backend:?}"),
        ] {
            assert!(
                !text.contains("s3cret") && !text.contains("bob") && !text.contains("key text"),
                "{text}"
            );
        }
    }
    fill(&patient(&url(":correct%20horse@")), &product(), "1").await;
}

#[tokio::test]
async fn a_missing_permission_is_refused_and_nobody_named() {
    let mut f = Fixture::new().await;
    let _: () = f
        .ask(&[
            "ACL", "SETUSER", "bob", "on", ">pw", "~cache:*", "~cs:*", "+@all", "-evalsha",
            "-watch", "-unlink",
        ])
        .await;
    let backend = patient(&format!("redis://bob:pw@127.0.0.1:{}", f.server.port()));
    let now = fence(&backend, &product(), "1").await;
    let store = failing(backend.store(product().entry("1"), support::new_entry("1", now)))
        .await
        .0;
    let invalidate = failing(backend.invalidate(product().entry("1"))).await.0;
    for error in [store, invalidate] {
        assert_eq!(error.kind(), BackendErrorKind::Refused);
        assert!(
            !error.to_string().contains("bob") && !error.to_string().contains("cache:"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_database_that_does_not_exist_is_refused() {
    let f = Fixture::new().await;
    let backend = patient(&format!("{}/4711", f.server.url()));
    assert_eq!(
        failing(backend.load(product().entry("1"))).await.0.kind(),
        BackendErrorKind::Refused
    );
}

#[tokio::test]
async fn a_server_without_connections_to_give_is_found_when_it_has_some() {
    let mut f = Fixture::new().await;
    let _: () = f.ask(&["CONFIG", "SET", "maxclients", "1"]).await;
    let (error, _) = failing(f.backend.load(product().entry("1"))).await;
    // The server says why and hangs up; which of the two is heard first is a matter of luck.
    assert!(
        matches!(
            error.kind(),
            BackendErrorKind::Unavailable | BackendErrorKind::Capacity
        ),
        "{error}"
    );
    let _: () = f.ask(&["CONFIG", "SET", "maxclients", "100"]).await;
    eventually_works(&f.backend).await;
}

#[tokio::test]
async fn a_replica_and_one_that_lost_its_master_say_that_it_is_their_role() {
    let mut f = Fixture::new().await;
    let now = fence(&f.backend, &product(), "1").await;
    let _: () = f.ask(&["REPLICAOF", "127.0.0.1", "1"]).await;
    let store = failing(
        f.backend
            .store(product().entry("1"), support::new_entry("1", now)),
    )
    .await
    .0;
    let invalidate = failing(f.backend.invalidate(product().entry("1"))).await.0;
    let clear = failing(f.backend.invalidate_all(&product())).await.0;
    let _: () = f
        .ask(&["CONFIG", "SET", "replica-serve-stale-data", "no"])
        .await;
    let load = failing(f.backend.load(product().entry("1"))).await.0;
    for error in [store, invalidate, clear, load] {
        assert_eq!(error.kind(), BackendErrorKind::Role, "{error}");
    }
    let _: () = f.ask(&["REPLICAOF", "NO", "ONE"]).await;
    eventually_works(&f.backend).await;
    fill(&f.backend, &product(), "1").await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_a_protocol_error_and_no_panic() {
    for answer in [
        "+OK\r\n",
        "$-1\r\n",
        "*1\r\n:1\r\n",
        "\x00\x01garbage\r\n",
        "*3\r\n:1\r\n:2\r\n:3\r\n",
        "HTTP/1.1 400 Bad Request\r\n\r\n",
    ] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            use std::io::{Read, Write};
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut buffer = [0; 4096];
                // The greeting gets its three answers, everything after it the same one.
                let mut greeted = false;
                while let Ok(1..) = stream.read(&mut buffer) {
                    let reply = if greeted {
                        answer
                    } else {
                        "%0\r\n+OK\r\n+OK\r\n"
                    };
                    greeted = true;
                    if stream.write_all(reply.as_bytes()).is_err() {
                        break;
                    }
                }
            }
        });
        let backend = RedisBackend::builder(&format!("redis://{address}"))
            .read_budget(READ)
            .store_budget(READ)
            .build()
            .unwrap();
        let (error, took) = failing(backend.load(product().entry("1"))).await;
        assert!(matches!(
            error.kind(),
            BackendErrorKind::Protocol | BackendErrorKind::Unavailable | BackendErrorKind::Timeout
        ));
        assert!(took < READ + SLACK, "{answer:?} {took:?}");
        failing(backend.invalidate(product().entry("1"))).await;
        failing(backend.invalidate_all(&product())).await;
        failing(backend.invalidate_if(&product(), &|_| true)).await;
    }
}

#[test]
fn a_backend_outlives_the_runtime_that_it_connected_on() {
    let server = RedisServer::start().unwrap();
    let backend = patient(&server.url());
    for _ in 0..3 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(fill(&backend, &product(), "1"));
        assert_eq!(
            runtime.block_on(read(&backend, &product(), "1")).as_deref(),
            Some("1")
        );
    }
}

#[tokio::test]
async fn a_request_whose_connection_went_with_another_runtime_is_sent_again() {
    let mut f = Fixture::new().await;
    let first = tokio::runtime::Runtime::new().unwrap();
    let backend = f.backend.clone();
    first
        .spawn(async move { fill(&backend, &product(), "1").await })
        .await
        .unwrap();
    let before = f.clients().await;

    // The server takes what would write and holds it back.
    let _: () = f.ask(&["CLIENT", "PAUSE", "60000", "WRITE"]).await;
    let backend = f.backend.clone();
    let request = tokio::spawn(async move { backend.invalidate(product().entry("1")).await });
    f.until_blocked(1).await;
    assert_eq!(f.clients().await, before, "on that of the first runtime");
    first.shutdown_background();
    f.until_clients("another connection is made", |clients| {
        clients.len() == 1 && clients.is_disjoint(&before)
    })
    .await;
    f.until_blocked(1).await;
    let _: () = f.ask(&["CLIENT", "UNPAUSE"]).await;
    assert!(request.await.unwrap().unwrap(), "there was an entry");
}

#[test]
fn a_connection_of_a_runtime_that_nobody_drives_is_replaced() {
    let server = RedisServer::start().unwrap();
    let backend = hasty(&server.url());
    let resting = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    resting.block_on(eventually_works(&backend));
    tokio::runtime::Runtime::new()
        .unwrap()
        .block_on(eventually_works(&backend));
    drop(resting);
}

/// Case 93.
#[tokio::test]
async fn connections_are_used_again_and_closed_with_the_backend() {
    let f = Fixture::new().await;
    let backend = patient_builder(&f.server.url())
        .connections(2)
        .build()
        .unwrap();
    for round in 0..1000 {
        let key = (round % 10).to_string();
        if read(&backend, &product(), &key).await.is_none() {
            fill(&backend, &product(), &key).await;
        }
    }
    assert_eq!(f.clients().await.len(), 2);
    drop(backend);
    f.until_clients("the connections are closed", |clients| clients.is_empty())
        .await;
}

#[tokio::test]
async fn a_dropped_request_does_no_harm_to_the_next_ones() {
    let f = Fixture::new().await;
    for key in 0..50 {
        fill(&f.backend, &product(), &key.to_string()).await;
    }
    for round in 0..500_u64 {
        let (dropped, kept) = ((round % 50).to_string(), (round * 7 % 50).to_string());
        let cache = product();
        let limit = Duration::from_micros(round * 13 % 300);
        let _ = tokio::time::timeout(limit, f.backend.load(cache.entry(&dropped))).await;
        assert_eq!(read(&f.backend, &product(), &kept).await, Some(kept));
    }
}

#[test]
fn a_bad_url_is_an_error_that_does_not_repeat_it() {
    let error = RedisBackend::open("http://bob:s3cret@localhost").unwrap_err();
    assert!(matches!(error, CacheError::BackendUrl { .. }));
    assert!(
        error.to_string().contains("redis://"),
        "says what to write: {error}"
    );
    for text in [
        error.to_string(),
        format!("{error:?}"),
        format!("{:?}", RedisBackend::builder("redis://bob:s3cret@h")),
    ] {
        assert!(!text.contains("s3cret") && !text.contains("bob"), "{text}");
    }
}
