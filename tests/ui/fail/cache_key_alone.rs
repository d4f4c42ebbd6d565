async fn f(#[cache_key] id: u64) -> u64 {
    id
}

fn main() {}
