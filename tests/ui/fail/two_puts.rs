use cache_core::cache_put;

#[cache_put(cache = "a")]
#[cache_core::cache_put(cache = "b")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
