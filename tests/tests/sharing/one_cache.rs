//! Functions of one cache.

use cache_core::{CacheName, cache_invalidate, cache_invalidate_all, cache_put, cache_result};
use tests::{assert_value_keys, bodies, body, both, caches, on_redis, stored, with_caches};

both!(
    case_020_two_functions_one_cache_same_key,
    case_021_invalidate_all_from_another_module,
    case_025_refresh_idiom,
    case_025_refresh_idiom_in_the_other_text_order,
    a_cache_named_by_a_constant,
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
