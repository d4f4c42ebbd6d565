//! The stress run of [`stress`](crate::stress) in bad weather.
//!
//! A [`Station`] is a Redis server with a [`Proxy`](crate::Proxy) for each process that uses it, and all that can be done to them. The [`Weather`] does
//! it, one [`Fault`] after the other with a little calm in between, in an order that its seed decides. Each process, or what
//! stands for one, sees the database through its [`Side`], which knows what may be expected in bad weather:
//!
//! - Once an annotated function has returned, or an invalidation by hand, whatever it said, **this process** answers with
//!   nothing older.
//! - Once an invalidation was acknowledged, **nobody** does: because `Cache::invalidate` and its like said `Ok`, or because
//!   there was a moment after the function had returned at which nothing was pending.
//!
//! When the weather has cleared and nothing is pending any more, every row is read as it is, in every process.

mod careless;
mod fault;
mod forgetful;
mod hanging;
mod late;
mod memory;
mod outage;
mod run;
mod side;
mod station;
mod times;
mod weather;

pub use careless::Careless;
pub use fault::Fault;
pub use forgetful::Forgetful;
pub use hanging::{Hanging, READ_BUDGET, Silence, hanging, starting};
pub use late::{Late, late};
pub use memory::resident;
pub use outage::{Loss, Outage, outage};
pub use run::{look_around, on, open, recover, sail, settings, validated};
pub use side::Side;
pub use station::Station;
pub use times::Times;
pub use weather::{Record, Weather};
