use facade::cache_result;

#[cache_result(cache = "c")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
