//! Every path with its answers, codes and messages.

use serde_json::{Value, json};

use crate::{on_every_database, running::Service};

on_every_database!(
    the_shop_window,
    one_category_of_the_shop_window,
    reading_the_four_tables,
    what_is_not_there,
    creating_rows,
    what_cannot_be_created,
    changing_a_product,
    changing_a_price,
    changing_the_stock,
    what_cannot_be_changed,
    money_is_exact,
    bodies_that_are_not_accepted,
    paths_and_methods_that_do_not_exist,
    texts_of_every_kind,
);

const TABLES: [&str; 4] = [
    "/products",
    "/products-category",
    "/products-prices",
    "/products-inventory",
];

/// Every table as it is, to see that nothing was changed.
fn everything(service: &Service) -> Vec<String> {
    TABLES
        .iter()
        .chain(&["/orders"])
        .map(|path| service.get(path).text(200).to_owned())
        .collect()
}

fn texts<'a>(rows: &'a Value, field: &str) -> Vec<&'a str> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row[field].as_str().unwrap())
        .collect()
}

/// The products of the shop window, by sku.
fn in_the_window(service: &Service) -> Vec<String> {
    let store = service.get("/store-products").json();
    let mut skus: Vec<String> = store
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|category| texts(&category["products"], "sku"))
        .map(str::to_owned)
        .collect();
    skus.sort();
    skus
}

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
