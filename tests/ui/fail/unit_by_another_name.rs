use cache_core::{cache_put, cache_result};

type Done = Result<(), String>;
type Nothing = ();

#[cache_result(cache = "c")]
async fn done(_id: u64) -> Done {
    Ok(())
}

#[cache_put(cache = "c")]
async fn nothing(_id: u64) -> Nothing {}

fn main() {}
