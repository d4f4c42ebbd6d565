//! What can be annotated, and that the compiler has nothing to say about it: each module is compiled with warnings denied.

mod async_trait;
mod facade;
mod lints;
mod local_types;
mod names;
mod qualifiers;
mod shapes;
