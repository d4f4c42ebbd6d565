//! Health, counters, and who may clear a cache.

use serde_json::json;

use crate::running::{Answer, Service};

fn clear(service: &Service, headers: &[(&str, &str)]) -> Answer {
    service.send("POST", "/cache/product/clear", headers, "")
}

#[test]
fn health() {
    let service = Service::start(&[]);
    assert_eq!(
        service.get("/healthz").json(),
        json!({
            "status": "UP",
            "database": "UP",
            "caches": {"product": "UP", "store-products-catalog": "UP", "store-products-catalog-category": "UP"}
        })
    );
}

#[test]
fn every_cache_has_counters_from_the_start() {
    let service = Service::start(&[]);
    let stats = service.get("/cache-stats").json();
    let caches: Vec<&String> = stats.as_object().expect("an object").keys().collect();
    assert_eq!(
        caches,
        [
            "product",
            "store-products-catalog",
            "store-products-catalog-category"
        ]
    );
    for counter in [
        "hits",
        "misses",
        "coalesced",
        "bypasses",
        "loads",
        "loadFailures",
        "invalidations",
        "entries",
    ] {
        assert_eq!(stats["product"][counter], 0, "{counter}");
    }
    service.get("/products/1");
    service.get("/products/1");
    assert_eq!(
        (
            service.count("product", "memoryHits"),
            service.count("product", "entries")
        ),
        (1, 1)
    );
}

#[test]
fn on_a_loopback_address_everybody_may_clear() {
    let service = Service::start(&[]);
    assert_eq!(clear(&service, &[]).text(204), "");
    assert_eq!(
        clear(&service, &[("sec-fetch-site", "same-origin")]).status,
        204
    );
    // A page of somebody else's, in the browser of somebody on this machine.
    clear(&service, &[("sec-fetch-site", "cross-site")]).refused(403);
}

#[test]
fn elsewhere_nobody_may_clear() {
    let service = Service::start(&["--listen", "0.0.0.0:0"]);
    clear(&service, &[]).refused(403);
    clear(&service, &[("authorization", "Bearer ")]).refused(403);
    // Not even find out which caches there are.
    service
        .send("POST", "/cache/nothing/clear", &[], "")
        .refused(403);
    assert_eq!(service.get("/store-products").status, 200);
}

#[test]
fn with_the_token_one_may_clear() {
    for listen in ["0.0.0.0:0", "127.0.0.1:0"] {
        let service = Service::start(&["--listen", listen, "--admin-token", "tok-1"]);
        for headers in [
            &[][..],
            &[("authorization", "Bearer tok-2")],
            &[("authorization", "Bearer tok-11")],
            &[("authorization", "tok-1")],
            &[("authorization", "Basic tok-1")],
        ] {
            clear(&service, headers).refused(403);
        }
        assert_eq!(
            clear(&service, &[("authorization", "Bearer tok-1")]).text(204),
            ""
        );
    }
}
