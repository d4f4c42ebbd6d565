//! A service that gives each request its context, and the measurement of what the cache saves: see the README beside it.

mod demo;
mod load;
mod measure;

use std::{error::Error, io, process::ExitCode, sync::Arc};

use clap::{Parser, Subcommand};
use request_context::{Contexts, router};
use tokio::net::TcpListener;

use crate::demo::Demo;

/// Answers `GET /role` with the role of who asks.
#[derive(Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:8081")]
    listen: String,
}

#[derive(Subcommand)]
enum Command {
    /// Prints what a context costs: uncached, cached, and cached by a key as the original made it.
    Measure,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.command {
        Some(Command::Measure) => measure::run(),
        None => serve(&args.listen),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("request-context: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
async fn serve(listen: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
    let demo = Demo::new()?;
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    println!("a token of a customer, for an hour: {}", demo.token(0)?);
    let app = router(Arc::new(demo.policy(Contexts::new()?)));
    axum::serve(listener, app)
        .with_graceful_shutdown(async {
            // Without signals it ends when it is killed.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
        .await
        .map_err(io::Error::into)
}
