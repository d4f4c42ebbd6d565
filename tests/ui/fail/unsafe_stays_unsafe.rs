use cache_core::cache_result;

/// # Safety
/// None needed.
#[cache_result(cache = "unsafe")]
async unsafe fn dangerous(id: u64) -> u64 {
    id
}

fn main() {
    drop(dangerous(1));
}
