use cache_core::cache_result;

trait Stream {}
impl Stream for u64 {}

#[cache_result(cache = "c")]
fn s() -> impl Stream {
    7
}

fn main() {}
