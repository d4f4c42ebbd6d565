use cache_core::cache_result;

#[cache_result(cache = "a")]
#[cache_result(cache = "b")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
