//! The pages for a browser, as far as HTTP shows them.

use std::collections::BTreeSet;

use crate::running::{Answer, Service};

/// What follows `beginning` up to a quotation mark, wherever it stands in a text.
fn quoted<'a>(text: &'a str, beginning: &str) -> BTreeSet<&'a str> {
    let parts = text.split(beginning).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

/// A page, a script or a style that is sent as such, and neither guessed to be nor mixed with anything else.
fn served(service: &Service, path: &str) -> Answer {
    let answer = service.get(path);
    answer.text(200);
    let kind = match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        _ => "text/html",
    };
    let expected = format!("{kind}; charset=utf-8");
    assert_eq!(answer.header("content-type"), Some(&*expected), "{path}");
    assert_eq!(
        answer.header("x-content-type-options"),
        Some("nosniff"),
        "{path}"
    );
    let policy = answer.header("content-security-policy").expect("a policy");
    assert!(policy.contains("default-src 'none'"), "{path}: {policy}");
    assert!(policy.contains("script-src 'self'"), "{path}: {policy}");
    assert!(!policy.contains("unsafe"), "{path}: {policy}");
    answer
}

#[test]
fn the_shop_and_the_caches_have_pages() {
    let service = Service::start(&[]);
    assert!(
        served(&service, "/")
            .body
            .contains("<title>The catalog</title>")
    );
    assert!(
        served(&service, "/caches")
            .body
            .contains("<title>The caches of the catalog</title>")
    );
}

#[test]
fn all_that_a_page_needs_is_served_by_the_service() {
    let service = Service::start(&[]);
    for page in ["/", "/caches"] {
        let html = served(&service, page).body;
        let mut needed = quoted(&html, "src=\"");
        needed.extend(quoted(&html, "href=\""));
        needed.remove("data:,");
        assert!(
            needed.iter().any(|path| path.ends_with(".js")),
            "{page}: {needed:?}"
        );
        assert!(
            needed.iter().any(|path| path.ends_with(".css")),
            "{page}: {needed:?}"
        );
        for path in needed {
            assert!(
                path.starts_with('/') && !path.starts_with("//"),
                "{page}: {path}"
            );
            let body = service.get(path).text(200).to_owned();
            assert!(!body.contains("://"), "{path} comes from elsewhere");
            if path.ends_with(".js") {
                for import in quoted(&body, "from \"") {
                    served(&service, import);
                }
            }
        }
    }
}

/// The policy forbids scripts and styles within a page: they would not run.
#[test]
fn a_page_holds_no_script_of_its_own() {
    let service = Service::start(&[]);
    for page in ["/", "/caches"] {
        let html = served(&service, page).body;
        for script in html.split("<script").skip(1) {
            assert!(
                script.contains("src=\"") && script.contains("></script>"),
                "{page}: {script}"
            );
        }
        for inline in ["<style", " style=", " onclick=", "javascript:"] {
            assert!(!html.contains(inline), "{page}: {inline}");
        }
    }
}

/// What the scripts read of the answers that they ask for.
#[test]
fn the_answers_have_what_the_pages_show() {
    let service = Service::start(&[]);
    let catalog = service.get("/store-products").json();
    let product = &catalog[0]["products"][0];
    for field in ["sku", "name", "description", "price"] {
        assert!(!product[field].is_null(), "{field} of {product}");
    }
    let prices = service.get("/products-prices").json();
    let prices = prices.as_array().expect("a list");
    assert!(
        prices
            .iter()
            .any(|price| price["sku"] == product["sku"] && price["id"].is_i64())
    );
    let stats = service.get("/cache-stats").json();
    let health = service.get("/healthz").json();
    for (name, counts) in stats.as_object().expect("an object") {
        for count in [
            "hits",
            "misses",
            "coalesced",
            "bypasses",
            "loads",
            "entries",
            "invalidations",
        ] {
            assert!(counts[count].is_u64(), "{count} of {name}");
        }
        assert_eq!(health["caches"][name], "UP", "{name}");
    }
}

#[test]
fn a_page_is_only_read() {
    let service = Service::start(&[]);
    for page in ["/", "/caches", "/pages/page.js"] {
        service.send("POST", page, &[], "").refused(405);
    }
    service.get("/pages/nothing.js").refused(404);
}
