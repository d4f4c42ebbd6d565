//! A crate that knows the framework under another name.
#![deny(warnings)]
#![allow(dead_code, unused_qualifications)]

mod house {
    pub(crate) use cache_core as caching;
    pub(crate) use cache_core::{cache_invalidate, cache_result};

    #[derive(Clone)]
    pub(crate) struct Product;
}

mod below {
    use super::house::{cache_invalidate, cache_result};

    #[cache_result(cache = "facade", crate = crate::facade::house::caching)]
    #[cache_invalidate(cache = "other")]
    async fn absolute(id: u64) -> u64 {
        id
    }

    #[cache_result(cache = "facade-relative", crate = super::house::caching)]
    async fn relative(id: u64) -> super::house::Product {
        assert!(id > 0);
        super::house::Product
    }
}

use cache_core as extern_crate;
use house::caching;

#[house::cache_result(cache = "local", crate = caching)]
async fn local(id: u64) -> house::Product {
    assert!(id > 0);
    house::Product
}

#[house::cache_result(cache = "local-self", crate = self::house::caching)]
async fn from_self(id: u64) -> self::house::Product {
    assert!(id > 0);
    self::house::Product
}

#[house::cache_result(cache = "local-house", crate = house::caching)]
async fn from_house(id: u64) -> house::Product {
    assert!(id > 0);
    house::Product
}

#[house::cache_result(cache = "global", crate = ::cache_core)]
async fn global(id: u64) -> u64 {
    id
}

#[house::cache_result(cache = "renamed", crate = extern_crate)]
async fn renamed(id: u64) -> u64 {
    id
}

#[house::cache_result(cache = "bare", crate = cache_core)]
async fn bare(id: u64) -> u64 {
    id
}
