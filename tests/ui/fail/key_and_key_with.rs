use cache_core::cache_put;

#[cache_put(cache = "c", key = id, key_with = |v: &u64| *v)]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
