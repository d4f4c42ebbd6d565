//! New rows.

use serde_json::json;

use crate::{
    on_every_database,
    rows::{TABLES, everything},
    running::Service,
};

on_every_database!(creating_rows, what_cannot_be_created, texts_of_every_kind,);

fn creating_rows(service: &Service) {
    assert_eq!(
        service
            .post("/products-category", r#"{"name":"Attic"}"#)
            .text(201),
        r#"{"id":9,"name":"Attic"}"#
    );
    assert_eq!(
        service
            .post(
                "/products",
                r#"{"sku":"00000068","name":"Dusty Trunk","description":"Old","categoryId":9}"#
            )
            .text(201),
        r#"{"id":68,"sku":"00000068","name":"Dusty Trunk","description":"Old","category":{"id":9,"name":"Attic"}}"#
    );
    assert_eq!(
        service
            .post("/products-prices", r#"{"sku":"00000068","price":29.9}"#)
            .text(201),
        r#"{"id":63,"sku":"00000068","price":29.90}"#
    );
    assert_eq!(
        service.get("/store-products/category/9").text(200),
        r#"[{"id":9,"name":"Attic","products":[]}]"#,
        "no stock yet"
    );
    assert_eq!(
        service
            .post(
                "/products-inventory",
                r#"{"sku":"00000068","stockUnits":2}"#
            )
            .text(201),
        r#"{"id":63,"sku":"00000068","stockUnits":2}"#
    );
    assert_eq!(
        service.get("/store-products/category/9").text(200),
        concat!(
            r#"[{"id":9,"name":"Attic","products":[{"id":68,"sku":"00000068","name":"Dusty Trunk","price":29.90,"#,
            r#""description":"Old","categoryId":9}]}]"#
        )
    );
    for (path, id) in TABLES.into_iter().zip([68, 9, 63, 63]) {
        assert_eq!(service.get(&format!("{path}/{id}")).status, 200);
    }
}

fn what_cannot_be_created(service: &Service) {
    let before = everything(service);
    let long = "x".repeat(256);
    let too_long = format!(r#"{{"name":"{long}"}}"#);
    let very_long = format!(
        r#"{{"sku":"1","name":"x","description":"{}","categoryId":1}}"#,
        "x".repeat(1001)
    );
    for (path, body, message) in [
        (
            "/products",
            r#"{"sku":"00000001","name":"x","description":"x","categoryId":1}"#,
            "A product for sku 00000001 already exists",
        ),
        (
            "/products",
            r#"{"sku":"00000099","name":"x","description":"x","categoryId":99}"#,
            "Category not found",
        ),
        (
            "/products",
            r#"{"sku":"00000099","name":"x","description":"x"}"#,
            "missing field `categoryId`",
        ),
        (
            "/products",
            r#"{"sku":"00000099","name":" ","description":"x","categoryId":1}"#,
            "name: a text of 1 to 255",
        ),
        (
            "/products",
            r#"{"sku":"","name":"x","description":"x","categoryId":1}"#,
            "sku: a sku has 1 to 8",
        ),
        (
            "/products",
            r#"{"sku":"000000001","name":"x","description":"x","categoryId":1}"#,
            "sku: a sku has 1 to 8",
        ),
        (
            "/products",
            r#"{"sku":1,"name":"x","description":"x","categoryId":1}"#,
            "sku: invalid type",
        ),
        (
            "/products",
            r#"{"sku":"a\u0000b","name":"x","description":"x","categoryId":1}"#,
            "sku: a sku has 1 to 8",
        ),
        (
            "/products",
            r#"{"sku":"00000099","name":"a\u0000b","description":"x","categoryId":1}"#,
            "name: a text of",
        ),
        ("/products", &very_long, "description: a text of 0 to 1000"),
        ("/products-category", &too_long, "name: a text of 1 to 255"),
        ("/products-category", "{}", "missing field `name`"),
        (
            "/products-prices",
            r#"{"sku":"00000001","price":1}"#,
            "A price for sku 00000001 already exists",
        ),
        (
            "/products-prices",
            r#"{"sku":"00000010","price":0}"#,
            "price: a price must be more than zero",
        ),
        (
            "/products-prices",
            r#"{"sku":"00000010"}"#,
            "missing field `price`",
        ),
        (
            "/products-inventory",
            r#"{"sku":"00000001","stockUnits":1}"#,
            "An inventory for sku 00000001 already exists",
        ),
        (
            "/products-inventory",
            r#"{"sku":"00000010","stockUnits":-1}"#,
            "stockUnits: a whole number from 0",
        ),
        (
            "/products-inventory",
            r#"{"sku":"00000010","stockUnits":2147483648}"#,
            "stockUnits: a whole number from 0",
        ),
        (
            "/products-inventory",
            r#"{"sku":"00000010","stockUnits":1.5}"#,
            "stockUnits: invalid type",
        ),
    ] {
        let said = service.post(path, body).refused(400);
        assert!(said.contains(message), "{path} {body}: {said}");
    }
    assert_eq!(everything(service), before);
}

fn texts_of_every_kind(service: &Service) {
    for name in [
        "O'Brien; drop table category; --",
        "日本語 🛒 ümlaut",
        "\"quoted\" \\ back\tslash",
        "$1 %s {}",
    ] {
        let body = json!({ "name": name }).to_string();
        let id = service.post("/products-category", &body).json()["id"].clone();
        assert_eq!(
            service.get(&format!("/products-category/{id}")).json(),
            json!({"id": id, "name": name})
        );
    }
    let longest = "ü".repeat(255);
    assert_eq!(
        service
            .post(
                "/products-category",
                &json!({ "name": longest }).to_string()
            )
            .status,
        201
    );
}
