//! What only concerns caches in Redis: what can be seen there, and Redis coming and going.

use std::process::Command;

use cache_redis::dev::RedisServer;
use redis::{Client, Connection, RedisResult};

use crate::{
    postgres,
    running::{Answer, Service, soon},
};

const CATALOG_KEY: &str = "cache:store-products-catalog:default-cache-key";

fn connect(url: &str) -> Connection {
    Client::open(url)
        .and_then(|client| client.get_connection())
        .expect("a connection to Redis")
}

fn get(redis: &mut Connection, key: &str) -> Option<Vec<u8>> {
    redis::cmd("GET").arg(key).query(redis).expect("an answer")
}

/// The first answer that comes from the cache, which it does some time after Redis has come back.
fn first_hit(service: &Service, path: &str) -> Answer {
    soon("an answer from the cache", || {
        let answer = service.get(path);
        (answer.header("x-cache") == Some("hit")).then_some(answer)
    })
}

#[test]
fn the_demonstration() {
    demonstrate(&Service::start(&["--redis", "dev"]));
}

#[test]
fn the_demonstration_with_memory_in_front() {
    demonstrate(&Service::start(&["--redis", "dev", "--tiered"]));
}

#[test]
fn the_demonstration_on_postgresql() {
    let database = postgres::new_database();
    demonstrate(&Service::start(&[
        "--redis",
        "dev",
        "--database",
        &database,
    ]));
}

