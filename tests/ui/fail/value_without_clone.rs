use cache_core::{cache_put, cache_result};

struct Connection;

#[cache_result(cache = "c")]
async fn f(id: u64) -> Result<Connection, String> {
    Err(id.to_string())
}

#[cache_put(cache = "c")]
async fn g(id: u64) -> Option<Connection> {
    None
}

#[cache_result(cache = "c")]
async fn h<T: Send + Sync + 'static>(id: T) -> T where T: serde::Serialize {
    id
}

fn main() {}
