use cache_core::cache_put;

#[cache_put(cache = "c", key_with = id)]
async fn f(id: u64) -> u64 {
    id
}

#[cache_put(cache = "c", key_with = (id, 3))]
async fn g(id: u64) -> u64 {
    id
}

fn main() {}
