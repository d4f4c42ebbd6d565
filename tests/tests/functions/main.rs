//! Where the attributes can stand.

mod bodies_and_futures;
mod borrowing;
mod forms;
mod generics;
mod hostile;
#[allow(clippy::multiple_bound_locations)] // where clauses are one of the forms
mod matrix;
mod methods;
mod sizes;
