use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c")]
fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c")]
fn g(id: u64) -> impl Future<Output = u64> {
    async move { id }
}

#[cache_invalidate(cache = "c")]
fn h(id: u64) -> std::pin::Pin<Box<dyn Future<Output = u64>>> {
    let future = async move { id };
    Box::pin(future)
}

fn main() {}
