use cache_core::cache_result;

#[cache_result(cache = "c")]
async fn f(id: u64, ) -> {
    id
}

fn main() {}
