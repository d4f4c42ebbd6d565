//! Bodies of requests: amounts of money, and what is refused before it is understood.

use crate::{on_every_database, rows::everything, running::Service};

on_every_database!(money_is_exact, bodies_that_are_not_accepted,);

fn money_is_exact(service: &Service) {
    let set = |price: &str| service.patch("/products-prices/1", &format!(r#"{{"price":{price}}}"#));
    for (sent, shown) in [
        ("31.99", "31.99"),
        ("31.9", "31.90"),
        ("31", "31.00"),
        ("0.01", "0.01"),
        ("1.10", "1.10"),
        ("4.35", "4.35"),
        ("1.005e3", "1005.00"),
        ("8999999999999.99", "8999999999999.99"),
        ("9999999999999.99", "9999999999999.99"),
    ] {
        set(sent).text(202);
        let row = format!(r#"{{"id":1,"sku":"00000001","price":{shown}}}"#);
        assert_eq!(service.get("/products-prices/1").text(200), row);
        assert!(
            service
                .get("/store-products/category/1")
                .body
                .contains(&format!(r#""price":{shown},"#))
        );
    }
    for refused in [
        "31.999",
        "-1",
        "-0.01",
        "0",
        "0.001",
        "1e-3",
        "1e400",
        "1e99999999999999999999",
        "10000000000000",
        "\"31.99\"",
        "null",
        "true",
        "[1]",
        "NaN",
        "01",
        ".5",
        "5.",
        "+5",
    ] {
        set(refused).refused(400);
    }
    assert!(
        service
            .get("/products-prices/1")
            .body
            .contains("9999999999999.99")
    );
    // What the seed holds, cent by cent: the sum of all prices.
    set("14.99").text(202);
    let prices = service.get("/products-prices").body;
    let cents: u64 = prices
        .split(r#""price":"#)
        .skip(1)
        .map(|rest| {
            rest.split('}')
                .next()
                .unwrap()
                .replace('.', "")
                .parse::<u64>()
                .unwrap()
        })
        .sum();
    assert_eq!(cents, 542_638);
}

fn bodies_that_are_not_accepted(service: &Service) {
    let before = everything(service);
    let json = [("content-type", "application/json")];
    for (method, path, good) in [
        (
            "POST",
            "/products",
            r#"{"sku":"00000099","name":"x","description":"x","categoryId":1}"#,
        ),
        ("POST", "/products-category", r#"{"name":"x"}"#),
        (
            "POST",
            "/products-prices",
            r#"{"sku":"00000010","price":1}"#,
        ),
        (
            "POST",
            "/products-inventory",
            r#"{"sku":"00000010","stockUnits":1}"#,
        ),
        ("PATCH", "/products/1", r#"{"name":"x"}"#),
        ("PATCH", "/products-prices/1", r#"{"price":1}"#),
        ("PATCH", "/products-inventory/1", r#"{"stockUnits":1}"#),
        (
            "POST",
            "/orders",
            &crate::running::order("14.99", &[("00000001", 1)]),
        ),
    ] {
        let unknown_field = good.replacen('{', r#"{"extra":1,"#, 1);
        let cut = &good[..good.len() - 1];
        let twice = format!("{good}{good}");
        for body in [
            "",
            "{",
            "null",
            "[]",
            "[1,2]",
            "\"x\"",
            "{}",
            cut,
            &twice,
            &unknown_field,
        ] {
            service.send(method, path, &json, body).refused(400);
        }
        // One byte more than is taken, so that all of it is read before the answer is sent.
        let padded = good.to_owned() + &" ".repeat(65_537 - good.len());
        service.send(method, path, &json, &padded).refused(413);
        for content_type in ["text/plain", "application/x-www-form-urlencoded"] {
            service
                .send(method, path, &[("content-type", content_type)], good)
                .refused(415);
        }
        service.send(method, path, &[], good).refused(415);
    }
    assert_eq!(everything(service), before);
}
