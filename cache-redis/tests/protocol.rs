//! The steps of the protocol against a real server.

mod support;

use std::time::Duration;

use cache_core::{
    CacheBackend,
    backend::{CacheId, NewEntry, Token},
};
use support::{Fixture, fence, fill, new_entry, patient, product, read, stored_form};

#[tokio::test]
async fn a_stored_entry_is_read_back_until_it_is_invalidated() {
    let f = Fixture::new().await;
    let product = product();
    assert_eq!(read(&f.backend, &product, "42").await, None);
    fill(&f.backend, &product, "42").await;
    assert_eq!(
        read(&f.backend, &product, "42").await.as_deref(),
        Some("42")
    );
    assert!(f.backend.invalidate(product.entry("42")).await.unwrap());
    assert_eq!(read(&f.backend, &product, "42").await, None);
    assert!(!f.backend.invalidate(product.entry("42")).await.unwrap());
}
