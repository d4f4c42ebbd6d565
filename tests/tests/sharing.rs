//! Functions that share a cache, and functions that use several.

use cache_core::{
    Cache, CacheConfig, CacheName, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
    testing::{FaultyBackend, MapBackend, Operation},
};
use serde::{Deserialize, Serialize};
use tests::{
    Monitor, World, assert_value_keys, bodies, body, both, caches, on_redis, stored, with_caches,
};

both!(
    case_020_two_functions_one_cache_same_key,
    case_021_invalidate_all_from_another_module,
    case_023_no_argument_functions_of_different_caches,
    case_025_refresh_idiom,
    case_025_refresh_idiom_in_the_other_text_order,
    case_027_hit_with_an_invalidation_of_another_cache,
    case_028_two_invalidate_one,
    case_b13_functions_of_one_type_share_entries_and_their_invalidation,
    case_b13_functions_of_different_types_never_get_each_others_values,
    a_handle_of_another_type_is_refused,
    a_cache_named_by_a_constant,
    every_invalidation_has_its_own_key,
    every_invalidation_runs_even_if_another_fails,
    one_manager_for_each_attribute,
    managers_do_not_share_what_is_in_memory,
);

async fn case_020_two_functions_one_cache_same_key() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(id: i32) -> String {
        format!("f {id} {}", body("f"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn g(id: i32) -> String {
        format!("g {id} {}", body("g"))
    }

    let first = f(1).await;
    assert_eq!(g(1).await, first);
    assert_eq!((bodies("f"), bodies("g")), (1, 0));
}

mod reader {
    use cache_core::cache_result;
    use tests::{body, caches};

    #[cache_result(cache = "c", manager = caches())]
    pub(super) async fn read(id: u32) -> u64 {
        u64::from(id) + body("read")
    }
}

mod writer {
    use cache_core::cache_invalidate_all;
    use tests::caches;

    #[cache_invalidate_all(cache = "c", manager = caches())]
    pub(super) async fn clear() {}
}

async fn case_021_invalidate_all_from_another_module() {
    reader::read(1).await;
    reader::read(1).await;
    assert_eq!(bodies("read"), 1);
    writer::clear().await;
    reader::read(1).await;
    assert_eq!(bodies("read"), 2);
}

async fn case_023_no_argument_functions_of_different_caches() {
    #[cache_result(cache = "c1", manager = caches())]
    async fn f() -> u64 {
        body("f")
    }

    #[cache_result(cache = "c2", manager = caches())]
    async fn g() -> u64 {
        body("g")
    }

    #[cache_invalidate(cache = "c1", manager = caches())]
    #[cache_invalidate(cache = "c2", manager = caches())]
    async fn d() {}

    f().await;
    g().await;
    assert_value_keys(&["cache:c1:default-cache-key", "cache:c2:default-cache-key"]).await;
    d().await;
    assert_value_keys(&[]).await;
    f().await;
    g().await;
    assert_eq!((bodies("f"), bodies("g")), (2, 2));
}

async fn case_025_refresh_idiom() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> String {
        format!("f {k} {}", body("f"))
    }

    #[cache_result(cache = "c", manager = caches())]
    #[cache_invalidate(cache = "c", manager = caches())]
    async fn refresh(k: u32) -> String {
        format!("refresh {k} {}", body("refresh"))
    }

    let a = f(1).await;
    let b = refresh(1).await;
    assert_ne!(a, b);
    assert_eq!(f(1).await, b);
    assert_eq!((bodies("f"), bodies("refresh")), (1, 1));
    assert_ne!(refresh(1).await, b);
    assert_eq!(bodies("refresh"), 2);
}

async fn case_025_refresh_idiom_in_the_other_text_order() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(k: u32) -> String {
        format!("f {k} {}", body("f"))
    }

    #[cache_invalidate_all(cache = "c", manager = caches())]
    #[cache_result(cache = "c", manager = caches())]
    async fn refresh(k: u32) -> String {
        format!("refresh {k} {}", body("refresh"))
    }

    f(1).await;
    f(2).await;
    let b = refresh(1).await;
    assert_eq!(f(1).await, b);
    assert_eq!((bodies("f"), bodies("refresh")), (2, 1));
    f(2).await;
    assert_eq!(bodies("f"), 3, "the whole cache was cleared");
}

async fn case_027_hit_with_an_invalidation_of_another_cache() {
    #[cache_result(cache = "c1", manager = caches())]
    #[cache_invalidate_all(cache = "c2", manager = caches())]
    async fn h(k: u32) -> String {
        format!("h {k} {}", body("h"))
    }

    #[cache_result(cache = "c2", manager = caches())]
    async fn g(k: u32) -> String {
        format!("g {k} {}", body("g"))
    }

    let first = h(1).await;
    g(1).await;
    assert_eq!(h(1).await, first);
    g(1).await;
    assert_eq!((bodies("h"), bodies("g")), (1, 2));
}

