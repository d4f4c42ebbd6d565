use cache_core::cache_result;

#[cache_result(cache = "c", condition = page > 1)]
async fn f((page, size): (u64, u64)) -> u64 {
    page * size
}

fn main() {}
