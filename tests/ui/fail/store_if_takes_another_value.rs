use cache_core::cache_result;

#[cache_result(cache = "c", store_if = |v: &String| v.is_empty())]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", store_if = Option::is_some)]
async fn g(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", store_if = |v| v.is_empty())]
async fn h(id: u64) -> Result<u64, String> {
    Ok(id)
}

fn main() {}
