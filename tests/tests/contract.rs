//! What every backend must do, held against each there is, and against one that a user might write.

use cache_core::testing::{FaultyBackend, MapBackend, contract};
use cache_redis::dev::RedisServer;
use tests::advance_redis;

#[path = "../../examples/own_backend.rs"]
#[allow(dead_code, unreachable_pub)] // a program, of which only the backend is used here
mod own_backend;

#[tokio::test]
async fn the_backend_of_the_tests() {
    let backend = MapBackend::new();
    contract::check(&backend, async |by| backend.clock().advance(by)).await;
}

#[tokio::test]
async fn the_backend_in_bad_weather_when_it_is_good() {
    let map = MapBackend::new();
    let backend = FaultyBackend::new(map.clone());
    contract::check(&backend, async |by| map.clock().advance(by)).await;
}

#[tokio::test]
async fn redis() {
    let server = RedisServer::start().expect("a Redis server is needed");
    let backend = tests::backend(&server.url());
    let connection = tests::connect(&server.url()).await;
    let advance = async |by| advance_redis(&mut connection.clone(), by).await;
    contract::check(&backend, advance).await;
}

#[tokio::test(start_paused = true)]
async fn a_backend_of_a_user() {
    let backend = own_backend::OwnBackend::default();
    contract::check(&backend, tokio::time::advance).await;
}
