//! The smallest program that caches a function. Nothing is set up, so its values are kept in memory.
//!
//! ```sh
//! cargo run -p examples --example smallest
//! ```

use cache_core::cache_result;

#[cache_result(cache = "squares")]
async fn square(n: u64) -> u64 {
    println!("computing {n} * {n}");
    n * n
}

#[tokio::main]
async fn main() {
    println!("{}", square(7).await);
    println!("{}", square(7).await); // computes nothing
}
