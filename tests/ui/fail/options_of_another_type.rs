use cache_core::cache_result;

#[cache_result(
    cache = "c",
    condition = id,
    store_if = |v: &u64| *v,
    ttl = seconds(),
    manager = "mine",
)]
async fn f(id: u64) -> u64 {
    id
}

fn seconds() -> u64 {
    30
}

fn main() {}
