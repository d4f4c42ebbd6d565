//! A small shop back end.
fn main() {}
