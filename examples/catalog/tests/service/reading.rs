//! Every path that is read, and those that do not exist.

use serde_json::json;

use crate::{
    on_every_database,
    rows::{TABLES, in_the_window, texts},
    running::Service,
};

on_every_database!(
    the_shop_window,
    one_category_of_the_shop_window,
    reading_the_four_tables,
    what_is_not_there,
    paths_and_methods_that_do_not_exist,
);

fn the_shop_window(service: &Service) {
    let answer = service.get("/store-products");
    let store = answer.json();
    assert_eq!(
        texts(&store, "name"),
        [
            "Apparel",
            "Books",
            "Gadgets",
            "Games",
            "Garage",
            "Kitchen",
            "Pantry",
            "Self-care"
        ]
    );
    assert_eq!(in_the_window(service).len(), 57);
    assert!(
        answer
            .body
            .contains(r#"{"id":8,"name":"Pantry","products":[]}"#),
        "an empty category has no products"
    );
    assert!(answer.body.starts_with(concat!(
        r#"[{"id":3,"name":"Apparel","products":[{"id":20,"sku":"00000020","name":"Amber Sneakers","price":40.99,"#,
        r#""description":"A amber-grade sneakers for the apparel shelf, model 120, one year guarantee","categoryId":3},"#
    )));
    for category in store.as_array().unwrap() {
        assert!(texts(&category["products"], "name").is_sorted());
    }
    // No price, no stock, sold out.
    for sku in ["00000010", "00000023", "00000009"] {
        assert!(!in_the_window(service).contains(&sku.to_owned()));
    }
    assert_eq!(answer.header("x-cache"), Some("miss"));
}

fn one_category_of_the_shop_window(service: &Service) {
    let store = service.get("/store-products").json();
    let books = store
        .as_array()
        .unwrap()
        .iter()
        .find(|category| category["name"] == "Books")
        .unwrap();
    assert_eq!(
        service.get("/store-products/category/1").json(),
        json!([books])
    );
    assert_eq!(
        service.get("/store-products/category/8").text(200),
        r#"[{"id":8,"name":"Pantry","products":[]}]"#
    );
    for unknown in ["0", "9", "-1", "9223372036854775807"] {
        assert_eq!(
            service
                .get(&format!("/store-products/category/{unknown}"))
                .text(200),
            "[]"
        );
    }
    assert_eq!(
        service.get("/store-products/category/books").refused(404),
        "Category not found"
    );
}

fn reading_the_four_tables(service: &Service) {
    assert_eq!(
        service.get("/products/1").text(200),
        concat!(
            r#"{"id":1,"sku":"00000001","name":"Harbor Novel","#,
            r#""description":"A dapper-grade novel for the books shelf, model 101, one year guarantee","#,
            r#""category":{"id":1,"name":"Books"}}"#
        )
    );
    assert_eq!(
        service.get("/products-category/6").text(200),
        r#"{"id":6,"name":"Self-care"}"#
    );
    assert_eq!(
        service.get("/products-prices/10").text(200),
        r#"{"id":10,"sku":"00000013","price":105.99}"#
    );
    assert_eq!(
        service.get("/products-inventory/12").text(200),
        r#"{"id":12,"sku":"00000013","stockUnits":1}"#
    );

    for (table, rows) in TABLES.into_iter().zip([67, 8, 62, 62]) {
        let all = service.get(table).json();
        let all = all.as_array().unwrap();
        assert_eq!(all.len(), rows, "{table}");
        assert!(all.is_sorted_by_key(|row| row["id"].as_i64()), "{table}");
        assert_eq!(
            service.get(&format!("{table}/{}", all[3]["id"])).json(),
            all[3],
            "{table}"
        );
    }
    assert_eq!(service.get("/orders").text(200), "[]");
}

fn what_is_not_there(service: &Service) {
    let messages = [
        ("/products", "Product details not found"),
        ("/products-category", "Category not found"),
        ("/products-prices", "Product price not found"),
        ("/products-inventory", "Product inventory not found"),
        ("/orders", "Order not found"),
    ];
    for (table, message) in messages {
        // What cannot be an id is nobody's.
        for id in [
            "0",
            "999",
            "-1",
            "9223372036854775807",
            "9223372036854775808",
            "abc",
            "1.0",
            "%FF",
            "1%2F2",
        ] {
            assert_eq!(
                service.get(&format!("{table}/{id}")).refused(404),
                message,
                "{table}/{id}"
            );
        }
    }
}

fn paths_and_methods_that_do_not_exist(service: &Service) {
    for path in [
        "/nothing",
        "/products/1/2",
        "/products/",
        "/store-products/category",
        "/cache/product",
    ] {
        assert_eq!(service.get(path).refused(404), "No such page", "{path}");
    }
    for (method, path) in [
        ("DELETE", "/products/1"),
        ("PUT", "/products-prices/1"),
        ("POST", "/store-products"),
        ("PATCH", "/products-category/1"),
        ("DELETE", "/orders"),
        ("GET", "/cache/product/clear"),
    ] {
        let answer = service.send(method, path, &[], "");
        assert_eq!(answer.refused(405), "Method not allowed", "{method} {path}");
        assert!(answer.header("allow").is_some());
    }
    assert_eq!(service.get("/healthz").json()["status"], "UP");
}
