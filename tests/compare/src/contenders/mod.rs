//! Who is compared: the columns of the table, and what each can be asked for.

pub mod by_hand;
pub mod cached;
pub mod hitbox;
pub mod moka;
pub mod ours;

use std::{future::Future, hint::black_box, ops::Range, pin::Pin};

use tokio::{runtime::Runtime, task::JoinHandle};

use crate::measure::Watch;

/// A column of the table. What it says is in `table.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Ours,
    Validated,
    MokaSync,
    MokaFuture,
    Redis,
    Cached,
    CachedClientSide,
    CachedBounded,
    CachedByKey,
    Hitbox,
    HitboxOneLoad,
}

/// Calls with all numbers of a range, one after the other, masked. One dynamic call for all of them, so that the loop is
/// compiled for each contender.
pub type Repeat = Box<dyn Fn(Range<u64>, u64) + Send + Sync>;

/// Calls in memory. All run in the same runtime, what is not asynchronous, too.
pub fn repeat<F, R>(call: F) -> Repeat
where
    F: Fn(u64) -> R + Send + Sync + 'static,
    R: Future,
{
    thread_local!(static RUNTIME: Runtime = runtime());
    Box::new(move |numbers, mask| {
        RUNTIME.with(|runtime| {
            runtime.block_on(async {
                for number in numbers {
                    drop(black_box(call(black_box(number & mask)).await));
                }
            });
        });
    })
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be had")
}

/// A task that calls with numbers below a limit, at random, for as long as its watch goes on.
pub type Caller = Box<dyn Fn(u64, u64, Watch) -> JoinHandle<Vec<u32>> + Send + Sync>;

pub fn caller<F, R>(call: F) -> Caller
where
    F: Fn(u64) -> R + Clone + Send + Sync + 'static,
    R: Future + Send + 'static,
{
    Box::new(move |seed, below, mut watch| {
        let call = call.clone();
        tokio::spawn(async move {
            let mut dice = fastrand::Rng::with_seed(seed);
            while watch.goes_on() {
                drop(black_box(call(dice.u64(..below)).await));
            }
            watch.times()
        })
    })
}

pub type Boxed<T = ()> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts one call.
pub type Start = Box<dyn Fn(u64) -> JoinHandle<()> + Send + Sync>;

pub fn start<F, R>(call: F) -> Start
where
    F: Fn(u64) -> R + Send + Sync + 'static,
    R: Future + Send + 'static,
{
    Box::new(move |number| {
        let call = call(number);
        tokio::spawn(async move { drop(black_box(call.await)) })
    })
}

/// Loads and forgets.
pub struct Forget {
    /// Has the entries of a range.
    pub fill: Box<dyn Fn(Range<u64>) -> Boxed + Send + Sync>,
    /// Invalidates each of a range.
    pub each: Box<dyn Fn(Range<u64>) -> Boxed + Send + Sync>,
    /// Invalidates all.
    pub all: Option<Box<dyn Fn() -> Boxed + Send + Sync>>,
}

pub fn many<F, R>(call: F) -> Box<dyn Fn(Range<u64>) -> Boxed + Send + Sync>
where
    F: Fn(u64) -> R + Clone + Send + Sync + 'static,
    R: Future + Send + 'static,
{
    Box::new(move |numbers| {
        let call = call.clone();
        Box::pin(async move {
            for number in numbers {
                drop(black_box(call(number).await));
            }
        })
    })
}

/// As [`many`], with many calls at a time: for what nobody measures.
pub fn many_at_once<F, R>(call: F) -> Box<dyn Fn(Range<u64>) -> Boxed + Send + Sync>
where
    F: Fn(u64) -> R + Clone + Send + Sync + 'static,
    R: Future<Output: Send> + Send + 'static,
{
    use futures_util::StreamExt;
    Box::new(move |numbers| {
        let call = call.clone();
        let calls = futures_util::stream::iter(numbers).map(call);
        Box::pin(
            calls
                .buffer_unordered(200)
                .for_each(async |result| drop(result)),
        )
    })
}

pub fn all<F, R>(call: F) -> Option<Box<dyn Fn() -> Boxed + Send + Sync>>
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future + Send + 'static,
{
    Some(Box::new(move || {
        let call = call();
        Box::pin(async move { drop(call.await) })
    }))
}
