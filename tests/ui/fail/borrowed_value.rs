use cache_core::{cache_put, cache_result};

#[cache_result(cache = "c")]
async fn f(id: &str) -> &str {
    id
}

#[cache_put(cache = "c")]
async fn g(id: &str) -> Result<Vec<&str>, String> {
    Ok(vec![id])
}

#[cache_result(cache = "c")]
async fn h<'a>(id: &'a str) -> Option<std::borrow::Cow<'a, str>> {
    Some(id.into())
}

fn main() {}
