use cache_core::{cache_put, cache_result};

#[cache_result(cache = "c")]
async fn f(id: u64) -> ! {
    loop {
        drop(id);
    }
}

#[cache_put(cache = "c")]
async fn g(id: u64) -> ! {
    loop {
        drop(id);
    }
}

fn main() {}
