//! How large the futures of annotated functions are, against those of the same functions without attributes.

use std::{mem::size_of_val, rc::Rc};

use cache_core::{cache_invalidate, cache_invalidate_all, cache_put, cache_result};

/// What an annotated future may be larger by, in bytes, whatever it calls.
const MORE: usize = 1024;

async fn work(id: u64) -> u64 {
    let kept = [id; 16];
    tokio::task::yield_now().await;
    kept[3]
}

/// The same functions, plain and annotated, at three depths of calls.
macro_rules! functions {
    ($module:ident, $(#[$read:meta])*; $(#[$put:meta])*; $(#[$change:meta])*; $(#[$all:meta])*) => {
        mod $module {
            #[allow(unused_imports)]
            use super::*;

            $(#[$read])*
            pub(super) async fn read(id: u64, name: String) -> Result<String, String> {
                Ok(format!("{name}{}", work(id).await))
            }

            $(#[$put])*
            pub(super) async fn put(id: u64, name: String) -> Result<String, String> {
                Ok(format!("{name}{}", work(id).await))
            }

            $(#[$change])*
            pub(super) async fn change(id: u64, name: String) -> Result<String, String> {
                Ok(format!("{name}{}", work(id).await))
            }

            $(#[$all])*
            pub(super) async fn all(id: u64, name: String) -> Result<String, String> {
                Ok(format!("{name}{}", work(id).await))
            }

            /// Reads what it was given before.
            $(#[$read])*
            pub(super) async fn twice(id: u64, name: String) -> Result<String, String> {
                let first = read(id, name.clone()).await?;
                Ok(first + &put(id, name).await?)
            }

            $(#[$all])*
            pub(super) async fn thrice(id: u64, name: String) -> Result<String, String> {
                let first = twice(id, name.clone()).await?;
                let second = change(id, name.clone()).await?;
                Ok(first + &second + &twice(id, name).await?)
            }
        }
    };
}

functions!(plain, ; ; ; );
functions!(
    annotated,
    #[cache_result(cache = "sizes", ttl = "30s")];
    #[cache_put(cache = "sizes", key_with = |v: &String| v.len())];
    #[cache_invalidate(cache = "sizes", when = "always")];
    #[cache_result(cache = "sizes", store_if = |v: &String| !v.is_empty())]
    #[cache_invalidate(cache = "other")]
    #[cache_invalidate_all(cache = "all")]
);

#[test]
fn an_annotated_future_is_little_larger_nested_calls_included() {
    let name = String::new;
    let sizes = [
        (
            "cache_result",
            size_of_val(&plain::read(1, name())),
            size_of_val(&annotated::read(1, name())),
        ),
        (
            "cache_put",
            size_of_val(&plain::put(1, name())),
            size_of_val(&annotated::put(1, name())),
        ),
        (
            "cache_invalidate",
            size_of_val(&plain::change(1, name())),
            size_of_val(&annotated::change(1, name())),
        ),
        (
            "three attributes",
            size_of_val(&plain::all(1, name())),
            size_of_val(&annotated::all(1, name())),
        ),
        (
            "calling two",
            size_of_val(&plain::twice(1, name())),
            size_of_val(&annotated::twice(1, name())),
        ),
        (
            "calling two that call",
            size_of_val(&plain::thrice(1, name())),
            size_of_val(&annotated::thrice(1, name())),
        ),
    ];
    for (what, plain, annotated) in sizes {
        println!("{what}: {plain} bytes plain, {annotated} annotated");
    }
    for (what, plain, annotated) in sizes {
        assert!(
            annotated <= plain + MORE,
            "{what}: {plain} plain, {annotated} annotated"
        );
    }
}

/// What the documentation says of one attribute.
const LITTLE: usize = 80;

/// A function of a large value.
macro_rules! large {
    ($(#[$attribute:meta])*) => {{
        $(#[$attribute])*
        async fn large(id: u64) -> Result<[[u64; 32]; 8], String> {
            Ok([[work(id).await; 32]; 8])
        }
        size_of_val(&large(1))
    }};
}

#[test]
fn an_annotated_future_does_not_grow_by_its_value() {
    let plain = large!();
    for (what, annotated) in [
        ("cache_result", large!(#[cache_result(cache = "large")])),
        ("cache_put", large!(#[cache_put(cache = "large")])),
        (
            "cache_put, by value",
            large!(#[cache_put(cache = "large", store_if = |v| v.len() > 1)]),
        ),
        (
            "cache_invalidate",
            large!(#[cache_invalidate(cache = "large")]),
        ),
        (
            "cache_invalidate, by value",
            large!(#[cache_invalidate(cache = "large", key_with = |v| v[0])]),
        ),
        (
            "always",
            large!(#[cache_invalidate_all(cache = "large", when = "always")]),
        ),
        (
            "always, by value",
            large!(#[cache_invalidate(cache = "large", key_with = |v| v[0], when = "always")]),
        ),
    ] {
        println!("{what}: {plain} bytes plain, {annotated} annotated");
        assert!(
            annotated <= plain + LITTLE,
            "{what}: {plain} plain, {annotated} annotated"
        );
    }
}

fn assert_send<T: Send>(_: T) {}

/// Whether a type is `Send`, asked without an error if it is not.
macro_rules! is_send {
    ($value:expr) => {{
        // One of the two goes unused at every place.
        struct Asked<T>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        trait No {
            fn is_send(&self) -> bool {
                false
            }
        }
        impl<T> No for Asked<T> {}
        #[allow(dead_code)]
        impl<T: Send> Asked<T> {
            fn is_send(&self) -> bool {
                true
            }
        }
        fn ask<T>(_: &T) -> std::marker::PhantomData<T> {
            std::marker::PhantomData
        }
        let asked = Asked(ask(&$value));
        asked.is_send()
    }};
}

#[test]
fn a_future_is_send_exactly_when_the_plain_one_is() {
    async fn plain(id: u64, shared: Rc<u64>) -> u64 {
        work(id).await + *shared
    }
    #[cache_result(cache = "send", key = id)]
    async fn read(id: u64, shared: Rc<u64>) -> u64 {
        work(id).await + *shared
    }
    #[cache_invalidate(cache = "send", key = id)]
    async fn change(id: u64, shared: Rc<u64>) -> u64 {
        work(id).await + *shared
    }
    // Not kept over an `.await`, and still an argument that the future has.
    #[cache_result(cache = "send", key = *shared)]
    async fn unused(shared: Rc<u64>) -> u64 {
        *shared
    }

    assert!(!is_send!(plain(1, Rc::new(1))));
    assert!(!is_send!(read(1, Rc::new(1))));
    assert!(!is_send!(change(1, Rc::new(1))));
    assert!(!is_send!(unused(Rc::new(1))));

    #[cache_result(cache = "send")]
    async fn result(id: u64) -> Result<u64, Box<dyn std::error::Error>> {
        tokio::task::yield_now().await;
        Ok(id)
    }
    #[cache_put(cache = "send", key = id)]
    async fn put(id: u64, _work: &mut (dyn FnMut() -> u64 + Send)) -> u64 {
        id
    }
    assert!(is_send!(result(1)));
    assert_send(result(1));
    assert_send(put(1, &mut || 3));
    assert_send(annotated::thrice(1, String::new()));
}
