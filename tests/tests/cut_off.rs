//! A process that its backend does not answer, while it answers others.

use cache_core::{
    Cache, CacheBackend, CacheConfig, CacheManager,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::{Gate, soon, until};
use tokio::task::yield_now;

fn cache(backend: impl CacheBackend) -> (CacheManager, Cache<u64>) {
    let caches = CacheManager::builder()
        .defaults(CacheConfig::on(backend))
        .build()
        .unwrap();
    let cache = caches.cache("row").unwrap();
    (caches, cache)
}

/// It cannot know that the load which is under way was ended by another process; so it waits for the end of that one, and takes
/// part in the next.
#[tokio::test]
async fn a_caller_does_not_join_what_another_process_may_have_ended() {
    let (server, gate) = (MapBackend::new(), Gate::default());
    let cut_off = FaultyBackend::new(server.clone());
    let ((_a, here), (_b, there)) = (cache(cut_off.clone()), cache(server));
    cut_off.fail(Operation::ALL);
    let leader = tokio::spawn({
        let (here, gate) = (here.clone(), gate.clone());
        let load = async move {
            gate.pass().await;
            1
        };
        async move { here.get_or_load(&1, load).await }
    });
    gate.reached_by(1).await;
    // The row becomes 2, and its invalidation is acknowledged by the server.
    there.invalidate(&1).await.unwrap();
    let late: Vec<_> = (0..8)
        .map(|_| {
            let here = here.clone();
            let load = async {
                yield_now().await;
                2
            };
            tokio::spawn(async move { here.get_or_load(&1, load).await })
        })
        .collect();
    until("they wait", || here.stats().coalesced == 8).await;
    gate.open();
    assert_eq!(soon(leader).await.unwrap(), 1);
    for late in late {
        assert_eq!(soon(late).await.unwrap(), 2);
    }
    // One load at a time all the same, and not one for each.
    assert_eq!(here.stats().loads, 2);
}
