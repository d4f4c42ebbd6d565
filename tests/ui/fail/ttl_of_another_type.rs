use cache_core::cache_result;

#[cache_result(cache = "c", ttl = seconds())]
async fn f(id: u64) -> u64 {
    id
}

fn seconds() -> u64 {
    30
}

fn main() {}
