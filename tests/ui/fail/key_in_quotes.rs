use cache_core::{cache_invalidate, cache_result};

#[cache_result(cache = "c", key = "id")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", key = "#r")]
async fn g(r#r: u64) -> u64 {
    r
}

#[cache_invalidate(cache = "c", key = "user-{id}")]
async fn h(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", key = ["id", "lang"])]
async fn i(id: u64, lang: String) -> u64 {
    id
}

#[cache_result(cache = "c", key = ("user", "#id.name"))]
async fn j(id: u64) -> u64 {
    id
}

fn main() {}