async fn case_028_two_invalidate_one() {
    #[cache_result(cache = "c1", manager = caches())]
    async fn f(k: u32) -> u64 {
        u64::from(k) + body("f")
    }

    #[cache_result(cache = "c2", manager = caches())]
    async fn g(k: u32) -> u64 {
        u64::from(k) + body("g")
    }

    #[cache_invalidate(cache = "c1", manager = caches())]
    #[cache_invalidate(cache = "c2", manager = caches())]
    async fn d(k: u32) -> u32 {
        k
    }

    for k in [1, 2] {
        f(k).await;
        g(k).await;
    }
    assert_eq!(d(1).await, 1);
    for k in [1, 2] {
        f(k).await;
        g(k).await;
    }
    assert_eq!((bodies("f"), bodies("g")), (3, 3));
}

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

const SQUARES: CacheName<u64> = CacheName::new("squares");

mod names {
    pub(super) const ROOTS: cache_core::CacheName<u64> = cache_core::CacheName::new("roots");
}

async fn a_cache_named_by_a_constant() {
    #[cache_result(cache = SQUARES, manager = caches())]
    async fn square(n: u64) -> u64 {
        body("square");
        n * n
    }

    #[cache_result(cache = names::ROOTS, manager = caches())]
    async fn root(n: u64) -> Result<u64, String> {
        body("root");
        Ok(n.isqrt())
    }

    #[cache_put(cache = SQUARES, key = n, manager = caches())]
    async fn set_square(n: u64, square: u64) -> u64 {
        let _ = n;
        square
    }

    #[cache_invalidate(cache = SQUARES, manager = caches())]
    #[cache_invalidate_all(cache = names::ROOTS, manager = caches())]
    async fn forget(n: u64) {
        let _ = n;
    }

    assert_eq!((square(3).await, root(9).await), (9, Ok(3)));
    assert_eq!((square(3).await, root(9).await), (9, Ok(3)));
    assert_eq!((bodies("square"), bodies("root")), (1, 1));
    assert_value_keys(&["cache:roots:9", "cache:squares:3"]).await;
    set_square(3, 10).await;
    assert_eq!(square(3).await, 10);
    forget(3).await;
    assert_eq!((square(3).await, root(9).await), (9, Ok(3)));
    assert_eq!((bodies("square"), bodies("root")), (2, 2));
}

async fn every_invalidation_has_its_own_key() {
    #[cache_result(cache = "product", manager = caches())]
    async fn product(id: u64) -> u64 {
        body("product");
        id
    }

    #[cache_result(cache = "shelf", manager = caches())]
    async fn shelf(name: &str) -> String {
        body("shelf");
        name.to_owned()
    }

    #[cache_result(cache = "list", manager = caches())]
    async fn list(page: u32) -> u32 {
        body("list");
        page
    }

    #[cache_invalidate(cache = "product", key = id, manager = caches())]
    #[cache_invalidate_all(cache = "list", manager = caches())]
    #[cache_invalidate(cache = "shelf", key = from, manager = caches())]
    #[cache_invalidate(cache = "shelf", key = to, manager = caches())]
    async fn move_product(id: u64, from: &str, to: &str) -> Result<(), String> {
        let _ = (id, from, to);
        Ok(())
    }

    let read = async || {
        for id in [1, 2] {
            product(id).await;
        }
        for name in ["a", "b", "c"] {
            shelf(name).await;
        }
        for page in [1, 2] {
            list(page).await;
        }
        (bodies("product"), bodies("shelf"), bodies("list"))
    };
    assert_eq!(read().await, (2, 3, 2));
    assert_eq!(read().await, (2, 3, 2));
    move_product(1, "a", "b").await.expect("it never fails");
    assert_eq!(read().await, (3, 5, 4));
}

async fn every_invalidation_runs_even_if_another_fails() {
    #[cache_result(cache = "good", manager = caches())]
    async fn good(k: u32) -> u32 {
        body("good");
        k
    }

    #[cache_invalidate(cache = "good", manager = caches())]
    #[cache_invalidate(cache = "bad", manager = caches())]
    async fn inner_good(k: u32) -> u32 {
        k
    }

    #[cache_invalidate(cache = "bad", manager = caches())]
    #[cache_invalidate(cache = "good", manager = caches())]
    async fn outer_good(k: u32) -> u32 {
        k
    }

    #[cache_invalidate_all(cache = "bad", when = "before", manager = caches())]
    #[cache_invalidate_all(cache = "good", when = "before", manager = caches())]
    async fn before(k: u32) -> u32 {
        k
    }

    let backend = FaultyBackend::new(MapBackend::new());
    backend.fail(&Operation::ALL);
    with_caches(
        |builder| {
            builder
                .cache("good", stored())
                .cache("bad", CacheConfig::on(backend))
        },
        async {
            good(1).await;
            assert_eq!(inner_good(1).await, 1);
            good(1).await;
            assert_eq!(outer_good(1).await, 1);
            good(1).await;
            assert_eq!(before(1).await, 1);
            good(1).await;
            assert_eq!(bodies("good"), 4);
        },
    )
    .await;
}

