//! A crate that knows the framework under another name.
#![deny(warnings)]
#![allow(dead_code)]

mod house {
    pub(crate) use cache_core as caching;
    pub(crate) use cache_core::{cache_invalidate, cache_result};

    #[derive(Clone)]
    pub(crate) struct Product;
}
    {
        id
    }
}

use house::caching;

#[house::cache_result(cache = "local", crate = caching)]
async fn local(id: u64) -> house::Product {
    let _ = id;
    house::Product
}

#[house::cache_result(cache = "local-self", crate = self::house::caching)]
async fn from_self(id: u64) -> self::house::Product {
    let _ = id;
    self::house::Product
}

fn main() {}
