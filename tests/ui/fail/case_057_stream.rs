use std::pin::Pin;

use cache_core::{cache_put, cache_result};

trait Stream {}
impl Stream for u64 {}
struct BoxStream<'a, T>(&'a T);
struct Failure;

#[cache_result(cache = "c")]
fn opaque() -> impl Stream {
    7
}

#[cache_result(cache = "c")]
fn pinned() -> Pin<Box<dyn Stream>> {
    Box::pin(7)
}

#[cache_result(cache = "c")]
async fn boxed() -> Result<Pin<Box<dyn Stream + Send>>, Failure> {
    Ok(Box::pin(7))
}

#[cache_put(cache = "c")]
async fn named() -> BoxStream<'static, u64> {
    BoxStream(&7)
}

fn main() {}
