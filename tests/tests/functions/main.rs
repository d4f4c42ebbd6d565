//! Where the attributes can stand.

mod bodies_and_futures;
mod borrowing;
mod generics;
mod methods;
