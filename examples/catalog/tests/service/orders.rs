//! Orders: what they cost, what they take, and many of them at once.

use std::collections::HashSet;

use serde_json::json;

use crate::{
    on_every_database,
    running::{Service, at_once, order},
};

on_every_database!(
    an_order_takes_the_stock,
    an_item_named_twice_is_summed,
    what_is_not_sold,
    orders_that_make_no_sense,
    the_last_units_are_sold_once,
    crossing_orders_do_not_block_each_other,
    a_price_changes_between_orders,
    rows_created_at_once_have_ids_of_their_own,
);

fn stock(service: &Service, inventory_id: i64) -> i64 {
    service
        .get(&format!("/products-inventory/{inventory_id}"))
        .json()["stockUnits"]
        .as_i64()
        .expect("a number")
}

fn an_order_takes_the_stock(service: &Service) {
    // 2 x 14.99 + 154.99
    let placed = service.order("184.97", &[("00000002", 1), ("00000001", 2)]);
    let confirmed = concat!(
        r#"{"id":1,"status":"CONFIRMED","paymentAmount":184.97,"items":["#,
        r#"{"id":1,"sku":"00000002","quantity":1},{"id":2,"sku":"00000001","quantity":2}]}"#
    );
    assert_eq!(placed.text(201), confirmed);
    assert_eq!((stock(service, 1), stock(service, 2)), (11, 20));

    let second = service.order("105.99", &[("00000013", 1)]);
    let second = second.text(201);
    assert_eq!(service.get("/orders/1").text(200), confirmed);
    assert_eq!(service.get("/orders/2").text(200), second);
    assert_eq!(
        service.get("/orders").text(200),
        format!("[{confirmed},{second}]")
    );
    assert!(
        !service.get("/store-products").body.contains("00000013"),
        "it was the last one"
    );
}

fn an_item_named_twice_is_summed(service: &Service) {
    let placed = service
        .order("44.97", &[("00000001", 1), ("00000001", 2)])
        .json();
    assert_eq!(
        placed["items"],
        json!([{"id": 1, "sku": "00000001", "quantity": 3}])
    );
    assert_eq!(stock(service, 1), 10);
    // Two units are there, one and one are enough, one and two are not.
    service
        .order("302.97", &[("00000007", 1), ("00000007", 2)])
        .refused(400);
    service
        .order("201.98", &[("00000007", 1), ("00000007", 1)])
        .text(201);
}

fn what_is_not_sold(service: &Service) {
    let before = service.get("/products-inventory").body;
    for (payment, items, message) in [
        (
            "14.98",
            &[("00000001", 1)][..],
            "The payment amount is wrong",
        ),
        ("15.00", &[("00000001", 1)], "The payment amount is wrong"),
        (
            "14.990000001",
            &[("00000001", 1)],
            "The payment amount is wrong",
        ),
        ("-14.99", &[("00000001", 1)], "The payment amount is wrong"),
        ("0", &[("00000001", 1)], "The payment amount is wrong"),
        ("1e300", &[("00000001", 1)], "The payment amount is wrong"),
        (
            "14.99",
            &[("00000001", i32::MAX as i64), ("00000001", i32::MAX as i64)],
            "The payment amount is wrong",
        ),
        (
            "211.98",
            &[("00000013", 2)],
            "Not enough items on inventory for product with sku 00000013",
        ),
        (
            "175.99",
            &[("00000030", 1)],
            "Not enough items on inventory for product with sku 00000030",
        ),
        // The first item could be had.
        (
            "226.97",
            &[("00000001", 1), ("00000013", 2)],
            "Not enough items on inventory for product with sku 00000013",
        ),
        // A price, but no inventory row.
        (
            "113.99",
            &[("00000023", 1)],
            "Not enough items on inventory for product with sku 00000023",
        ),
        // A sum of more units than there are numbers for.
        (
            "64424509110000.00",
            &[("00000001", i32::MAX as i64), ("00000001", i32::MAX as i64)],
            "The payment amount is wrong",
        ),
        (
            "1.00",
            &[("00000099", 1)],
            "Product with sku 00000099 not found",
        ),
        (
            "1.00",
            &[("00000010", 1)],
            "Product with sku 00000010 is not for sale",
        ),
    ] {
        assert_eq!(
            service.order(payment, items).refused(400),
            message,
            "{payment} for {items:?}"
        );
    }
    assert_eq!(service.get("/orders").text(200), "[]");
    assert_eq!(service.get("/products-inventory").body, before);
}

