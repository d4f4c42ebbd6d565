use cache_core::{CacheName, cache_result};

const NAMES: CacheName<String> = CacheName::new("names");

#[cache_result(cache = NAMES)]
async fn f(id: u64) -> Result<u64, String> {
    Ok(id)
}

fn main() {}
