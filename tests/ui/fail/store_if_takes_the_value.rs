use cache_core::cache_result;

#[cache_result(cache = "c", store_if = |v: u64| v > 3)]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
