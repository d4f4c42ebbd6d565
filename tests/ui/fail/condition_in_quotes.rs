use cache_core::cache_result;

#[cache_result(cache = "c", condition = "id > 3")]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", condition = 3)]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
