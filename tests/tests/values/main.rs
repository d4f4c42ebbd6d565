//! What is stored, and what comes back.

mod alike;
mod bytes;
mod returned;
mod types;
mod undecodable;

/// The bytes under a key of the server.
async fn raw(key: &str) -> Vec<u8> {
    ::redis::cmd("GET")
        .arg(key)
        .query_async(&mut tests::redis().await)
        .await
        .expect("the server answers")
}
