//! `invalidate_if` and what is under way while it walks.

use std::{
    future::Future,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll, Waker},
};

use cache_core::{Cache, cache_put};
use tests::{both, caches, spawn};
use tokio::sync::{oneshot, watch};

both!(a_put_whose_key_was_not_known_does_not_store_what_it_wrote_before);

async fn a_put_whose_key_was_not_known_does_not_store_what_it_wrote_before() {
    #[cache_put(cache = "c", manager = caches(), key_with = |name: &String| name)]
    async fn create(begun: oneshot::Sender<()>, end: oneshot::Receiver<()>) -> String {
        begun.send(()).expect("the test waits");
        end.await.expect("the test says so");
        "ada".to_owned()
    }

    let cache: Cache<String> = caches().cache("c").expect("its only type");
    let ((begun, has_begun), (end, may_end)) = (oneshot::channel(), oneshot::channel());
    let creating = spawn(create(begun, may_end));
    has_begun.await.expect("the body begins");
    // Nothing is stored yet, so there is nothing to be found.
    let found = cache.invalidate_if(|key| key == "ada").await;
    assert_eq!(found.expect("the store answers"), 0);
    end.send(()).expect("the body waits");
    creating.await.expect("it does not panic");
    assert_eq!(cache.get(&"ada").await, None);
}

/// All loads land while the walk is at an entry: none of them may stay.
#[tokio::test]
async fn a_load_that_lands_during_the_walk_does_not_stay() {
    const LOADS: u64 = 64;
    let (caches, _) = cache_core::testing::manager();
    let cache: Cache<String> = caches.cache("c").expect("its only type");
    cache
        .insert(&"there", "old".to_owned())
        .await
        .expect("memory");

    let (land, landing) = watch::channel(false);
    let mut loads: Vec<Pin<Box<dyn Future<Output = String> + Send>>> = Vec::new();
    for key in 0..LOADS {
        let (cache, mut landing) = (cache.clone(), landing.clone());
        let mut load = Box::pin(async move {
            let body = async {
                landing.wait_for(|land| *land).await.expect("it lives");
                "old".to_owned()
            };
            cache.get_or_load(&key, body).await
        });
        assert!(poll(load.as_mut()).is_pending());
        loads.push(load);
    }

    let loads = Mutex::new(loads);
    let walked = cache.invalidate_if(|key| {
        if key == "there" {
            land.send_replace(true);
            for load in loads.lock().expect("no panic").iter_mut() {
                assert!(poll(load.as_mut()).is_ready());
            }
        }
        true
    });
    walked.await.expect("memory");
    for key in 0..LOADS {
        assert_eq!(cache.get(&key).await, None, "entry {key}");
    }
}

fn poll<T>(future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Poll<T> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}
