use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c", ttl = "30s")]
#[cache_invalidate(cache = "d")]
async fn f(id: u64) -> Result<String, std::fmt::Error> {
    if id > 3 {
        return Ok(id);
    }
    id.to_string()
}

fn main() {}
