use cache_core::{cache_put, cache_result};

#[cache_result(cache = "c")]
async fn f(k: i32) {
    drop(k);
}

#[cache_result(cache = "c")]
async fn g(k: i32) -> () {
    drop(k);
}

#[cache_put(cache = "c")]
async fn h(k: i32) -> Result<(), String> {
    drop(k);
    Ok(())
}

fn main() {}
