//! The shop's tables, in SQLite or PostgreSQL, with one set of statements for both.

mod catalog;
mod changes;
mod orders;

pub(crate) use self::{changes::Restocked, orders::Placed};

use std::{str::FromStr, sync::Mutex, time::Duration};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use sqlx::{
    Any, AnyConnection, AnyPool, Connection, Transaction,
    any::{AnyConnectOptions, AnyPoolOptions},
};

use crate::{error::Error, observe};

/// Tables and first rows of a new database.
const SEED: &str = include_str!("../seed.sql");

/// Where the shop keeps its data: `sqlite:FILE` or `postgres://…`.
#[derive(Clone)]
pub(crate) enum Database {
    Memory,
    File(String),
    Postgres(String),
}

impl FromStr for Database {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Self::Postgres(text.to_owned()));
        }
        let file = text
            .strip_prefix("sqlite:")
            .ok_or("write sqlite:FILE or postgres://USER@HOST/DATABASE")?;
        match file.strip_prefix("//").unwrap_or(file) {
            "" => Err("name the file: sqlite:FILE"),
            ":memory:" => Ok(Self::Memory),
            file => Ok(Self::File(file.to_owned())),
        }
    }
}

impl Database {
    fn url(&self) -> String {
        match self {
            // The `memdb` file system shares one database between all connections of the process and locks it like a
            // file. A plain `:memory:` would give every connection a database of its own.
            Self::Memory => "sqlite:/catalog?vfs=memdb&mode=rwc".to_owned(),
            Self::File(file) => format!(
                "sqlite:{}?mode=rwc",
                utf8_percent_encode(file, NON_ALPHANUMERIC)
            ),
            Self::Postgres(url) => url.clone(),
        }
    }
}

/// The pool of connections and what differs between the databases.
pub(crate) struct Store {
    pool: AnyPool,
    postgres: bool,
    /// A database in memory lives as long as somebody is connected to it.
    _keep_alive: Option<Mutex<AnyConnection>>,
}

impl Store {
    /// Connects, and creates and fills the tables of a database that has none.
    pub(crate) async fn open(database: &Database) -> Result<Self, sqlx::Error> {
        sqlx::any::install_default_drivers();
        let options = AnyConnectOptions::from_str(&database.url())?;
        let keep_alive = match database {
            Database::Memory => Some(Mutex::new(AnyConnection::connect_with(&options).await?)),
            _ => None,
        };
        let pool = AnyPoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options)
            .await?;
        let store = Self {
            pool,
            postgres: matches!(database, Database::Postgres(_)),
            _keep_alive: keep_alive,
        };
        store.seed().await?;
        Ok(store)
    }

    /// Whether the database answers.
    pub(crate) async fn ping(&self) -> Result<(), sqlx::Error> {
        sqlx::query("select 1").execute(&self.pool).await.map(drop)
    }

    /// Ends all connections.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }

    async fn seed(&self) -> Result<(), sqlx::Error> {
        let tables = if self.postgres {
            "select count(*) from information_schema.tables where table_schema = current_schema() and table_name = $1"
        } else {
            "select count(*) from sqlite_master where type = 'table' and name = $1"
        };
        // Two services may start on one new database at the same time.
        let mut tx = self.begin_raw().await?;
        self.lock_new_ids(&mut tx, "category").await?;
        let found: i64 = sqlx::query_scalar(tables)
            .bind("category")
            .fetch_one(&mut *tx)
            .await?;
        if found == 0 {
            sqlx::raw_sql(SEED).execute(&mut *tx).await?;
        }
        tx.commit().await
    }

    /// The connections for a single reading statement.
    fn read(&self) -> &AnyPool {
        observe::sql_ran();
        &self.pool
    }

    /// A transaction that writes; dropped without a commit, it changes nothing.
    async fn begin(&self) -> Result<Transaction<'static, Any>, Error> {
        observe::sql_ran();
        Ok(self.begin_raw().await?)
    }

    async fn begin_raw(&self) -> Result<Transaction<'static, Any>, sqlx::Error> {
        // SQLite has one writer at a time. A transaction that begins as a reader and becomes the second writer is
        // refused without waiting, so all of them begin as writers.
        self.pool
            .begin_with(if self.postgres {
                "begin"
            } else {
                "begin immediate"
            })
            .await
    }

    /// Makes `max(id) + 1` of a table safe until the end of the transaction: in PostgreSQL two could read the same
    /// maximum. A lock for each table, so that a writer of one never waits for a writer of another while it holds rows.
    async fn lock_new_ids(
        &self,
        tx: &mut Transaction<'static, Any>,
        table: &str,
    ) -> Result<(), sqlx::Error> {
        if self.postgres {
            let lock = "select pg_advisory_xact_lock(hashtextextended($1, 0))";
            sqlx::query(lock).bind(table).execute(&mut **tx).await?;
        }
        Ok(())
    }
}