async fn one_manager_for_each_attribute() {
    let here = caches();
    let there = cache_core::CacheManager::builder()
        .build()
        .expect("the defaults are valid");

    #[cache_result(cache = "c", key = k, manager = manager)]
    async fn f(k: u32, manager: &cache_core::CacheManager) -> u64 {
        let _ = manager;
        u64::from(k) + body("f")
    }

    #[cache_invalidate(cache = "c", key = k, manager = one)]
    #[cache_invalidate(cache = "c", key = k, manager = *other)]
    async fn d(k: u32, one: cache_core::CacheManager, other: &cache_core::CacheManager) {
        let _ = (k, one, other);
    }

    for manager in [&here, &there, &here, &there] {
        f(1, manager).await;
    }
    assert_eq!(bodies("f"), 2);
    d(1, here.clone(), &there).await;
    for manager in [&here, &there, &here, &there] {
        f(1, manager).await;
    }
    assert_eq!(bodies("f"), 4);
}

async fn managers_do_not_share_what_is_in_memory() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f() -> u64 {
        body("f")
    }

    f().await;
    caches().settle().await;
    with_caches(|builder| builder.defaults(stored()), async {
        f().await;
    })
    .await;
    // Two processes that share a server share its entries.
    assert_eq!(bodies("f"), if on_redis() { 1 } else { 2 });
}

#[tokio::test]
async fn order_on_one_function_does_not_depend_on_the_text() {
    World::redis().run(order_on_one_function()).await;
}

async fn order_on_one_function() {
    macro_rules! permutations {
        ($when:literal) => {{
            #[cache_result(cache = "loaded", manager = caches())]
            #[cache_invalidate(cache = "one", when = $when, manager = caches())]
            #[cache_invalidate_all(cache = "all", when = $when, manager = caches())]
            async fn a(k: u32) -> u32 {
                mark(k).await
            }

            #[cache_invalidate_all(cache = "all", when = $when, manager = caches())]
            #[cache_result(cache = "loaded", manager = caches())]
            #[cache_invalidate(cache = "one", when = $when, manager = caches())]
            async fn b(k: u32) -> u32 {
                mark(k).await
            }

            #[cache_invalidate(cache = "one", when = $when, manager = caches())]
            #[cache_invalidate_all(cache = "all", when = $when, manager = caches())]
            #[cache_result(cache = "loaded", manager = caches())]
            async fn c(k: u32) -> u32 {
                mark(k).await
            }

            let mut orders = Vec::new();
            for call in 0..3 {
                let monitor = Monitor::start();
                match call {
                    0 => a(call).await,
                    1 => b(call).await,
                    _ => c(call).await,
                };
                caches().settle().await;
                orders.push(order(&monitor.commands().await));
                caches()
                    .cache::<u32>("loaded")
                    .expect("the functions' type")
                    .invalidate_all()
                    .await
                    .expect("answered");
            }
            orders
        }};
    }

    // What a cache is asked for the first time makes its tokens; not the business of this test.
    for name in ["all", "one", "loaded"] {
        let cache = caches().cache::<u32>(name).expect("a fresh cache");
        cache.get(&0).await;
    }
    for order in permutations!("before") {
        assert_eq!(order, ["all", "one", "look-up", "body", "store"]);
    }
    for mut order in permutations!("success") {
        order.retain(|step| *step != "store"); // in the background, at any time after the body
        assert_eq!(order, ["look-up", "body", "one", "all"]);
    }
}

/// Lets the server know that a body runs.
async fn mark(k: u32) -> u32 {
    ::redis::cmd("ECHO")
        .arg("body")
        .exec_async(&mut tests::redis().await)
        .await
        .expect("the server answers");
    k
}

/// The steps of one call, in the order in which they reached the server.
fn order(commands: &[String]) -> Vec<&'static str> {
    let mut steps = Vec::new();
    for command in commands {
        let step = match command.as_str() {
            c if c.contains(r#""SET" "cs:all:e""#) => "all",
            c if c.contains(r#""SET" "cs:one:{"#) => "one",
            c if c.contains(r#""MGET" "cache:loaded:"#) => "look-up",
            c if c.contains(r#""SET" "cache:loaded:"#) => "store",
            c if c.contains(r#""body""#) => "body",
            _ => continue,
        };
        if !steps.contains(&step) {
            steps.push(step);
        }
    }
    steps
}
