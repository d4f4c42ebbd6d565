use cache_core::cache_result;

const NAME: &str = "c";

#[cache_result(cache = NAME)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = MISSING)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
