//! Whatever becomes of a load, the cache forgets that it was under way.

use std::{
    future::{Future, pending, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use cache_core::{cache_put, cache_result, testing::busy_keys};
use tests::{World, caches, spawn};

/// What becomes of the loads of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Value,
    Error,
    Panic,
    /// The body never goes on; its caller gives up.
    Hang,
    /// The same, and two wait for it: one is dropped before it, the other leads then.
    HangWithCompany,
    /// The same, and the key is invalidated in the middle.
    HangAndInvalidate,
    /// A waiter whose leader panics leads.
    PanicWithCompany,
    PutThatHangs,
    PutThatPanics,
    /// Polled never.
    Unused,
}

const FATES: [Fate; 10] = [
    Fate::Value,
    Fate::Error,
    Fate::Panic,
    Fate::Hang,
    Fate::HangWithCompany,
    Fate::HangAndInvalidate,
    Fate::PanicWithCompany,
    Fate::PutThatHangs,
    Fate::PutThatPanics,
    Fate::Unused,
];

/// What a body does.
#[derive(Clone, Copy)]
enum Body {
    Value,
    Error,
    /// After a while.
    Panic,
    Hang,
}

impl Body {
    async fn run(self) -> Result<u64, ()> {
        match self {
            Self::Value => Ok(1),
            Self::Error => Err(()),
            Self::Panic => {
                tokio::task::yield_now().await;
                resume_unwind(Box::new("what a body panics with")) // and no message for each of so many
            }
            Self::Hang => pending().await,
        }
    }
}

#[cache_result(cache = "c", manager = caches())]
async fn load_and_keep(#[cache_key] _k: u64, body: Body) -> Result<u64, ()> {
    body.run().await
}

/// The others are not stored, which is not what this is about and takes most of the time.
#[cache_result(cache = "c", store_if = |_| false, manager = caches())]
async fn load(#[cache_key] _k: u64, body: Body) -> Result<u64, ()> {
    body.run().await
}

#[cache_put(cache = "c", manager = caches())]
async fn put(#[cache_key] _k: u64, body: Body) -> Result<u64, ()> {
    body.run().await
}

/// Polls once. A panic is an answer as well.
async fn poll<F: Future>(call: &mut Pin<&mut F>) -> Poll<Option<F::Output>> {
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx)));
        Poll::Ready(polled.map_or(Poll::Ready(None), |polled| polled.map(Some)))
    })
    .await
}

/// Polls a call that panics in the end.
async fn panics<F: Future>(call: &mut Pin<&mut F>) {
    loop {
        match poll(call).await {
            Poll::Ready(None) => return,
            Poll::Ready(Some(_)) => panic!("it gives no value"),
            Poll::Pending => {}
        }
    }
}

async fn meet(k: u64, fate: Fate) {
    match fate {
        Fate::Value => assert_eq!(load_and_keep(k, Body::Value).await, Ok(1)),
        Fate::Error => assert_eq!(load(k, Body::Error).await, Err(())),
        Fate::Panic => panics(&mut pin!(load(k, Body::Panic))).await,
        Fate::Hang => assert!(poll(&mut pin!(load(k, Body::Hang))).await.is_pending()),
        Fate::HangWithCompany => {
            let mut leader = Box::pin(load(k, Body::Hang));
            let mut waiter = pin!(load(k, Body::Value));
            assert!(poll(&mut leader.as_mut()).await.is_pending());
            assert!(poll(&mut waiter).await.is_pending());
            assert!(poll(&mut pin!(load(k, Body::Value))).await.is_pending()); // and dropped
            drop(leader);
            assert_eq!(waiter.await, Ok(1));
        }
        Fate::HangAndInvalidate => {
            let mut leader = pin!(load(k, Body::Hang));
            assert!(poll(&mut leader).await.is_pending());
            let cache = caches().cache::<u64>("c").expect("a valid name");
            cache.invalidate(&k).await.expect("memory does not fail");
            assert_eq!(load(k, Body::Value).await, Ok(1));
        }
        Fate::PanicWithCompany => {
            let mut leader = pin!(load(k, Body::Panic));
            let mut waiter = pin!(load(k, Body::Value));
            assert!(poll(&mut leader).await.is_pending());
            assert!(poll(&mut waiter).await.is_pending());
            panics(&mut leader).await;
            assert_eq!(waiter.await, Ok(1));
        }
        Fate::PutThatHangs => assert!(poll(&mut pin!(put(k, Body::Hang))).await.is_pending()),
        Fate::PutThatPanics => panics(&mut pin!(put(k, Body::Panic))).await,
        Fate::Unused => drop(load(k, Body::Value)),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b47_a_million_keys_leave_nothing_behind() {
    const KEYS: u64 = 1_000_000;
    const TASKS: u64 = 4;

    World::memory()
        .run(async {
            let tasks: Vec<_> = (0..TASKS)
                .map(|task| {
                    spawn(async move {
                        let fates = FATES.into_iter().cycle();
                        for (k, fate) in (task * KEYS / TASKS..(task + 1) * KEYS / TASKS).zip(fates)
                        {
                            meet(k, fate).await;
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("every fate is as it should be");
            }
            assert_eq!(busy_keys(&caches()), 0);
            let stats = caches().stats()["c"];
            assert_eq!((stats.loads, stats.stores), (KEYS, KEYS / 10)); // so much has really run
            println!("{KEYS} keys: {stats:?}");
        })
        .await;
}

/// The number above can be another one.
#[tokio::test]
async fn what_hangs_is_under_way_until_it_is_dropped() {
    World::memory()
        .run(async {
            let mut cx = Context::from_waker(Waker::noop());
            let mut hanging: Vec<_> = (0..1_000).map(|k| Box::pin(load(k, Body::Hang))).collect();
            for call in &mut hanging {
                assert!(call.as_mut().poll(&mut cx).is_pending());
            }
            assert_eq!(busy_keys(&caches()), 1_000);
            drop(hanging);
            assert_eq!(busy_keys(&caches()), 0);
        })
        .await;
}
