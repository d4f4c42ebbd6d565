//! What is not an argument is not in the key, unless an expression puts it there.

use std::collections::BTreeSet;

use cache_core::cache_result;
use tests::{World, backend, body, both, caches, redis_url, with_caches};

both!(
    case_b55_tenants_never_meet,
    case_b55_an_instance_is_not_known_by_its_address,
    case_b55_roles_see_their_own_rows,
);

tokio::task_local! {
    static TENANT: &'static str;
}

struct Shop {
    tenant: String,
}

impl Shop {
    #[cache_result(cache = "products", manager = caches(), key = (&self.tenant, page))]
    async fn products(&self, page: u32) -> String {
        body("products");
        format!("{} {page}", self.tenant)
    }

    /// The tenant is forgotten: `self` is never in the key by itself.
    #[cache_result(cache = "forgetful", manager = caches())]
    async fn forgetful(&self, _page: u32) -> String {
        self.tenant.clone()
    }
}

#[cache_result(cache = "of-task", manager = caches(), key = (TENANT.get(), page))]
async fn of_task(page: u32) -> String {
    format!("{} {page}", TENANT.get())
}

#[cache_result(cache = "by-role", manager = caches())]
async fn by_role(#[cache_key] role: &str, #[cache_key] page: u32, _trace: u64) -> Vec<String> {
    vec![format!("rows of {role} on {page}")]
}

async fn case_b55_tenants_never_meet() {
    for tenant in ["one", "other", "one", "other"] {
        let shop = Shop {
            tenant: tenant.to_owned(),
        };
        for page in 0..3 {
            let expected = format!("{tenant} {page}");
            assert_eq!(shop.products(page).await, expected);
            let in_task =
                TENANT.scope(if tenant == "one" { "one" } else { "other" }, of_task(page));
            assert_eq!(in_task.await, expected);
            caches().settle().await;
        }
    }
    assert_eq!(tests::bodies("products"), 6);
}

/// Made and dropped in a loop, instances come to lie at the same address.
async fn case_b55_an_instance_is_not_known_by_its_address() {
    for round in 0..100 {
        let tenant = format!("t{}", round % 10);
        let shop = Box::new(Shop {
            tenant: tenant.clone(),
        });
        assert_eq!(shop.products(1).await, format!("{tenant} 1"));
        // What nobody has put into the key is everybody's.
        assert_eq!(shop.forgetful(1).await, "t0");
        caches().settle().await;
    }
    assert_eq!(tests::bodies("products"), 10);
}

async fn case_b55_roles_see_their_own_rows() {
    for trace in 0..3 {
        for role in ["clerk", "boss"] {
            let rows = by_role(role, 1, trace).await;
            assert_eq!(rows, [format!("rows of {role} on 1")]);
            caches().settle().await;
        }
    }
    assert_eq!(caches().stats()["by-role"].loads, 2);
    assert_eq!(
        super::key_texts::<Vec<String>>("by-role").await,
        BTreeSet::from([r#"["boss",1]"#.to_owned(), r#"["clerk",1]"#.to_owned()])
    );
}

/// Two processes with a prefix of their own each, on one server.
#[tokio::test]
async fn case_b55_two_programs_on_one_server() {
    World::redis()
        .run(async {
            for program in ["one", "other", "one", "other"] {
                let config = cache_core::CacheConfig::on(backend(&redis_url()))
                    .prefix(format!("{program}:{{cache-name}}"));
                with_caches(|builder| builder.defaults(config), async {
                    let shop = Shop {
                        tenant: program.to_owned(),
                    };
                    assert_eq!(shop.forgetful(1).await, program);
                    caches().settle().await;
                })
                .await;
            }
        })
        .await;
}
