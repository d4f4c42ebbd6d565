use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c")]
async fn all(id: u64, #[cfg(windows)] drive: char) -> u64 {
    id
}

#[cache_invalidate(cache = "c")]
async fn marked(#[cache_key] id: u64, #[cfg(windows)] _drive: char) {
    drop(id.to_string());
}

#[cache_result(cache = "c", key = id)]
async fn by_expression(id: u64, #[cfg(windows)] _drive: char) -> u64 {
    id
}

fn main() {}
