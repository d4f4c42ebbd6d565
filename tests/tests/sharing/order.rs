//! The order of several attributes on one function.

use cache_core::{cache_invalidate, cache_invalidate_all, cache_result};
use tests::{Monitor, World, caches};

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
