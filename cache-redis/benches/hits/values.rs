//! What is cached.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// A value that is made for a key.
pub(crate) trait Value: Serialize + DeserializeOwned + Send + Sync + 'static {
    const NAME: &'static str;
    /// How many keys there are.
    #[allow(dead_code, reason = "not every benchmark has many")]
    const KEYS: u64 = 500;
    fn new(key: u64) -> Self;
    /// Whether it is the one of that key.
    fn is_of(&self, key: u64) -> bool;
}

/// A product of a shop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Product {
    id: u64,
    name: String,
    description: String,
    price: u64,
    tags: Vec<String>,
    in_stock: bool,
}

impl Product {
    fn new(id: u64, description: usize) -> Self {
        Self {
            id,
            name: format!("A product with the number {id}"),
            description: "x".repeat(description),
            price: 2990,
            tags: vec!["new".into(), "for the garden".into(), "sale".into()],
            in_stock: true,
        }
    }
}

pub(crate) type Small = Product;

/// A page of a catalog.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Large(Vec<Product>);

impl Value for Small {
    const NAME: &'static str = "small";

    fn new(key: u64) -> Self {
        Self::new(key, 135)
    }

    fn is_of(&self, key: u64) -> bool {
        self.id == key
    }
}

impl Value for Large {
    const NAME: &'static str = "large";

    fn new(key: u64) -> Self {
        Self((key..key + 60).map(|id| Product::new(id, 70)).collect())
    }

    fn is_of(&self, key: u64) -> bool {
        self.0.first().is_some_and(|first| first.id == key)
    }
}

/// Something of 4 MB.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(dead_code, reason = "not every benchmark has one")]
pub(crate) struct Huge(u64, String);

impl Value for Huge {
    const NAME: &'static str = "huge";
    const KEYS: u64 = 4;

    fn new(key: u64) -> Self {
        Self(key, "x".repeat(4 << 20))
    }

    fn is_of(&self, key: u64) -> bool {
        self.0 == key
    }
}

/// As bincode writes it, like the caches.
pub(crate) fn encode<V: Value>(value: &V) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, bincode::config::standard()).expect("it can be written")
}

pub(crate) fn decode<V: Value>(bytes: &[u8]) -> Arc<V> {
    let config = bincode::config::standard().with_limit::<{ 64 << 20 }>();
    let (value, length) = bincode::serde::decode_from_slice(bytes, config).expect("as written");
    assert_eq!(length, bytes.len());
    Arc::new(value)
}
