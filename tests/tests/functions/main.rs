//! Where the attributes can stand.

mod bodies_and_futures;
mod borrowing;
mod forms;
mod generics;
mod hostile;
mod matrix;
mod methods;
mod sizes;
