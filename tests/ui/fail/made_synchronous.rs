use cache_core::cache_result;

#[tokio::main]
#[cache_result(cache = "c")]
async fn f() -> u64 {
    7
}

#[cache_result(cache = "c")]
const fn g(id: u64) -> u64 {
    id
}

#[cache_result(cache = "c")]
fn h(id: u64) -> BoxFuture<'static, u64> {
    (async move { id }).boxed()
}

type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

trait Boxed: Future + Sized + Send + 'static {
    fn boxed(self) -> BoxFuture<'static, Self::Output> {
        Box::pin(self)
    }
}
impl<F: Future + Send + 'static> Boxed for F {}

fn main() {}
