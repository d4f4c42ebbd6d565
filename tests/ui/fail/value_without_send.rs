use std::rc::Rc;

use cache_core::cache_result;

#[cache_result(cache = "c")]
async fn f(id: u64) -> Rc<u64> {
    Rc::new(id)
}

#[cache_result(cache = "c")]
async fn g(id: u64) -> Result<std::cell::Cell<u64>, String> {
    Ok(std::cell::Cell::new(id))
}

fn main() {}