/// The steps that the README shows, one after another.
fn demonstrate(service: &Service) {
    let url = service
        .announced("redis on ")
        .expect("the address of its Redis");
    assert!(url.starts_with("redis://127.0.0.1:"));
    let mut redis = connect(url);

    assert_eq!(get(&mut redis, CATALOG_KEY), None);
    let computed = service.expect("miss", "/store-products").body;
    let stored = soon("the catalog is stored", || get(&mut redis, CATALOG_KEY));
    let book_keeping = stored
        .strip_prefix(computed.as_bytes())
        .expect("the very answer");
    assert!(book_keeping.len() < 100);
    let ttl: i64 = redis::cmd("TTL")
        .arg(CATALOG_KEY)
        .query(&mut redis)
        .expect("an answer");
    assert!((1..=60).contains(&ttl), "{ttl}");
    assert_eq!(service.expect("hit", "/store-products").body, computed);

    service
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    soon("what cannot be read any more is swept", || {
        get(&mut redis, CATALOG_KEY).is_none().then_some(())
    });
    assert!(
        service
            .expect("miss", "/store-products")
            .body
            .contains(r#""price":31.99"#)
    );

    service
        .patch("/products/1", r#"{"name":"New Name"}"#)
        .text(202);
    assert!(
        service
            .expect("hit", "/store-products")
            .body
            .contains("Harbor Novel")
    );
    assert!(service.get("/products/1").body.contains("New Name"));

    service.order("105.99", &[("00000013", 1)]).text(201);
    let sold_out = service.expect("miss", "/store-products").body;
    assert!(!sold_out.contains("00000013"));
    let before = soon("the catalog is stored again", || {
        get(&mut redis, CATALOG_KEY).filter(|entry| entry.starts_with(sold_out.as_bytes()))
    });
    service.order("31.99", &[("00000001", 1)]).text(201);
    assert_eq!(get(&mut redis, CATALOG_KEY).as_ref(), Some(&before));
    assert_eq!(
        service.order("14.99", &[("00000001", 1)]).refused(400),
        "The payment amount is wrong"
    );
    assert_eq!(get(&mut redis, CATALOG_KEY), Some(before));
    service.expect("hit", "/store-products");
}

#[test]
fn the_entries_of_all_three_caches() {
    let server = RedisServer::start().expect("a Redis");
    let service = Service::start(&["--redis", &server.url()]);
    assert_eq!(
        service.announced,
        [format!("listening on {}", service.url)],
        "the server is not its own"
    );
    let mut redis = connect(&server.url());
    for path in [
        "/store-products",
        "/store-products/category/1",
        "/products/1",
        "/products/999",
    ] {
        service.expect("miss", path);
    }
    let keys = |redis: &mut Connection, pattern: &str| -> Vec<String> {
        let mut keys: Vec<String> = redis::cmd("KEYS").arg(pattern).query(redis).expect("keys");
        keys.sort();
        keys
    };
    let expected = [
        "cache:product:1",
        "cache:product:999",
        "cache:store-products-catalog-category:1",
        "cache:store-products-catalog:default-cache-key",
    ];
    let stored = soon("all are stored", || {
        Some(keys(&mut redis, "cache:*")).filter(|keys| keys.len() >= expected.len())
    });
    assert_eq!(stored, expected);
    // Nothing stays for ever, not even the book-keeping.
    for key in keys(&mut redis, "*") {
        let ttl: i64 = redis::cmd("PTTL")
            .arg(&key)
            .query(&mut redis)
            .expect("an answer");
        assert!(ttl > 0, "{key}: {ttl}");
    }
    for path in [
        "/store-products",
        "/store-products/category/1",
        "/products/1",
        "/products/999",
    ] {
        service.expect("hit", path);
    }
    assert_eq!(service.count("product", "backendHits"), 2);
}

#[test]
fn two_services_share_their_caches() {
    let directory = tempfile::tempdir().expect("a directory");
    let database = format!("sqlite:{}", directory.path().join("shop.db").display());
    let server = RedisServer::start().expect("a Redis");
    let start = || Service::start(&["--redis", &server.url(), "--database", &database]);
    let (first, second) = (start(), start());

    let computed = first.expect("miss", "/store-products").body;
    let mut redis = connect(&server.url());
    soon("the catalog is stored", || get(&mut redis, CATALOG_KEY));
    assert_eq!(second.expect("hit", "/store-products").body, computed);
    second
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    assert!(
        first
            .expect("miss", "/store-products")
            .body
            .contains(r#""price":31.99"#)
    );
}

#[test]
fn redis_may_stop_and_come_back() {
    let mut server = RedisServer::start().expect("a Redis");
    let service = Service::start(&["--redis", &server.url()]);
    service.get("/store-products").text(200);
    service.expect("hit", "/store-products");

    server.stop();
    for _ in 0..20 {
        for path in [
            "/store-products",
            "/store-products/category/1",
            "/products/1",
            "/orders",
        ] {
            service.get(path).text(200);
        }
    }
    service
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    assert!(
        service
            .expect("miss", "/store-products")
            .body
            .contains(r#""price":31.99"#)
    );
    service.order("105.99", &[("00000013", 1)]).text(201);
    assert!(
        !service
            .expect("miss", "/store-products")
            .body
            .contains("00000013")
    );
    let health = service.get("/healthz");
    assert_eq!(health.status, 200);
    assert_eq!(health.json()["status"], "DEGRADED");
    assert_eq!(health.json()["caches"]["store-products-catalog"], "DOWN");

    server.restart().expect("Redis again");
    let window = first_hit(&service, "/store-products").body;
    assert!(window.contains(r#""price":31.99"#) && !window.contains("00000013"));
    soon("well again", || {
        (service.get("/healthz").json()["status"] == "UP").then_some(())
    });
}

#[test]
fn redis_need_not_be_there_at_the_start() {
    let mut server = RedisServer::start().expect("a Redis");
    server.stop();
    let service = Service::start(&["--redis", &server.url()]);
    service.expect("miss", "/store-products").text(200);
    server.restart().expect("Redis again");
    first_hit(&service, "/store-products").text(200);
}

#[test]
fn a_redis_of_its_own_ends_with_the_service() {
    let mut service = Service::start(&["--redis", "dev"]);
    let url = service
        .announced("redis on ")
        .expect("the address of its Redis")
        .to_owned();
    connect(&url);
    service.signal("TERM");
    assert!(service.wait().success());
    let again: RedisResult<Connection> =
        Client::open(url).and_then(|client| client.get_connection());
    assert!(again.is_err());
}

#[test]
fn an_address_that_is_none_is_refused() {
    for url in ["http://localhost", "redis://:hunter2@local host"] {
        let output = Command::new(env!("CARGO_BIN_EXE_catalog"))
            .args(["--listen", "127.0.0.1:0", "--redis", url])
            .output()
            .expect("the service starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(
            said.contains("redis") && !said.contains("hunter2"),
            "{said}"
        );
    }
}
