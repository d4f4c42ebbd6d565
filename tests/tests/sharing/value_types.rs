//! Functions of one cache that agree, or do not, on what it holds.

use cache_core::{Cache, cache_invalidate, cache_put, cache_result};
use serde::{Deserialize, Serialize};
use tests::{bodies, body, both, caches, stored, with_caches};

both!(
    case_b13_functions_of_one_type_share_entries_and_their_invalidation,
    case_b13_functions_of_different_types_never_get_each_others_values,
    a_handle_of_another_type_is_refused,
);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Product {
    id: u64,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Price {
    cents: u64,
}

async fn case_b13_functions_of_one_type_share_entries_and_their_invalidation() {
    #[cache_result(cache = "catalog", manager = caches())]
    async fn full(id: u64) -> Product {
        body("full");
        Product {
            id,
            name: "full".to_owned(),
        }
    }

    // What means something else says so in its key.
    #[cache_result(cache = "catalog", key = ("summary", id), manager = caches())]
    async fn summary(id: u64) -> Product {
        body("summary");
        Product {
            id,
            name: "summary".to_owned(),
        }
    }

    #[cache_invalidate(cache = "catalog", manager = caches())]
    #[cache_invalidate(cache = "catalog", key = ("summary", id), manager = caches())]
    async fn changed(id: u64) {
        let _ = id;
    }

    let read = async || (full(1).await.name, summary(1).await.name);
    for _ in 0..2 {
        assert_eq!(read().await, ("full".to_owned(), "summary".to_owned()));
    }
    assert_eq!((bodies("full"), bodies("summary")), (1, 1));
    changed(1).await;
    read().await;
    assert_eq!((bodies("full"), bodies("summary")), (2, 2));
}

/// That it is refused at the start is tested in `check_value_types.rs`; this is what functions with `manager = …` meet.
async fn case_b13_functions_of_different_types_never_get_each_others_values() {
    #[cache_result(cache = "catalog", manager = caches())]
    async fn product_by_id(id: u64) -> Product {
        body("product_by_id");
        Product {
            id,
            name: "a product".to_owned(),
        }
    }

    #[cache_result(cache = "catalog", manager = caches())]
    async fn price_by_id(id: u64) -> Price {
        body("price_by_id");
        Price { cents: id * 100 }
    }

    #[cache_put(cache = "catalog", key = id, manager = caches())]
    async fn set_price(id: u64, cents: u64) -> Price {
        let _ = id;
        Price { cents }
    }

    #[cache_invalidate(cache = "catalog", manager = caches())]
    async fn changed(id: u64) {
        let _ = id;
    }

    for _ in 0..2 {
        assert_eq!(product_by_id(1).await.name, "a product");
        assert_eq!(price_by_id(1).await.cents, 100);
        assert_eq!(set_price(1, 5).await.cents, 5);
    }
    assert_eq!((bodies("product_by_id"), bodies("price_by_id")), (1, 2));
    let stats = caches().stats()["catalog"];
    assert_eq!((stats.hits, stats.misses, stats.bypasses), (1, 1, 2));
    changed(1).await;
    product_by_id(1).await;
    assert_eq!(bodies("product_by_id"), 2);
}

async fn a_handle_of_another_type_is_refused() {
    let _prices: Cache<Price> = caches().cache("catalog").expect("the first to say");
    let error = caches()
        .cache::<Product>("catalog")
        .expect_err("it holds prices")
        .to_string();
    assert!(
        error.contains("`catalog`") && error.contains("Price") && error.contains("Product"),
        "{error}"
    );

    let declared = stored().value_type::<Price>();
    with_caches(|builder| builder.cache("prices", declared), async {
        caches()
            .cache::<u32>("prices")
            .expect_err("it was declared to hold prices");
        caches().cache::<Price>("prices").expect("as declared");
    })
    .await;
}
