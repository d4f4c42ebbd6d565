//! Entries that cannot be used.

use cache_core::{Cache, Json, cache_result};
use serde::{Deserialize, Serialize};
use tests::{World, bodies, body, caches, stored, value_keys, with_caches};

use crate::raw;

#[tokio::test]
async fn case_059_undecodable_entry() {
    World::redis().run(undecodable_entry()).await;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Price {
    cents: i64,
    rate: f32,
}

async fn undecodable_entry() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> Price {
        body("f");
        Price {
            cents: i64::from(k),
            rate: 0.5,
        }
    }

    let json = stored().codec(Json);
    with_caches(|builder| builder.cache("c", json), async {
        let valid = {
            f(0).await;
            caches().settle().await;
            raw("cache:c:0").await
        };
        let planted: Vec<Vec<u8>> = vec![
            b"{broken".to_vec(),
            br#"{"cents":1}"#.to_vec(),
            br#"{"cents":1,"rate":0.5}"#.to_vec(),
            b"".to_vec(),
            valid[..valid.len() - 1].to_vec(),
            [&valid[..], b" "].concat(),
            // Of another key: right in itself, but not what was asked for.
            valid,
        ];
        for (k, bytes) in (1..).zip(&planted) {
            let decode_failures = caches().stats()["c"].decode_failures;
            let runs = bodies("f");
            ::redis::cmd("SET")
                .arg(format!("cache:c:{k}"))
                .arg(bytes)
                .exec_async(&mut tests::redis().await)
                .await
                .expect("the server answers");
            assert_eq!(f(k).await.cents, i64::from(k));
            caches().settle().await;
            let overwritten = raw(&format!("cache:c:{k}")).await;
            let begin = format!(r#"{{"cents":{k},"rate":0.5}}"#);
            assert!(overwritten.starts_with(begin.as_bytes()), "{overwritten:?}");
            assert_eq!(f(k).await.cents, i64::from(k));
            assert_eq!(bodies("f"), runs + 1);
            assert_eq!(caches().stats()["c"].decode_failures, decode_failures + 1);
        }
    })
    .await;
}

mod before {
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub(super) struct User {
        pub(super) name: String,
    }
}

mod after {
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    pub(super) struct User {
        pub(super) name: String,
        pub(super) age: Option<u8>,
    }
}

/// Two versions of a service share keys; what one of them stored is no value to the other.
#[tokio::test]
async fn case_059_entry_of_another_version_of_the_type() {
    World::redis().run(entry_of_another_version()).await;
}

async fn entry_of_another_version() {
    #[cache_result(cache = "c", manager = caches())]
    async fn old(k: u32) -> before::User {
        body("old");
        before::User {
            name: k.to_string(),
        }
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn new(k: u32) -> after::User {
        body("new");
        after::User {
            name: k.to_string(),
            age: Some(30),
        }
    }

    let config = |json: bool| {
        if json { stored().codec(Json) } else { stored() }
    };
    for json in [false, true] {
        let (olds, news) = (bodies("old"), bodies("new"));
        with_caches(|builder| builder.defaults(config(json)), async {
            old(1).await;
            caches().settle().await;
        })
        .await;
        with_caches(|builder| builder.defaults(config(json)), async {
            assert_eq!(new(1).await.age, Some(30));
            caches().settle().await;
            assert_eq!(new(1).await.age, Some(30));
            assert_eq!(caches().stats()["c"].decode_failures, 1);
        })
        .await;
        with_caches(|builder| builder.defaults(config(json)), async {
            assert_eq!(old(1).await.name, "1");
            caches().settle().await;
            // An invalidation by one ends the other's entries too.
            let handle: Cache<before::User> = caches().cache("c").expect("the type");
            assert!(handle.invalidate(&1).await.expect("answered"));
        })
        .await;
        assert_eq!((bodies("old"), bodies("new")), (olds + 2, news + 1));
        assert_eq!(value_keys().await, [""; 0]);
    }
}
