//! The types of values.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use cache_core::{Bincode, Cache, Json, MessagePack, Postcard, cache_result};
use serde::{Deserialize, Serialize};
use tests::{
    World, assert_value_keys, bodies, body, both, caches, on_redis, stored, value_keys, with_caches,
};

use crate::raw;

both!(
    shared_values_are_stored_everywhere,
    values_without_serde_are_kept_in_memory_alone,
    what_a_codec_cannot_carry_is_returned_and_not_stored,
);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Product {
    id: u64,
    name: String,
    price: Option<Price>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Price {
    cents: i64,
    rate: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Plain,
    Sized(u8, String),
    Other { until: (u16, char) },
}

fn products() -> Vec<Product> {
    let product = |id, price, kind| Product {
        id,
        name: format!("„Nr. {id}“ \"\0\n"),
        price,
        kind,
    };
    vec![
        product(0, None, Kind::Plain),
        product(
            u64::MAX,
            Some(Price {
                cents: i64::MIN,
                rate: 0.1,
            }),
            Kind::Sized(9, "L".to_owned()),
        ),
        product(
            7,
            None,
            Kind::Other {
                until: (2038, 'ß')
            },
        ),
    ]
}

#[tokio::test]
async fn case_051_struct_through_redis() {
    World::redis().run(struct_through_redis()).await;
}

async fn struct_through_redis() {
    #[cache_result(cache = "default", manager = caches())]
    async fn default(index: usize) -> Product {
        body("default");
        products().swap_remove(index)
    }

    #[cache_result(cache = "bincode", manager = caches())]
    async fn bincode(index: usize) -> Product {
        body("bincode");
        products().swap_remove(index)
    }

    #[cache_result(cache = "json", manager = caches())]
    async fn json(index: usize) -> Product {
        body("json");
        products().swap_remove(index)
    }

    #[cache_result(cache = "postcard", manager = caches())]
    async fn postcard(index: usize) -> Product {
        body("postcard");
        products().swap_remove(index)
    }

    #[cache_result(cache = "message-pack", manager = caches())]
    async fn message_pack(index: usize) -> Product {
        body("message_pack");
        products().swap_remove(index)
    }

    let configure = |builder: cache_core::CacheManagerBuilder| {
        builder
            .defaults(stored())
            .cache("bincode", stored().codec(Bincode))
            .cache("json", stored().codec(Json))
            .cache("postcard", stored().codec(Postcard))
            .cache("message-pack", stored().codec(MessagePack))
    };
    with_caches(configure, async {
        for _ in 0..2 {
            for (index, product) in products().into_iter().enumerate() {
                assert_eq!(default(index).await, product);
                assert_eq!(bincode(index).await, product);
                assert_eq!(json(index).await, product);
                assert_eq!(postcard(index).await, product);
                assert_eq!(message_pack(index).await, product);
            }
            caches().settle().await; // the next round reads what is in Redis
        }
        for name in ["default", "bincode", "json", "postcard", "message_pack"] {
            assert_eq!(bodies(name), 3, "{name}");
        }
        for (index, product) in products().iter().enumerate() {
            let stored = raw(&format!("cache:json:{index}")).await;
            let json = serde_json::to_vec(product).expect("a plain struct");
            assert!(stored.starts_with(&json), "{stored:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn case_052_collections_and_nested_generics() {
    World::redis().run(collections_and_nested_generics()).await;
}

async fn collections_and_nested_generics() {
    #[cache_result(cache = "strings", manager = caches())]
    async fn strings() -> Vec<String> {
        body("strings");
        vec!["a".to_owned(), String::new(), "ß".to_owned()]
    }

    #[cache_result(cache = "array", manager = caches())]
    async fn array() -> [i32; 3] {
        body("array");
        [i32::MIN, 0, i32::MAX]
    }

    #[cache_result(cache = "nested", manager = caches())]
    async fn nested() -> Vec<HashMap<String, Vec<u8>>> {
        body("nested");
        vec![
            HashMap::from([("a".to_owned(), vec![0, 255]), ("b".to_owned(), Vec::new())]),
            HashMap::new(),
        ]
    }

    #[cache_result(cache = "tuple", manager = caches())]
    async fn tuple() -> (u8, Option<Box<str>>, Result<bool, String>, Duration) {
        body("tuple");
        (1, None, Err("kept".to_owned()), Duration::from_millis(1500))
    }

    let first = (
        strings().await,
        array().await,
        nested().await,
        tuple().await,
    );
    caches().settle().await;
    assert_eq!(strings().await, first.0);
    assert_eq!(array().await, first.1);
    assert_eq!(nested().await, first.2);
    assert_eq!(tuple().await, first.3);
    for name in ["strings", "array", "nested", "tuple"] {
        assert_eq!(bodies(name), 1, "{name}");
    }
    assert_eq!(
        value_keys().await,
        ["array", "nested", "strings", "tuple"]
            .map(|name| format!("cache:{name}:default-cache-key"))
    );
}

async fn shared_values_are_stored_everywhere() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f() -> Arc<Vec<Product>> {
        body("f");
        Arc::new(products())
    }

    let first = f().await;
    caches().settle().await;
    let (second, third) = (f().await, f().await);
    assert_eq!(bodies("f"), 1);
    assert_eq!(*first, *second);
    assert_eq!(*first, *third);
    // In memory a hit is a reference count.
    assert_eq!(Arc::ptr_eq(&second, &third), !on_redis());
}

/// Neither `Serialize` nor `Debug`.
#[derive(Clone)]
struct Compiled {
    run: Arc<dyn Fn(u32) -> u32 + Send + Sync>,
}

impl fmt::Display for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.run)(1).fmt(f)
    }
}

async fn values_without_serde_are_kept_in_memory_alone() {
    #[cache_result(cache = "c", manager = caches())]
    async fn compile(plus: u32) -> Result<Compiled, String> {
        body("compile");
        Ok(Compiled {
            run: Arc::new(move |n| n + plus),
        })
    }

    for _ in 0..2 {
        assert!(
            compile(1)
                .await
                .is_ok_and(|compiled| compiled.to_string() == "2")
        );
    }
    // A store that cannot take it is gone past; the function is none the worse for it.
    let (runs, bypasses) = if on_redis() { (2, 2) } else { (1, 0) };
    assert_eq!(bodies("compile"), runs);
    assert_eq!(caches().stats()["c"].bypasses, bypasses);
    assert_value_keys(&[]).await;

    let by_hand: Cache<Compiled> = caches().cache("c").expect("the function's type");
    assert_eq!(by_hand.get(&1).await.is_some(), !on_redis());
    let inserted = by_hand
        .insert(
            &2,
            Compiled {
                run: Arc::new(|n| n),
            },
        )
        .await;
    assert_eq!(inserted.is_ok(), !on_redis());
    assert_eq!(by_hand.get(&2).await.is_some(), !on_redis());
}

async fn what_a_codec_cannot_carry_is_returned_and_not_stored() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> (f64, Option<Option<u32>>) {
        body("f");
        match k {
            0 => (f64::NAN, None),
            1 => (0.0, Some(None)),
            _ => (0.0, Some(Some(k))),
        }
    }

    let json = stored().codec(Json);
    with_caches(|builder| builder.cache("c", json), async {
        for _ in 0..2 {
            assert!(f(0).await.0.is_nan());
            assert_eq!(f(1).await.1, Some(None));
            assert_eq!(f(2).await.1, Some(Some(2)));
            caches().settle().await;
        }
        assert_value_keys(&["cache:c:2"]).await;
        let (runs, failures) = if on_redis() { (5, 4) } else { (3, 0) };
        assert_eq!(bodies("f"), runs);
        assert_eq!(caches().stats()["c"].store_failures, failures);
    })
    .await;
}
