#![deny(unused)]
#![allow(dead_code)]

use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c")]
#[cache_invalidate(cache = "d")]
async fn f(#[cache_key] id: u64, unused: u64, mut constant: u64) -> u64 {
    let forgotten = 3;
    let mut never_changed = constant;
    return id + never_changed;
    unreachable!()
}

fn main() {}
