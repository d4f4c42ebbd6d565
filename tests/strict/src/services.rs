//! Functions as the services of real programs have them: what they take and return is not made for a cache.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    error::Error,
    fmt,
    future::Future,
    net::IpAddr,
    num::NonZeroU32,
    ops::Range,
    path::{Path, PathBuf},
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use serde::{Deserialize, Serialize};

/// What goes wrong in a service; it can be neither cloned nor sent to a cache.
#[derive(Debug)]
pub enum ServiceError {
    /// There is none.
    NotFound,
    /// What is below failed.
    Source(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("not found"),
            Self::Source(source) => source.fmt(f),
        }
    }
}

impl Error for ServiceError {}

impl From<std::io::Error> for ServiceError {
    fn from(error: std::io::Error) -> Self {
        Self::Source(error.into())
    }
}

type Result<T, E = ServiceError> = std::result::Result<T, E>;

/// Names a package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PackageId(Arc<str>);

/// A package of an index.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Package {
    /// Its name.
    pub id: PackageId,
    /// What each of its versions depends on.
    pub versions: BTreeMap<String, Vec<PackageId>>,
}

/// Does the work of a request.
pub trait Connection: Send {
    /// Runs a statement.
    fn run(&mut self, statement: &str) -> impl Future<Output = Result<u64>> + Send;
}

/// The index of a registry.
#[derive(Clone, Debug)]
pub struct Index {
    root: PathBuf,
    page: NonZeroU32,
}

impl Index {
    /// 1. A look-up with a connection that is no part of the key.
    ///
    /// # Errors
    /// If the connection fails.
    #[tracing::instrument(skip_all, err)]
    #[cache_result(cache = "services-package", ttl = "5m")]
    pub async fn package<C: Connection>(
        &self,
        conn: &mut C,
        #[cache_key] id: &PackageId,
    ) -> Result<Option<Arc<Package>>> {
        let found = conn.run(&id.0).await?;
        Ok((found > 0).then(Arc::default))
    }

    /// 2. A page of a search, with filters of every kind.
    ///
    /// # Errors
    /// Never.
    #[cache_result(cache = "services-search", key = (&self.page, query, sort, within.start, within.end), store_if = |found: &(Vec<_>, u64)| found.1 > 0)]
    pub async fn search(
        &self,
        conn: &mut (impl Connection + ?Sized),
        query: &str,
        sort: Option<Sort>,
        within: Range<u64>,
    ) -> Result<(Vec<Package>, u64)> {
        let total = conn.run(query).await?;
        let wanted = sort.map_or(0, |sort| sort as u64) + within.end - within.start;
        Ok((Vec::new(), total.min(wanted)))
    }

    /// 3. A file that is read.
    ///
    /// # Errors
    /// If it cannot be.
    #[cache_result(cache = "services-file", condition = path.is_relative(), key = path)]
    pub async fn file(&self, path: &Path) -> std::io::Result<Arc<[u8]>> {
        let path = self.root.join(path);
        std::fs::read(path).map(Into::into)
    }

    /// 4. A write that makes its own key.
    ///
    /// # Errors
    /// If the connection fails.
    #[cache_put(cache = "services-made", key_with = |package: &Package| package.id.clone())]
    #[cache_invalidate_all(cache = "services-search")]
    pub async fn publish<'c>(
        self: &Arc<Self>,
        conn: &'c mut dyn Statements,
        mut package: Package,
        yanked: &'c HashSet<String>,
    ) -> Result<Package> {
        package
            .versions
            .retain(|version, _| !yanked.contains(version));
        conn.run(&package.id.0)?;
        Ok(package)
    }
}

/// Runs statements at once.
pub trait Statements: Send {
    /// Runs one.
    ///
    /// # Errors
    /// If it fails.
    fn run(&mut self, statement: &str) -> Result<u64>;
}

/// How to sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Sort {
    /// By name.
    Name,
    /// By age.
    Age,
}

/// 5. Sessions as a trait object, with keys that nobody is to see.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Who a token stands for.
    async fn user(&self, token: &str, from: IpAddr) -> anyhow::Result<Option<Session>>;

    /// Ends all of a user.
    async fn log_out(
        &self,
        user: u64,
        because: &(dyn fmt::Display + Sync),
    ) -> anyhow::Result<usize>;
}

/// Somebody who is there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Session {
    /// Who.
    pub user: u64,
    /// Until when.
    pub expires: SystemTime,
}

