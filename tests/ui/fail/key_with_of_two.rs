use cache_core::cache_put;

#[cache_put(cache = "c", key_with = |id: u64, v: &u64| (id, *v))]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
