//! Databases that outlive the service, and those that cannot be used.

use std::{path::Path, process::Command};

use crate::{postgres, running::Service};

/// What is written is there after a restart, and the seed is not put in again.
fn survives_a_restart(database: &str) {
    let mut service = Service::start(&["--database", database]);
    service.order("105.99", &[("00000013", 1)]).text(201);
    service
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    let before = [
        service.get("/store-products").body,
        service.get("/orders").body,
    ];
    service.signal("TERM");
    assert!(service.wait().success());

    let service = Service::start(&["--database", database]);
    assert_eq!(
        [
            service.get("/store-products").body,
            service.get("/orders").body
        ],
        before
    );
}

#[test]
fn a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    // Characters that mean something in a URL mean nothing here.
    for name in ["shop.db", "a shop?mode=ro#1 100%.db"] {
        let file = directory.path().join(name);
        survives_a_restart(&format!("sqlite:{}", file.display()));
        assert!(file.exists());
    }
    let file = directory.path().join("slashes.db");
    survives_a_restart(&format!("sqlite://{}", file.display()));
    assert!(file.exists());
}

#[test]
fn postgresql() {
    survives_a_restart(&postgres::new_database());
}

#[test]
fn a_database_in_memory_is_of_one_service() {
    let first = Service::start(&[]);
    first
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    let second = Service::start(&["--database", "sqlite::memory:"]);
    assert!(second.get("/products-prices/1").body.contains("14.99"));
}

#[test]
fn two_services_may_start_on_one_new_database() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = format!("sqlite:{}", directory.path().join("shop.db").display());
    for database in [file, postgres::new_database()] {
        std::thread::scope(|scope| {
            let starting: Vec<_> = (0..3)
                .map(|_| scope.spawn(|| Service::start(&["--database", &database])))
                .collect();
            let services: Vec<Service> = starting
                .into_iter()
                .map(|service| service.join().expect("a service"))
                .collect();
            services[0].order("105.99", &[("00000013", 1)]).text(201);
            services[1].order("105.99", &[("00000013", 1)]).refused(400);
            assert_eq!(
                services[2]
                    .get("/orders")
                    .json()
                    .as_array()
                    .expect("a list")
                    .len(),
                1
            );
        });
    }
}

#[test]
fn a_database_that_cannot_be_opened_ends_the_service() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = directory.path().join("notes.txt");
    std::fs::write(
        &text,
        "not a database, and long enough to be looked at as one: ".repeat(20),
    )
    .expect("a file");
    let missing = Path::new("/nonexistent/shop.db");
    for database in [
        format!("sqlite:{}", text.display()),
        format!("sqlite:{}", missing.display()),
        "postgres://shop:hunter2@127.0.0.1:1/shop".to_owned(),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_catalog"))
            .args(["--listen", "127.0.0.1:0", "--database", &database])
            .output()
            .expect("the service starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{database}: {said}");
        assert!(
            said.contains("cannot open the database"),
            "{database}: {said}"
        );
        assert!(!said.contains("hunter2"), "{said}");
        assert_eq!(output.stdout, b"");
    }
}
