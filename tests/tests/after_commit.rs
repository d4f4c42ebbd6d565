//! Invalidations that wait for a commit that somebody else does.

use std::{
    pin::pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Waker},
};

use cache_core::{
    AfterCommit, CacheConfig, CacheManager, cache_invalidate, cache_invalidate_all, cache_put,
    cache_result,
    testing::{FaultyBackend, MapBackend, Operation},
};
use tests::{Gate, bodies, body, both, caches, soon, spawn};

both!(
    case_b22_c_a_method_within_a_transaction_that_commits_later,
    case_b22_c_rolled_back,
    case_b22_c_dropped_without_a_word,
    case_b22_c_a_load_during_the_transaction_does_not_outlive_it,
    puts_become_invalidations,
    what_a_transaction_reads_is_its_own,
    an_interrupted_function_is_collected,
    an_error_collects_nothing,
    nested,
    by_hand,
    many_keys_become_the_whole_cache,
    it_can_be_sent,
);

/// A table of one row, by its version.
#[derive(Default)]
struct Table(AtomicU64);

#[derive(Default)]
struct Transaction {
    written: Option<u64>,
}

impl Transaction {
    fn commit(self, table: &Table) {
        if let Some(written) = self.written {
            table.0.store(written, Ordering::SeqCst);
        }
    }
}

#[cache_result(cache = "c", manager = caches(), key = ())]
async fn read(table: &Table) -> u64 {
    body("read");
    table.0.load(Ordering::SeqCst)
}

/// In the transaction.
#[cache_result(cache = "c", manager = caches(), key = ())]
async fn read_in(tx: &Transaction) -> u64 {
    body("read_in");
    tx.written.unwrap_or_default()
}

#[cache_invalidate(cache = "c", manager = caches(), key = ())]
async fn write(tx: &mut Transaction, value: u64) -> Result<(), String> {
    if value == 0 {
        return Err("nothing was written".to_owned());
    }
    tx.written = Some(value);
    Ok(())
}

#[cache_invalidate_all(cache = "c", manager = caches())]
async fn write_all(tx: &mut Transaction, value: u64) {
    tx.written = Some(value);
}

#[cache_put(cache = "c", manager = caches(), key = ())]
async fn put(tx: &mut Transaction, value: u64) -> u64 {
    tx.written = Some(value);
    value
}

#[cache_invalidate(cache = "c", manager = caches(), key = ())]
async fn write_and_wait(gate: Gate) {
    gate.pass().await;
}

/// A table whose row is cached.
async fn cached() -> Table {
    let table = Table::default();
    assert_eq!(read(&table).await, 0);
    caches().settle().await;
    table
}

async fn case_b22_c_a_method_within_a_transaction_that_commits_later() {
    for all in [false, true] {
        let table = cached().await;
        let (mut tx, after) = (Transaction::default(), AfterCommit::new());
        if all {
            after.collect(write_all(&mut tx, 7)).await;
        } else {
            after.collect(write(&mut tx, 7)).await.expect("written");
        }
        let before = bodies("read");
        assert_eq!(read(&table).await, 0);
        assert_eq!(bodies("read"), before, "a hit: nothing has happened yet");
        tx.commit(&table);
        after.committed().await;
        assert_eq!(read(&table).await, 7);
        caches()
            .cache::<u64>("c")
            .expect("a cache")
            .invalidate_all()
            .await
            .expect("cleared");
    }
}

async fn case_b22_c_rolled_back() {
    let table = cached().await;
    let (mut tx, after) = (Transaction::default(), AfterCommit::new());
    after.collect(write(&mut tx, 7)).await.expect("written");
    after.rolled_back();
    assert_eq!(read(&table).await, 0);
    assert_eq!(bodies("read"), 1);
    assert_eq!(caches().stats()["c"].invalidations, 0);
}

async fn case_b22_c_dropped_without_a_word() {
    let table = cached().await;
    let (mut tx, after) = (Transaction::default(), AfterCommit::new());
    after.collect(write(&mut tx, 7)).await.expect("written");
    tx.commit(&table);
    drop(after);
    caches().settle().await;
    assert_eq!(read(&table).await, 7);
}

async fn case_b22_c_a_load_during_the_transaction_does_not_outlive_it() {
    #[cache_result(cache = "c", manager = caches(), key = ())]
    async fn slow(table: std::sync::Arc<Table>, gate: Gate) -> u64 {
        let row = table.0.load(Ordering::SeqCst);
        gate.pass().await;
        row
    }
    let table = std::sync::Arc::new(Table::default());
    let (mut tx, after) = (Transaction::default(), AfterCommit::new());
    after.collect(write(&mut tx, 7)).await.expect("written");
    let gate = Gate::default();
    let loading = spawn(slow(table.clone(), gate.clone()));
    gate.reached_by(1).await;
    tx.commit(&table);
    after.committed().await;
    gate.open();
    assert_eq!(soon(loading).await.expect("no panic"), 0);
    caches().settle().await;
    assert_eq!(read(&table).await, 7);
}

