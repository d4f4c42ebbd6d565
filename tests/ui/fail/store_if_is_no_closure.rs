use cache_core::cache_result;

#[cache_result(cache = "c", store_if = id > 3)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", store_if = |id, v| id > v)]
async fn g(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c", store_if = || true)]
async fn h(id: u64) -> u64 {
    id
}

fn main() {}
