use cache_core::cache_result;

#[cache_result(cache = "c", key = id., ttl =)]
async fn f(id: u64) -> String {
    id.to_string()
}

#[cache_result(cache = "c", store_if = |v: &)]
async fn g(id: u64) -> String {
    f(id).await
}

#[cache_result(cache)]
async fn h(#[cache_key(hash, )] id: u64) -> String {
    f(id).await
}

async fn callers() {
    let number: u64 = f("1").await;
    let number: u64 = g("1").await;
    let number: u64 = h("1").await;
}

fn main() {}
