//! What is answered from a cache, and what ends that, wherever the caches are.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

use crate::{
    in_memory_and_in_redis,
    running::{PATIENCE, Service, at_once},
};

in_memory_and_in_redis!(
    the_second_answer_is_a_hit,
    a_new_price_is_seen_at_once,
    the_catalogs_keep_an_old_name,
    a_product_that_was_not_found_can_be_created,
    only_a_change_of_what_is_visible_rebuilds_the_catalogs,
    only_the_last_unit_rebuilds_the_catalogs,
    what_is_refused_leaves_the_caches_alone,
    a_cache_can_be_cleared,
    callers_at_the_same_time_share_one_load,
    nobody_reads_a_price_older_than_the_last_change,
);

const WINDOW: &str = "/store-products";
const BOOKS: &str = "/store-products/category/1";

/// Fills both catalogs.
fn warm(service: &Service) {
    for path in [WINDOW, BOOKS] {
        service.get(path);
        service.expect("hit", path);
    }
}

fn expect_both(service: &Service, outcome: &str) {
    for path in [WINDOW, BOOKS] {
        service.expect(outcome, path);
    }
}

fn the_second_answer_is_a_hit(service: &Service) {
    for (path, cache) in [
        (WINDOW, "store-products-catalog"),
        (BOOKS, "store-products-catalog-category"),
        ("/products/1", "product"),
    ] {
        let first = service.expect("miss", path);
        assert_eq!(first.status, 200);
        assert_eq!(service.expect("hit", path).body, first.body);
        let counts =
            ["misses", "hits", "loads", "bypasses"].map(|counter| service.count(cache, counter));
        assert_eq!(counts, [1, 1, 1, 0], "{cache}");
    }
    // Every category and every product has an entry of its own.
    service.expect("miss", "/store-products/category/2");
    service.expect("miss", "/products/2");
    service.expect("hit", BOOKS);
    // A category that does not exist, too.
    service.expect("miss", "/store-products/category/99");
    assert_eq!(
        service.expect("hit", "/store-products/category/99").body,
        "[]"
    );
}

