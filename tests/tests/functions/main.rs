//! Where the attributes can stand.

mod bodies_and_futures;
mod generics;
mod methods;
