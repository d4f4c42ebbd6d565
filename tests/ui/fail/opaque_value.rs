use cache_core::cache_result;

#[cache_result(cache = "c")]
async fn f(id: u64) -> impl Iterator<Item = u64> {
    0..id
}

#[cache_result(cache = "c")]
async fn g(id: u64) -> Result<impl Clone, String> {
    Ok(id)
}

fn main() {}
