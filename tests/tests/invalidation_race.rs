//! An invalidation that comes while a value is being loaded: whoever starts after it has returned gets the new value,
//! and the old one is stored nowhere.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use cache_core::{CacheError, cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use tests::{Gate, World, bodies, body, both, caches, soon, spawn, stored, with_caches};

both!(
    case_b21_who_arrives_after_an_invalidation_loads_afresh,
    case_b21_a_load_that_ends_after_an_invalidation_stores_nothing,
    case_b21_a_load_of_another_key_is_not_disturbed,
    case_b22_reads_during_a_slow_delete,
    case_b22_a_body_that_fails_leaves_the_entry_unless_told_otherwise,
);

/// What is cached: a row of a database.
#[derive(Clone, Debug)]
struct Row(Arc<AtomicU64>);

impl Row {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1)))
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn write(&self, version: u64) {
        self.0.store(version, Ordering::SeqCst);
    }
}

/// Reads the row, and is held at the gate with what it has read. Whoever joins it waits for the gate.
#[cache_result(cache = "c", lock_timeout = "1h", manager = caches())]
async fn slow_read(#[cache_key] _k: u64, row: Row, gate: Gate) -> u64 {
    body("read");
    let version = row.read();
    gate.pass().await;
    version
}

/// The same in a caller that nobody holds.
async fn read(k: u64, row: &Row) -> u64 {
    soon(slow_read(k, row.clone(), Gate::opened())).await
}

#[cache_invalidate(cache = "c", manager = caches())]
async fn write(#[cache_key] _k: u64, row: &Row) {
    row.write(2);
}

#[cache_invalidate_all(cache = "c", manager = caches())]
async fn write_any(row: &Row) {
    row.write(2);
}

#[cache_put(cache = "c", manager = caches())]
async fn put(#[cache_key] _k: u64, row: &Row) -> u64 {
    row.write(2);
    2
}

#[cache_put(cache = "c", key_with = |_: &u64| k, manager = caches())]
async fn put_by_value(k: u64, row: &Row) -> u64 {
    row.write(2);
    2
}

/// All the ways in which the row is changed to version 2 and the cache told of it.
#[derive(Clone, Copy, Debug)]
enum Change {
    Invalidate,
    InvalidateAll,
    Put,
    PutByValue,
    HandleInvalidate,
    HandleInvalidateAll,
    HandleInvalidateIf,
    HandleInsert,
}

impl Change {
    const ALL: [Self; 8] = [
        Self::Invalidate,
        Self::InvalidateAll,
        Self::Put,
        Self::PutByValue,
        Self::HandleInvalidate,
        Self::HandleInvalidateAll,
        Self::HandleInvalidateIf,
        Self::HandleInsert,
    ];

    async fn make(self, k: u64, row: &Row) {
        let cache = caches().cache::<u64>("c").expect("a valid name");
        let by_hand: Result<(), CacheError> = match self {
            Self::Invalidate => {
                write(k, row).await;
                Ok(())
            }
            Self::InvalidateAll => {
                write_any(row).await;
                Ok(())
            }
            Self::Put => {
                put(k, row).await;
                Ok(())
            }
            Self::PutByValue => {
                put_by_value(k, row).await;
                Ok(())
            }
            Self::HandleInvalidate => {
                row.write(2);
                cache.invalidate(&k).await.map(drop)
            }
            Self::HandleInvalidateAll => {
                row.write(2);
                cache.invalidate_all().await
            }
            Self::HandleInvalidateIf => {
                row.write(2);
                let key_text = k.to_string();
                cache.invalidate_if(|key| key == key_text).await.map(drop)
            }
            Self::HandleInsert => {
                row.write(2);
                cache.insert(&k, 2).await
            }
        };
        by_hand.expect("the store answers");
    }

    /// The same by another process: one that shares nothing with this one but the store.
    async fn make_elsewhere(self, k: u64, row: &Row) {
        let config = stored();
        with_caches(|builder| builder.defaults(config), self.make(k, row)).await;
    }
}

/// Asserts that the entry is there, and that it is version 2.
async fn assert_hit_of_version_2(k: u64, row: &Row) {
    caches().settle().await;
    let before = bodies("read");
    assert_eq!(read(k, row).await, 2);
    assert_eq!(bodies("read"), before);
}

/// A reader that has read version 1 and is still on its way when the row is changed.
async fn slow_reader(k: u64, row: &Row) -> (tokio::task::JoinHandle<u64>, Gate) {
    let gate = Gate::default();
    let reader = spawn(slow_read(k, row.clone(), gate.clone()));
    gate.reached_by(1).await;
    (reader, gate)
}