async fn puts_become_invalidations() {
    let table = cached().await;
    let (mut tx, after) = (Transaction::default(), AfterCommit::new());
    assert_eq!(after.collect(put(&mut tx, 7)).await, 7);
    assert_eq!(read(&table).await, 0, "it may be rolled back yet");
    tx.commit(&table);
    after.committed().await;
    let before = bodies("read");
    assert_eq!(read(&table).await, 7);
    assert_eq!(bodies("read"), before + 1);
}

async fn what_a_transaction_reads_is_its_own() {
    let table = cached().await;
    let bypasses = caches().stats()["c"].bypasses;
    let after = AfterCommit::new();
    after
        .collect(async {
            let mut tx = Transaction::default();
            write(&mut tx, 7).await.expect("written");
            assert_eq!(read_in(&tx).await, 7, "it sees what it has written");
            let cache = caches().cache::<u64>("c").expect("a cache");
            assert_eq!(cache.get(&()).await, None);
        })
        .await;
    assert_eq!(caches().stats()["c"].bypasses, bypasses + 2);
    caches().settle().await;
    assert_eq!(read(&table).await, 0, "and nobody else does");
    after.rolled_back();
}

/// Whoever gives up half-way through `collect` may have written.
async fn an_interrupted_function_is_collected() {
    let table = cached().await;
    let after = AfterCommit::new();
    {
        let mut work = pin!(after.collect(write_and_wait(Gate::default())));
        let polled = work.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
    }
    assert!(!after.is_empty());
    caches().settle().await;
    let before = bodies("read");
    assert_eq!(read(&table).await, 0);
    assert_eq!(bodies("read"), before);
    after.committed().await;
    read(&table).await;
    assert_eq!(bodies("read"), before + 1);
}

async fn an_error_collects_nothing() {
    let (mut tx, after) = (Transaction::default(), AfterCommit::new());
    after.collect(write(&mut tx, 0)).await.expect_err("nothing");
    assert!(after.is_empty());
}

/// A savepoint within a transaction.
async fn nested() {
    let table = cached().await;
    let mut tx = Transaction::default();
    let outer = AfterCommit::new();
    outer
        .collect(async {
            let inner = AfterCommit::new();
            inner.collect(write(&mut tx, 7)).await.expect("written");
            inner.committed().await;
            let inner = AfterCommit::new();
            inner.collect(write(&mut tx, 8)).await.expect("written");
            drop(inner);
        })
        .await;
    assert_eq!(read(&table).await, 0);
    tx.commit(&table);
    outer.committed().await;
    assert_eq!(read(&table).await, 8);
}

async fn by_hand() {
    let cache = caches().cache::<u64>("c").expect("a cache");
    for key in 0..5 {
        cache.insert(&key, 1).await.expect("stored");
    }
    let after = AfterCommit::new();
    after
        .collect(async {
            assert!(!cache.invalidate(&0).await.expect("collected"));
            cache.insert(&1, 2).await.expect("collected");
        })
        .await;
    assert_eq!(
        (cache.get(&0).await, cache.get(&1).await),
        (Some(1), Some(1))
    );
    after.committed().await;
    assert_eq!((cache.get(&0).await, cache.get(&1).await), (None, None));
    assert_eq!(cache.get(&2).await, Some(1));
    let after = AfterCommit::new();
    let ended = after.collect(cache.invalidate_if(|key| key == "2")).await;
    assert_eq!(ended.expect("collected"), 0);
    assert_eq!(cache.get(&3).await, Some(1));
    after.committed().await;
    assert_eq!((cache.get(&2).await, cache.get(&3).await), (None, None));
}

async fn many_keys_become_the_whole_cache() {
    let cache = caches().cache::<u64>("c").expect("a cache");
    cache.insert("other", 1).await.expect("stored");
    let after = AfterCommit::new();
    after
        .collect(async {
            for key in 0..5000 {
                cache.invalidate(&key).await.expect("collected");
            }
        })
        .await;
    after.committed().await;
    assert_eq!(cache.get("other").await, None);
    assert_eq!(cache.stats().invalidations, 1);
}

async fn it_can_be_sent() {
    let table = cached().await;
    let written = spawn(async {
        let (mut tx, after) = (Transaction::default(), AfterCommit::new());
        after.collect(write(&mut tx, 7)).await.expect("written");
        (tx, after)
    });
    let (tx, after) = written.await.expect("no panic");
    tx.commit(&table);
    spawn(after.committed()).await.expect("no panic");
    assert_eq!(read(&table).await, 7);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_hangs_is_waited_for_once() {
    let backend = FaultyBackend::new(MapBackend::new());
    let caches = CacheManager::builder()
        .defaults(CacheConfig::on(backend.clone()))
        .build()
        .expect("valid");
    let cache = caches.cache::<u64>("c").expect("a cache");
    let after = AfterCommit::new();
    after
        .collect(async {
            for key in 0..100 {
                cache.invalidate(&key).await.expect("collected");
            }
        })
        .await;
    backend.hang(&[Operation::Invalidate]);
    let began = tokio::time::Instant::now();
    after.committed().await;
    assert_eq!(began.elapsed(), std::time::Duration::from_millis(100));
    assert_eq!(cache.stats().pending_invalidations, 100);
}
