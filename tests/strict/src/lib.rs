//! Functions of every shape, in a code base that allows nothing: what fires here fires from generated code.
#![deny(
    warnings,
    clippy::all,
    clippy::pedantic,
    clippy::nursery,
    missing_docs,
    unreachable_pub,
    unused_qualifications
)]
#![forbid(unsafe_code)]

pub mod free;
pub mod lints;
pub mod methods;
pub mod services;
pub mod stamped;
pub mod traits;
pub mod values;
