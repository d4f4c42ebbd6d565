//! What an invalidation ends, when, and what it leaves alone.

mod entries;
mod interrupted;
mod moment;
mod whole_caches;

use tests::on_redis;

/// Puts strings into the server that are not the framework's.
async fn plant_foreign(keys: &[&str]) {
    if on_redis() {
        for key in keys {
            ::redis::cmd("SET")
                .arg(key)
                .arg("foreign")
                .exec_async(&mut tests::redis().await)
                .await
                .expect("the server answers");
        }
    }
}

async fn assert_foreign(keys: &[&str]) {
    if on_redis() {
        for key in keys {
            let value: Option<String> = ::redis::cmd("GET")
                .arg(key)
                .query_async(&mut tests::redis().await)
                .await
                .expect("the server answers");
            assert_eq!(value.as_deref(), Some("foreign"), "{key}");
        }
    }
}
