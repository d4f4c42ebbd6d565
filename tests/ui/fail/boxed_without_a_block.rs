use std::{future::Future, pin::Pin};

use cache_core::cache_result;

#[cache_result(cache = "c")]
fn f(id: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    let future = async move { id };
    Box::pin(future)
}

#[cache_result(cache = "c")]
fn g(id: u64) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move { drop(id) })
}

fn main() {}
