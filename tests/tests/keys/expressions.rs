//! Keys that a function says for itself.

use cache_core::{cache_invalidate, cache_put, cache_result};
use serde::{Deserialize, Serialize};
use tests::{assert_value_keys, bodies, body, both, caches, on_redis, value_keys};

both!(
    case_014_key_expression_replaces_the_marks,
    case_016_key_expression_may_use_the_functions_own_context,
    a_tuple_in_a_key_expression_is_several_parts,
    key_of_a_put_from_its_value,
    key_of_an_invalidation_from_the_value,
    keys_by_hand_are_those_of_the_attributes,
);

async fn case_014_key_expression_replaces_the_marks() {
    fn tenant_key(a: &str) -> String {
        format!("tenant-{a}")
    }

    #[cache_result(cache = "c", key = tenant_key(a), manager = caches())]
    async fn f(a: &str, #[cache_key] b: &str) -> String {
        format!("{a} {b} {}", body("f"))
    }

    let first = f("x", "1").await;
    assert_eq!(f("x", "2").await, first);
    assert_ne!(f("y", "1").await, first);
    assert_eq!(bodies("f"), 2);
    assert_value_keys(&["cache:c:tenant-x", "cache:c:tenant-y"]).await;
}

async fn case_016_key_expression_may_use_the_functions_own_context() {
    struct S {
        tenant: String,
    }

    impl S {
        #[cache_result(cache = "c", key = (&self.tenant, id), manager = caches())]
        async fn by_tenant(&self, id: u32) -> String {
            format!("{} {id} {}", self.tenant, body("by_tenant"))
        }

        #[cache_result(cache = "without", manager = caches())]
        async fn without(&self, id: u32) -> String {
            format!("{} {id} {}", self.tenant, body("without"))
        }
    }

    let tenants = ["t1", "t2"].map(|tenant| S {
        tenant: tenant.to_owned(),
    });
    for s in tenants.iter().chain(&tenants) {
        assert!(s.by_tenant(1).await.starts_with(&s.tenant));
        assert!(s.without(1).await.starts_with("t1"));
    }
    assert_eq!((bodies("by_tenant"), bodies("without")), (2, 1));
    if on_redis() {
        let keys = value_keys().await;
        assert_eq!(
            keys,
            [
                r#"cache:c:["t1",1]"#,
                r#"cache:c:["t2",1]"#,
                "cache:without:1"
            ]
        );
    }
}

async fn a_tuple_in_a_key_expression_is_several_parts() {
    #[cache_result(cache = "c", manager = caches())]
    async fn two(a: u32, b: &str) -> String {
        format!("{a} {b} {}", body("two"))
    }

    #[cache_result(cache = "c", key = (id, name.as_str()), manager = caches())]
    async fn expression(name: String, id: u32) -> String {
        format!("{id} {name} {}", body("expression"))
    }

    #[cache_result(cache = "c", key = (a,), manager = caches())]
    async fn one(a: &str) -> String {
        format!("{a} {}", body("one"))
    }

    let first = two(1, "x").await;
    assert_eq!(expression("x".to_owned(), 1).await, first);
    assert_eq!(bodies("expression"), 0);
    one("x").await;
    assert_value_keys(&[r#"cache:c:[1,"x"]"#, "cache:c:x"]).await;
}

/// A row that gets its identity in the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    id: u32,
    group: String,
}

async fn key_of_a_put_from_its_value() {
    #[cache_put(cache = "c", key_with = |row: &Row| row.id, manager = caches())]
    async fn create(group: &str) -> Result<Row, String> {
        let id = u32::try_from(body("create")).map_err(|error| error.to_string())?;
        if group.is_empty() {
            return Err("a row has a group".to_owned());
        }
        Ok(Row {
            id,
            group: group.to_owned(),
        })
    }

    #[cache_put(cache = "c", key_with = |row: &Row| (&row.group, row.id), manager = caches())]
    async fn create_in_group(row: Row) -> Row {
        row
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn read(id: u32) -> Option<Row> {
        let _ = id;
        body("read");
        None
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn by_id(id: u32) -> Result<Row, String> {
        body("by_id");
        Err(format!("no row {id}"))
    }

    #[cache_result(cache = "c", manager = caches())]
    async fn in_group(group: &str, id: u32) -> Result<Row, String> {
        body("in_group");
        Err(format!("no row {group} {id}"))
    }

    let row = create("a").await.expect("a group");
    assert_eq!(by_id(row.id).await, Ok(row));
    create("").await.expect_err("no group");
    let row = Row {
        id: 9,
        group: "b".to_owned(),
    };
    create_in_group(row.clone()).await;
    assert_eq!(in_group("b", 9).await, Ok(row));
    assert_eq!((bodies("by_id"), bodies("in_group")), (0, 0));
    assert_value_keys(&["cache:c:0", r#"cache:c:["b",9]"#]).await;

    // Of another value type than the cache's: it goes past the cache.
    assert_eq!(read(0).await, None);
    assert_eq!(bodies("read"), 1);
}

async fn key_of_an_invalidation_from_the_value() {
    #[cache_result(cache = "c", manager = caches())]
    async fn members(group: &str) -> Vec<String> {
        body("members");
        vec![group.to_owned()]
    }

    #[cache_invalidate(cache = "c", key_with = |row: &Row| &row.group, manager = caches())]
    async fn delete(id: u32) -> Result<Row, String> {
        match id {
            1 => Ok(Row {
                id,
                group: "a".to_owned(),
            }),
            _ => Err(format!("no row {id}")),
        }
    }

    members("a").await;
    members("b").await;
    delete(2).await.expect_err("no such row");
    members("a").await;
    members("b").await;
    assert_eq!(bodies("members"), 2);
    delete(1).await.expect("there is one");
    members("b").await;
    assert_eq!(bodies("members"), 2);
    members("a").await;
    assert_eq!(bodies("members"), 3);
}

async fn keys_by_hand_are_those_of_the_attributes() {
    #[cache_result(cache = "none", manager = caches())]
    async fn none() -> u64 {
        body("none")
    }

    #[cache_result(cache = "one", manager = caches())]
    async fn one(k: &str) -> u64 {
        let _ = k;
        body("one")
    }

    #[cache_result(cache = "two", manager = caches())]
    async fn two(k: Option<u32>, more: [&str; 2]) -> u64 {
        let _ = (k, more);
        body("two")
    }

    none().await;
    one("42").await;
    two(None, ["a", "b"]).await;
    let cache = |name| caches().cache::<u64>(name).expect("the functions' type");
    assert_eq!(cache("none").get(&()).await, Some(0));
    assert_eq!(cache("one").get("42").await, Some(0));
    assert_eq!(cache("one").get(&("42",)).await, Some(0));
    assert_eq!(cache("one").get(&42).await, None);
    assert_eq!(cache("two").get(&(None::<u32>, ["a", "b"])).await, Some(0));
    let removed = cache("two").invalidate(&(None::<u32>, ["a", "b"])).await;
    assert!(removed.expect("the backend answers"));
    two(None, ["a", "b"]).await;
    assert_eq!(bodies("two"), 2);
}
