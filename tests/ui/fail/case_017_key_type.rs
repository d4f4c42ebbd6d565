use cache_core::cache_result;

struct NoSerdeNoHash;

#[cache_result(cache = "c")]
async fn f(k: NoSerdeNoHash) -> u64 {
    drop(k);
    7
}

#[cache_result(cache = "c")]
async fn compiles(k: NoSerdeNoHash, #[cache_key] id: u64) -> u64 {
    drop(k);
    id
}

fn main() {}
