//! Caches as one writes them in an afternoon.

use std::future::Future;

use redis::aio::MultiplexedConnection;
use tests::stress::{Keeper, Loaded, Look, Row, Told, Unavailable, Way};

/// moka's own loading of absent values.
#[derive(Clone)]
pub(crate) struct GetWith(moka::future::Cache<u64, Row>);

impl GetWith {
    pub(crate) fn new() -> Self {
        Self(moka::future::Cache::new(10_000))
    }
}

impl Keeper for GetWith {
    async fn read(
        &self,
        key: u64,
        _: Look,
        load: impl Future<Output = Loaded> + Send,
    ) -> Option<Loaded> {
        let row = self.0.try_get_with(key, load).await;
        Some(row.map_err(|_| Unavailable))
    }

    async fn write(
        &self,
        key: u64,
        _: Way,
        write: impl Future<Output = Row> + Send,
    ) -> (u64, Told) {
        let row = write.await;
        self.0.invalidate(&key).await;
        (row.version, Told::Acknowledged)
    }

    async fn clean_up(&self, key: u64) -> bool {
        self.0.invalidate(&key).await;
        true
    }

    async fn settle(&self) {}
}

/// A map that is filled by whoever found nothing.
#[derive(Clone)]
pub(crate) struct GetInsert(moka::sync::Cache<u64, Row>);

impl GetInsert {
    pub(crate) fn new() -> Self {
        Self(moka::sync::Cache::new(10_000))
    }
}

impl Keeper for GetInsert {
    async fn read(
        &self,
        key: u64,
        _: Look,
        load: impl Future<Output = Loaded> + Send,
    ) -> Option<Loaded> {
        if let Some(row) = self.0.get(&key) {
            return Some(Ok(row));
        }
        let loaded = load.await;
        if let Ok(row) = loaded {
            self.0.insert(key, row);
        }
        Some(loaded)
    }

    async fn write(
        &self,
        key: u64,
        _: Way,
        write: impl Future<Output = Row> + Send,
    ) -> (u64, Told) {
        let row = write.await;
        self.0.invalidate(&key);
        (row.version, Told::Acknowledged)
    }

    async fn clean_up(&self, key: u64) -> bool {
        self.0.invalidate(&key);
        true
    }

    async fn settle(&self) {}
}

/// The same on a Redis server.
#[derive(Clone)]
pub(crate) struct GetSetDel(MultiplexedConnection);

impl GetSetDel {
    pub(crate) async fn open(url: &str) -> Self {
        Self(tests::connect(url).await)
    }

    async fn delete(&self, key: u64) -> redis::RedisResult<()> {
        redis::cmd("DEL")
            .arg(key)
            .exec_async(&mut self.0.clone())
            .await
    }
}

impl Keeper for GetSetDel {
    async fn read(
        &self,
        key: u64,
        _: Look,
        load: impl Future<Output = Loaded> + Send,
    ) -> Option<Loaded> {
        let mut connection = self.0.clone();
        let version: Option<u64> = redis::cmd("GET")
            .arg(key)
            .query_async(&mut connection)
            .await
            .expect("the server answers");
        if let Some(version) = version {
            return Some(Ok(Row { key, version }));
        }
        let loaded = load.await;
        if let Ok(row) = loaded {
            redis::cmd("SET")
                .arg(key)
                .arg(row.version)
                .exec_async(&mut connection)
                .await
                .expect("the server answers");
        }
        Some(loaded)
    }

    async fn write(
        &self,
        key: u64,
        _: Way,
        write: impl Future<Output = Row> + Send,
    ) -> (u64, Told) {
        let row = write.await;
        self.delete(key).await.expect("the server answers");
        (row.version, Told::Acknowledged)
    }

    async fn clean_up(&self, key: u64) -> bool {
        self.delete(key).await.is_ok()
    }

    async fn settle(&self) {}
}
