//! What the tests of several paths look at.

use serde_json::Value;

use crate::running::Service;

pub(crate) const TABLES: [&str; 4] = [
    "/products",
    "/products-category",
    "/products-prices",
    "/products-inventory",
];

/// Every table as it is, to see that nothing was changed.
pub(crate) fn everything(service: &Service) -> Vec<String> {
    TABLES
        .iter()
        .chain(&["/orders"])
        .map(|path| service.get(path).text(200).to_owned())
        .collect()
}

pub(crate) fn texts<'a>(rows: &'a Value, field: &str) -> Vec<&'a str> {
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row[field].as_str().unwrap())
        .collect()
}

/// The products of the shop window, by sku.
pub(crate) fn in_the_window(service: &Service) -> Vec<String> {
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