async fn case_b21_who_arrives_after_an_invalidation_loads_afresh() {
    for (k, change) in (0..).zip(Change::ALL) {
        let row = Row::new();
        let (first, gate) = slow_reader(k, &row).await;
        change.make(k, &row).await;
        // It does not join the load that is still under way.
        assert_eq!(read(k, &row).await, 2, "{change:?}");
        gate.open();
        assert_eq!(first.await.expect("no call panics"), 1, "{change:?}");
        assert_hit_of_version_2(k, &row).await;
    }
}

async fn case_b21_a_load_that_ends_after_an_invalidation_stores_nothing() {
    for (k, change) in (0..).zip(Change::ALL) {
        let row = Row::new();
        let (first, gate) = slow_reader(k, &row).await;
        change.make(k, &row).await;
        gate.open();
        assert_eq!(first.await.expect("no call panics"), 1, "{change:?}");
        assert_eq!(read(k, &row).await, 2, "{change:?}");
        caches().settle().await;
        assert_hit_of_version_2(k, &row).await;
    }
}

#[tokio::test]
async fn case_b21_loader_and_writer_in_different_processes() {
    async fn behaviour() {
        for (k, change) in (0..).zip(Change::ALL) {
            let row = Row::new();
            let (first, gate) = slow_reader(k, &row).await;
            change.make_elsewhere(k, &row).await;
            assert_eq!(read(k, &row).await, 2, "{change:?}");
            gate.open();
            assert_eq!(first.await.expect("no call panics"), 1, "{change:?}");
            assert_hit_of_version_2(k, &row).await;
        }
        for (k, change) in (100..).zip(Change::ALL) {
            let row = Row::new();
            let (first, gate) = slow_reader(k, &row).await;
            change.make_elsewhere(k, &row).await;
            gate.open();
            assert_eq!(first.await.expect("no call panics"), 1, "{change:?}");
            caches().settle().await;
            // Neither here, nor in a third process.
            let config = stored();
            with_caches(|builder| builder.defaults(config), async {
                assert_eq!(read(k, &row).await, 2, "{change:?}");
                assert_hit_of_version_2(k, &row).await;
            })
            .await;
            assert_hit_of_version_2(k, &row).await;
        }
    }

    World::redis().run(behaviour()).await;
}

async fn case_b21_a_load_of_another_key_is_not_disturbed() {
    let row = Row::new();
    let (first, gate) = slow_reader(1, &row).await;
    let cache = caches().cache::<u64>("c").expect("a valid name");
    cache.invalidate(&2).await.expect("the store answers");
    gate.open();
    first.await.expect("no call panics");
    caches().settle().await;
    row.write(3);
    assert_eq!(read(1, &row).await, 1);
    assert_eq!(bodies("read"), 1);
}

async fn case_b22_reads_during_a_slow_delete() {
    #[cache_invalidate(cache = "c", manager = caches())]
    async fn slow_write(#[cache_key] _k: u64, row: Row, gate: Gate) {
        gate.pass().await;
        row.write(2);
    }

    for (k, filled) in [(1, true), (2, false)] {
        let row = Row::new();
        if filled {
            read(k, &row).await;
        }
        let gate = Gate::default();
        let writer = spawn(slow_write(k, row.clone(), gate.clone()));
        gate.reached_by(1).await;
        assert_eq!(read(k, &row).await, 1);
        gate.open();
        writer.await.expect("no call panics");
        assert_eq!(read(k, &row).await, 2);
        assert_hit_of_version_2(k, &row).await;
    }
}

async fn case_b22_a_body_that_fails_leaves_the_entry_unless_told_otherwise() {
    #[cache_invalidate(cache = "c", manager = caches())]
    async fn fails(#[cache_key] _k: u64, row: &Row) -> Result<(), String> {
        row.write(2);
        Err("too late".to_owned())
    }

    #[cache_invalidate(cache = "c", when = "always", manager = caches())]
    async fn fails_and_tells(#[cache_key] _k: u64, row: &Row) -> Result<(), String> {
        row.write(2);
        Err("too late".to_owned())
    }

    let row = Row::new();
    read(1, &row).await;
    fails(1, &row)
        .await
        .expect_err("that is what the body says");
    assert_eq!(read(1, &row).await, 1);
    fails_and_tells(1, &row)
        .await
        .expect_err("that is what the body says");
    assert_eq!(read(1, &row).await, 2);
}