#[async_trait]
impl Sessions for Index {
    #[cache_result(
        cache = "services-session",
        ttl_with = |session: &Option<Session>| session.as_ref().map_or(Duration::ZERO, |session| {
            session.expires.duration_since(SystemTime::now()).unwrap_or_default()
        })
    )]
    async fn user(
        &self,
        #[cache_key(hash)] token: &str,
        from: IpAddr,
    ) -> anyhow::Result<Option<Session>> {
        anyhow::ensure!(!from.is_multicast(), "no such address");
        let user = token.parse()?;
        Ok(Some(Session {
            user,
            expires: SystemTime::now(),
        }))
    }

    #[cache_invalidate_all(cache = "services-session", when = "always", condition = user > 0)]
    async fn log_out(
        &self,
        user: u64,
        because: &(dyn fmt::Display + Sync),
    ) -> anyhow::Result<usize> {
        Ok(because.to_string().len() + usize::try_from(user)?)
    }
}

/// What resolving gives in the end.
pub type Resolving<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, Arc<ServiceError>>> + Send + 'a>>;

/// 6. A service in the manner of tower, its future boxed by hand.
pub trait Resolve {
    /// The addresses of a host.
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a>;
}

/// The hosts that are known.
#[derive(Debug)]
pub struct Hosts(HashMap<String, IpAddr>);

impl Resolve for Hosts {
    #[cache_result(cache = "services-addresses", ttl = Duration::from_secs(60), lock_timeout = "2s")]
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        let found = self.0.get(host).copied();
        Box::pin(async move { Ok(vec![found.ok_or(ServiceError::NotFound)?]) })
    }
}

/// 7. Rates, from a function that is given what to call.
///
/// # Errors
/// What `fetch` says.
#[cache_result(cache = "services-rates", key = (base, day))]
pub async fn rates<F, Fut, E>(
    base: &'static str,
    day: u32,
    fetch: F,
) -> Result<HashMap<String, f64>, E>
where
    F: FnOnce(&'static str, u32) -> Fut + Send,
    Fut: Future<Output = Result<HashMap<String, f64>, E>> + Send,
    E: From<fmt::Error> + Send,
{
    if base.is_empty() {
        return Err(fmt::Error.into());
    }
    fetch(base, day).await
}

/// A repository of anything.
pub trait Repository {
    /// What identifies a row.
    type Key: Serialize + Send + Sync;
    /// A row.
    type Row: Clone + Send + Sync + 'static;

    /// 8. One row, by the trait itself.
    #[allow(async_fn_in_trait, reason = "nobody sends it")]
    #[cache_result(cache = "services-rows", key = (self.table(), id), store_if = Option::is_some)]
    async fn row(&self, id: &Self::Key) -> Option<Self::Row> {
        self.rows(std::slice::from_ref(id)).pop()
    }

    /// Many rows.
    fn rows(&self, ids: &[Self::Key]) -> Vec<Self::Row>;

    /// Where they are.
    fn table(&self) -> &str;
}

/// A handler with its state and what it extracts.
#[derive(Clone, Copy, Debug)]
pub struct State<S>(
    /// The state.
    pub S,
);

/// 9. A handler that takes its arguments apart.
///
/// # Errors
/// If there is no such page.
#[cache_result(cache = "services-handler", key = (page, &filters))]
pub async fn handler<S>(
    State(state): State<&S>,
    (page, per_page): (u32, u32),
    filters: BTreeMap<String, Option<String>>,
) -> Result<Vec<String>, (u16, &'static str)>
where
    S: Repository<Row = String, Key = u32> + Sync,
{
    if page == 0 {
        return Err((404, "no such page"));
    }
    let ids: Vec<_> = (page..page + per_page).collect();
    let mut rows = state.rows(&ids);
    rows.retain(|row| filters.contains_key(row));
    Ok(rows)
}

/// 10. An update that reports what it did.
///
/// # Errors
/// If nothing was.
#[must_use = "the number of rows says whether there were any"]
#[cache_invalidate(cache = "services-rows", key = (repository.table(), id), invalidate_if = |rows: &u64| *rows > 0)]
#[cache_invalidate(cache = "services-handler", key = (1, BTreeMap::<String, Option<String>>::new()), when = "always")]
pub async fn update<R>(
    repository: &R,
    id: R::Key,
    change: impl FnOnce(R::Row) -> R::Row + Send,
) -> Result<u64>
where
    R: Repository + Sync + ?Sized,
{
    let row = repository.rows(&[id]).pop().ok_or(ServiceError::NotFound)?;
    drop(change(row));
    Ok(1)
}
