use cache_core::cache_result;

#[cache_result("c")]
async fn f(id: u64) -> u64 {
    id
}


fn main() {}
