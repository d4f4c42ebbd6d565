//! Changes of rows.

use serde_json::json;

use crate::{
    on_every_database,
    rows::{everything, in_the_window, texts},
    running::Service,
};

on_every_database!(
    changing_a_product,
    changing_a_price,
    changing_the_stock,
    what_cannot_be_changed,
);

fn changing_a_product(service: &Service) {
    let change = |body: &str| assert_eq!(service.patch("/products/1", body).text(202), "");
    let product = || service.get("/products/1").json();

    change(r#"{"name":"New Name"}"#);
    assert_eq!(product()["name"], "New Name");
    assert_eq!(
        product()["category"],
        json!({"id": 1, "name": "Books"}),
        "what is left out stays"
    );

    change(r#"{"description":"","categoryId":8}"#);
    assert_eq!(
        product(),
        json!({"id": 1, "sku": "00000001", "name": "New Name", "description": "", "category": {"id": 8, "name": "Pantry"}})
    );
    let pantry = service.get("/store-products/category/8").json();
    assert_eq!(texts(&pantry[0]["products"], "name"), ["New Name"]);

    change(r#"{"name":"A","description":"B","categoryId":2}"#);
    assert_eq!(product()["category"]["name"], "Gadgets");
}

fn changing_a_price(service: &Service) {
    assert_eq!(
        service
            .patch("/products-prices/1", r#"{"price":31.99}"#)
            .text(202),
        ""
    );
    assert_eq!(
        service.get("/products-prices/1").text(200),
        r#"{"id":1,"sku":"00000001","price":31.99}"#
    );
    assert!(
        service
            .get("/store-products")
            .body
            .contains(r#""sku":"00000001","name":"Harbor Novel","price":31.99,"#)
    );
    assert!(
        service.get("/products-prices/2").body.contains("154.99"),
        "no other price changed"
    );
}

fn changing_the_stock(service: &Service) {
    assert_eq!(
        service
            .patch("/products-inventory/1", r#"{"stockUnits":0}"#)
            .text(202),
        ""
    );
    assert_eq!(
        service.get("/products-inventory/1").text(200),
        r#"{"id":1,"sku":"00000001","stockUnits":0}"#
    );
    assert!(!in_the_window(service).contains(&"00000001".to_owned()));
    assert_eq!(
        service
            .patch("/products-inventory/1", r#"{"stockUnits":2147483647}"#)
            .text(202),
        ""
    );
    assert!(in_the_window(service).contains(&"00000001".to_owned()));
}

fn what_cannot_be_changed(service: &Service) {
    let before = everything(service);
    for (path, body, status, message) in [
        (
            "/products/999",
            r#"{"name":"x"}"#,
            404,
            "Product details not found",
        ),
        (
            "/products/abc",
            r#"{"name":"x"}"#,
            404,
            "Product details not found",
        ),
        (
            "/products/999",
            r#"{"categoryId":999}"#,
            404,
            "Product details not found",
        ),
        (
            "/products/1",
            r#"{"name":"x","categoryId":999}"#,
            400,
            "Category not found",
        ),
        ("/products/1", "{}", 400, "nothing to change"),
        (
            "/products/1",
            r#"{"name":null}"#,
            400,
            "name: invalid type: null",
        ),
        (
            "/products/1",
            r#"{"name":""}"#,
            400,
            "name: a text of 1 to 255",
        ),
        (
            "/products/1",
            r#"{"sku":"00000099"}"#,
            400,
            "unknown field `sku`",
        ),
        (
            "/products-prices/999",
            r#"{"price":1}"#,
            404,
            "Product price not found",
        ),
        (
            "/products-prices/1",
            r#"{"price":0.00}"#,
            400,
            "price: a price must be more than zero",
        ),
        ("/products-prices/1", "{}", 400, "missing field `price`"),
        (
            "/products-inventory/999",
            r#"{"stockUnits":1}"#,
            404,
            "Product inventory not found",
        ),
        (
            "/products-inventory/1",
            r#"{"stockUnits":-1}"#,
            400,
            "stockUnits: a whole number from 0",
        ),
        (
            "/products-inventory/1",
            r#"{"stockUnits":"1"}"#,
            400,
            "stockUnits: invalid type",
        ),
    ] {
        let said = service.patch(path, body).refused(status);
        assert!(said.contains(message), "{path} {body}: {said}");
    }
    assert_eq!(everything(service), before);
}
