use cache_core::cache_result;

struct Connection;

#[cache_result(cache = "c")]
async fn f(id: u64) -> Result<Connection, String> {
    Err(id.to_string())
}

fn main() {}
