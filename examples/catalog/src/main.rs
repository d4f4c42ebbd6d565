//! The product catalog of a small shop, with its caches declared by attributes: see `service.rs`.

mod admin;
mod args;
mod caches;
mod error;
mod extract;
mod model;
mod money;
mod observe;
mod pages;
mod routes;
mod service;
mod store;

use std::{
    error::Error,
    future::{Future, IntoFuture},
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use cache_core::CacheConfig;
use cache_redis::{RedisBackend, dev::RedisServer};
use clap::{CommandFactory, Parser, error::ErrorKind};
use tokio::{net::TcpListener, signal::unix, sync::oneshot};
use tracing_subscriber::EnvFilter;

use crate::{admin::Admin, args::Args, args::Caching, routes::App, service::Shop, store::Store};

/// How long requests that are under way may take once the service is told to end.
const GRACE: Duration = Duration::from_secs(10);

/// How long a store or an invalidation in Redis may take at least. Nobody waits for a store.
const STORE_BUDGET: Duration = Duration::from_secs(1);

#[tokio::main]
async fn main() -> ExitCode {
    let args = Args::parse();
    let caching = args.caching().unwrap_or_else(|error| {
        Args::command()
            .error(ErrorKind::ArgumentConflict, error)
            .exit()
    });
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,cache_core=info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();

    match serve(args, caching).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("catalog: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(args: Args, caching: Caching) -> Result<(), Box<dyn Error>> {
    // Asked for before anything is announced, so that a signal right after that ends the service cleanly, too.
    let asked_to_end = asked_to_end()?;

    // The server ends when this function does: after the caches, which are shut down below.
    let (place, _redis) = place_of_the_caches(caching, args.tiered, args.redis_budget())?;
    let caches = caches::configure(place)?;
    // From here on the attributes in `service.rs` use these caches.
    caches.install()?;

    let store = Store::open(&args.database)
        .await
        .map_err(|error| format!("cannot open the database: {error}"))?;
    let listener = TcpListener::bind(&args.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", args.listen))?;
    let address = listener.local_addr()?;
    let admin = match args.admin_token {
        Some(token) => Admin::Token(token),
        None if address.ip().is_loopback() => Admin::Loopback,
        None => Admin::Nobody,
    };

    let constant = match args.constant {
        true => Some(Arc::new(store.store_products().await?)),
        false => None,
    };

    let app = Arc::new(App {
        shop: Shop::new(store),
        caches,
        admin,
        constant,
    });
    announce(&format!("listening on http://{address}"));
    serve_until(asked_to_end, listener, app.clone()).await?;

    let given_up = app.caches.shutdown(GRACE).await;
    if given_up.unfinished > 0 || given_up.pending_invalidations > 0 {
        tracing::warn!(?given_up, "not all that the caches had to do was done");
    }
    app.shop.store().close().await;
    Ok(())
}

/// Where the caches are, and the Redis that was started for them.
fn place_of_the_caches(
    caching: Caching,
    tiered: bool,
    budget: Duration,
) -> Result<(CacheConfig, Option<RedisServer>), Box<dyn Error>> {
    let in_redis = |url: &str| {
        RedisBackend::builder(url)
            .read_budget(budget)
            .store_budget(budget.max(STORE_BUDGET))
            .build()
            .map(if tiered {
                CacheConfig::tiered
            } else {
                CacheConfig::on
            })
    };
    Ok(match caching {
        Caching::Off => (CacheConfig::disabled(), None),
        Caching::Memory => (CacheConfig::memory(), None),
        Caching::Redis(url) => (in_redis(&url)?, None),
        Caching::DevRedis => {
            let server = RedisServer::start()?;
            announce(&format!("redis on {}", server.url()));
            (in_redis(&server.url())?, Some(server))
        }
    })
}

/// Answers requests until `end` is ready, then finishes those that are under way.
async fn serve_until(
    end: impl Future<Output = ()> + Send + 'static,
    listener: TcpListener,
    app: Arc<App>,
) -> io::Result<()> {
    let (ending, ended) = oneshot::channel();
    let server = axum::serve(listener, routes::router(app)).with_graceful_shutdown(async move {
        end.await;
        let _ = ending.send(());
    });
    let grace_is_over = async {
        let _ = ended.await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = server.into_future() => result,
        // A client that never finishes its request does not keep the service alive.
        () = grace_is_over => Ok(()),
    }
}

/// Ready at the first SIGTERM or Ctrl-C.
fn asked_to_end() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = unix::signal(unix::SignalKind::terminate())?;
    let mut interrupt = unix::signal(unix::SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Tells whoever started the service; if nobody listens any more, that is no reason to stop.
fn announce(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}
