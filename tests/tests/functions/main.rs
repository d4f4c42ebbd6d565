//! Where the attributes can stand.

mod bodies_and_futures;
mod borrowing;
mod forms;
mod generics;
mod hostile;
#[allow(clippy::multiple_bound_locations, clippy::needless_lifetimes)]
// some forms are unusual on purpose
mod matrix;
mod methods;
mod sizes;
