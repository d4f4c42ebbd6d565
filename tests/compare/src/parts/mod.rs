//! What is measured.

pub mod invalidation;
pub mod memory;
pub mod redis;
pub mod stampede;