fn orders_that_make_no_sense(service: &Service) {
    let good = order("14.99", &[("00000001", 1)]);
    for (part, instead, message) in [
        (
            r#""quantity":1"#,
            r#""quantity":0"#,
            "a whole number from 1",
        ),
        (
            r#""quantity":1"#,
            r#""quantity":-1"#,
            "a whole number from 1",
        ),
        (
            r#""quantity":1"#,
            r#""quantity":2147483648"#,
            "a whole number from 1",
        ),
        (r#""quantity":1"#, r#""quantity":1.5"#, "invalid type"),
        (
            r#""quantity":1"#,
            r#""quantity":1,"price":1"#,
            "unknown field",
        ),
        (
            r#"[{"sku":"00000001","quantity":1}]"#,
            "[]",
            "an order has at least one item",
        ),
        (
            r#"[{"sku":"00000001","quantity":1}]"#,
            "null",
            "invalid type",
        ),
        (r#""sku":"00000001""#, r#""sku":"""#, "a sku has 1 to 8"),
        ("14.99", r#""14.99""#, "must be a JSON number"),
        ("14.99", "null", "must be a JSON number"),
        (r#""Ada""#, r#""""#, "customerName: a text of 1 to 255"),
        (
            r#""ada@example.org""#,
            "null",
            "customerEmail: invalid type",
        ),
        (
            r#","shippingAddress":"1 Main Street""#,
            "",
            "missing field `shippingAddress`",
        ),
    ] {
        let body = good.replacen(part, instead, 1);
        assert_ne!(body, good);
        let said = service.post("/orders", &body).refused(400);
        assert!(said.contains(message), "{body}: {said}");
    }
    assert_eq!(service.get("/orders").text(200), "[]");
    service.post("/orders", &good).text(201);
}

fn the_last_units_are_sold_once(service: &Service) {
    // 13 units, two in an order: six orders can be had by twenty buyers, and one unit is left.
    let answers = at_once(20, |_| service.order("29.98", &[("00000001", 2)]));
    let sold = answers.iter().filter(|answer| answer.status == 201).count();
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(
            answer.refused(400),
            "Not enough items on inventory for product with sku 00000001"
        );
    }
    assert_eq!(sold, 6);
    assert_eq!(stock(service, 1), 1);
    let orders = service.get("/orders").json();
    assert_eq!(orders.as_array().expect("a list").len(), 6);
}

fn crossing_orders_do_not_block_each_other(service: &Service) {
    let (first, second) = (("00000001", 1), ("00000003", 1));
    let answers = at_once(18, |number| {
        let items = if number % 2 == 0 {
            [first, second]
        } else {
            [second, first]
        };
        service.order("23.98", &items)
    });
    // Nine of the scarcer one.
    assert_eq!(
        answers.iter().filter(|answer| answer.status == 201).count(),
        9
    );
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer.status, 201 | 400)),
        "{answers:?}"
    );
    assert_eq!((stock(service, 1), stock(service, 3)), (4, 0));
}

fn a_price_changes_between_orders(service: &Service) {
    // Whatever an order is paid with, it is what the price was at some moment: never a mixture of two.
    let answers = at_once(16, |number| match number % 4 {
        0 => service.patch("/products-prices/1", r#"{"price":20.00}"#),
        1 => service.patch("/products-prices/1", r#"{"price":10.00}"#),
        2 => service.order("20.00", &[("00000001", 1)]),
        _ => service.order("10.00", &[("00000001", 1)]),
    });
    let mut sold = 0;
    for answer in &answers {
        match answer.status {
            201 => sold += 1,
            400 => assert_eq!(answer.refused(400), "The payment amount is wrong"),
            _ => assert_eq!(answer.text(202), ""),
        }
    }
    assert_eq!(stock(service, 1), 13 - sold);
}

fn rows_created_at_once_have_ids_of_their_own(service: &Service) {
    let answers = at_once(24, |number| match number % 3 {
        0 => service.post("/products-category", r#"{"name":"Attic"}"#),
        1 => service.order("14.99", &[("00000001", 1)]),
        _ => service.post(
            "/products-inventory",
            r#"{"sku":"00000001","stockUnits":5}"#,
        ),
    });
    for kind in 0..2 {
        let ids: HashSet<i64> = answers
            .iter()
            .skip(kind)
            .step_by(3)
            .map(|answer| {
                assert_eq!(answer.status, 201, "{answer:?}");
                answer.json()["id"].as_i64().expect("an id")
            })
            .collect();
        assert_eq!(ids.len(), 8);
    }
    for answer in answers.iter().skip(2).step_by(3) {
        answer.refused(400);
    }
}