fn a_new_price_is_seen_at_once(service: &Service) {
    warm(service);
    service.get("/products/1");
    service
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    for path in [WINDOW, BOOKS] {
        let answer = service.expect("miss", path);
        assert!(
            answer
                .body
                .contains(r#""name":"Harbor Novel","price":31.99,"#),
            "{path}"
        );
        assert_eq!(service.expect("hit", path).body, answer.body);
    }
    // Its details have no price.
    service.expect("hit", "/products/1");
}

fn the_catalogs_keep_an_old_name(service: &Service) {
    warm(service);
    service.get("/products/1");
    service.get("/products/2");
    service
        .patch("/products/1", r#"{"name":"New Name"}"#)
        .text(202);
    assert!(
        service
            .expect("miss", "/products/1")
            .body
            .contains("New Name")
    );
    service.expect("hit", "/products/2");
    for path in [WINDOW, BOOKS] {
        assert!(
            service.expect("hit", path).body.contains("Harbor Novel"),
            "{path}"
        );
    }
}

fn a_product_that_was_not_found_can_be_created(service: &Service) {
    service.expect("miss", "/products/68").refused(404);
    assert_eq!(
        service.expect("hit", "/products/68").refused(404),
        "Product details not found"
    );
    service.get("/products/1");
    service
        .post(
            "/products",
            r#"{"sku":"00000068","name":"Dusty Trunk","description":"Old","categoryId":8}"#,
        )
        .text(201);
    assert!(
        service
            .expect("miss", "/products/68")
            .text(200)
            .contains("Dusty Trunk")
    );
    service.expect("hit", "/products/1");
}

fn only_a_change_of_what_is_visible_rebuilds_the_catalogs(service: &Service) {
    let restock = |id: i64, units: i64| {
        let body = format!(r#"{{"stockUnits":{units}}}"#);
        service
            .patch(&format!("/products-inventory/{id}"), &body)
            .text(202);
    };
    warm(service);
    restock(1, 5);
    restock(1, 5);
    expect_both(service, "hit");

    restock(1, 0);
    let gone = service.expect("miss", BOOKS);
    assert!(!gone.body.contains("00000001"));
    assert!(!service.expect("miss", WINDOW).body.contains("00000001"));
    restock(1, 0);
    expect_both(service, "hit");

    restock(1, 3);
    assert!(service.expect("miss", BOOKS).body.contains("00000001"));
    service.expect("miss", WINDOW);

    // Without a price it is not to be seen, whatever its stock.
    restock(10, 0);
    restock(10, 7);
    expect_both(service, "hit");
}

fn only_the_last_unit_rebuilds_the_catalogs(service: &Service) {
    warm(service);
    service.order("14.99", &[("00000001", 1)]).text(201);
    service.order("29.98", &[("00000001", 2)]).text(201);
    expect_both(service, "hit");

    // One of several items is the last.
    service
        .order("120.98", &[("00000001", 1), ("00000013", 1)])
        .text(201);
    assert!(!service.expect("miss", WINDOW).body.contains("00000013"));
    service.expect("miss", BOOKS);
}

fn what_is_refused_leaves_the_caches_alone(service: &Service) {
    warm(service);
    service.get("/products/1");
    service.order("1.00", &[("00000013", 1)]).refused(400);
    service.order("211.98", &[("00000013", 2)]).refused(400);
    service
        .patch("/products-prices/1", r#"{"price":-1}"#)
        .refused(400);
    service
        .patch("/products-prices/999", r#"{"price":1}"#)
        .refused(404);
    service
        .patch("/products-inventory/999", r#"{"stockUnits":0}"#)
        .refused(404);
    service
        .patch("/products/1", r#"{"name":"x","categoryId":99}"#)
        .refused(400);
    expect_both(service, "hit");
    assert!(
        service
            .expect("hit", "/products/1")
            .body
            .contains("Harbor Novel")
    );
    for cache in [
        "store-products-catalog",
        "store-products-catalog-category",
        "product",
    ] {
        assert_eq!(service.count(cache, "invalidations"), 0, "{cache}");
    }
}

fn a_cache_can_be_cleared(service: &Service) {
    warm(service);
    service.get("/products/1");
    for (cache, path) in [
        ("store-products-catalog", WINDOW),
        ("product", "/products/1"),
    ] {
        assert_eq!(
            service
                .send("POST", &format!("/cache/{cache}/clear"), &[], "")
                .text(204),
            ""
        );
        service.expect("miss", path);
    }
    service.expect("hit", BOOKS);
    for unknown in ["products", "store-products", "%FF", "product%2F"] {
        let path = format!("/cache/{unknown}/clear");
        assert_eq!(
            service.send("POST", &path, &[], "").refused(404),
            "Cache not found"
        );
    }
}

fn callers_at_the_same_time_share_one_load(service: &Service) {
    let answers = at_once(20, |_| service.get(WINDOW).body);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let cache = "store-products-catalog";
    assert_eq!(service.count(cache, "loads"), 1);
    let calls: u64 = ["hits", "misses", "coalesced", "bypasses"]
        .map(|counter| service.count(cache, counter))
        .iter()
        .sum();
    assert_eq!(calls, 20);
}

fn nobody_reads_a_price_older_than_the_last_change(service: &Service) {
    const CHANGES: u64 = 40;
    let acknowledged = AtomicU64::new(0);
    let price = |path: &str| -> u64 {
        let body = service.get(path).body;
        let (_, rest) = body
            .split_once(r#""name":"Harbor Novel","price":"#)
            .expect("the product");
        rest.split('.')
            .next()
            .expect("a price")
            .parse()
            .expect("a number")
    };
    service
        .patch("/products-prices/1", r#"{"price":1000}"#)
        .text(202);
    let deadline = Instant::now() + PATIENCE;
    thread::scope(|scope| {
        for path in [WINDOW, BOOKS, WINDOW] {
            let (acknowledged, price) = (&acknowledged, &price);
            scope.spawn(move || {
                loop {
                    let before = acknowledged.load(Ordering::SeqCst);
                    assert!(
                        price(path) >= 1000 + before,
                        "{path} is older than change {before}"
                    );
                    if before == CHANGES {
                        break;
                    }
                    assert!(Instant::now() < deadline, "a change has failed");
                }
            });
        }
        for change in 1..=CHANGES {
            service
                .patch(
                    "/products-prices/1",
                    &format!(r#"{{"price":{}}}"#, 1000 + change),
                )
                .text(202);
            acknowledged.store(change, Ordering::SeqCst);
        }
    });
}

#[test]
fn without_caches_every_answer_is_computed() {
    let service = Service::start(&["--backend", "none"]);
    for path in [WINDOW, BOOKS, "/products/1"] {
        service.expect("miss", path);
        service.expect("miss", path);
    }
    service
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    assert!(service.get(WINDOW).body.contains("31.99"));
    for (cache, calls) in [
        ("store-products-catalog", 3),
        ("store-products-catalog-category", 2),
        ("product", 2),
    ] {
        assert_eq!(service.count(cache, "bypasses"), calls, "{cache}");
        assert_eq!(
            service.count(cache, "hits") + service.count(cache, "misses"),
            0,
            "{cache}"
        );
    }
    assert_eq!(
        service.send("POST", "/cache/product/clear", &[], "").status,
        204
    );
}

/// What `load` holds the caches against.
#[test]
fn a_constant_catalog_is_the_catalog_of_the_start() {
    let constant = Service::start(&["--backend", "none", "--constant"]);
    let uncached = Service::start(&["--backend", "none"]);
    assert_eq!(
        constant.get(WINDOW).text(200),
        uncached.get(WINDOW).text(200)
    );
    constant
        .patch("/products-prices/1", r#"{"price":31.99}"#)
        .text(202);
    assert_eq!(
        constant.get(WINDOW).text(200),
        uncached.get(WINDOW).text(200)
    );
}
