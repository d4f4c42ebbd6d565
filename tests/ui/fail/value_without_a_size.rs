use cache_core::cache_result;

#[cache_result(cache = "c")]
async fn f(id: u64) -> Result<str, String> {
    todo!()
}

#[cache_result(cache = "c")]
async fn g(id: u64) -> dyn std::fmt::Debug {
    todo!()
}

#[cache_result(cache = "c")]
async fn h(id: u64) -> Result<_, String> {
    Ok(id)
}

fn main() {}
