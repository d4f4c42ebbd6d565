use cache_core::cache_result;

#[cache_result(cache = "c")]
async fn f(id: u64) -> String {
    let text = id.;
    text
}

async fn callers() {
    let number: u64 = f("1").await;
}

fn main() {}
