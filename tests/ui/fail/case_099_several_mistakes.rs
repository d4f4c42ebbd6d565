use cache_core::cache_result;

#[cache_result(tll = "30s", ttl = "soon")]
async fn f(id: u64) -> u64 {
    id
}

fn main() {}
