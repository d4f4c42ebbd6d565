use cache_core::{cache_put, cache_result};

type Done = Result<(), String>;
type Nothing = ();

#[cache_result(cache = "c")]
async fn f(id: u64) -> Done {
    drop(id);
    Ok(())
}

#[cache_put(cache = "c")]
async fn g(id: u64) -> Nothing {
    drop(id);
}

fn main() {}
