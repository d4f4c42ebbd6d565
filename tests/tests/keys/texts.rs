//! What a key looks like in a store.

use std::collections::{BTreeSet, HashMap};

use cache_core::{Cache, CacheManager, Hashed, cache_invalidate, cache_result};
use serde::Serialize;
use tests::{
    World, bodies, body, both, caches, keys_like, on_redis, stored, value_keys, with_caches,
};

use crate::key_texts;

both!(
    case_b14_texts_are_pinned,
    hashed_parts_are_not_readable,
    hashed_parts_depend_on_the_secret,
    long_keys_become_digests,
    a_key_without_text_goes_past_the_cache,
);

#[tokio::test]
async fn case_019_number_keys_and_custom_prefix() {
    World::redis().run(number_keys_and_custom_prefix()).await;
}

async fn number_keys_and_custom_prefix() {
    #[cache_result(cache = "cache2", manager = caches())]
    async fn f(x: f64) -> String {
        format!("{x} {}", body("f"))
    }

    #[cache_result(cache = "plain", manager = caches())]
    async fn g(x: f64) -> String {
        format!("{x} {}", body("g"))
    }

    let prefixed = stored().prefix("dummy");
    with_caches(
        |builder| builder.defaults(stored()).cache("cache2", prefixed),
        async {
            f(1.0).await;
            f(2.0).await;
            f(2.0).await;
            g(1.0).await;
            assert_eq!(bodies("f"), 2);
            assert_eq!(keys_like("dummy:*").await, ["dummy:1.0", "dummy:2.0"]);
            assert_eq!(value_keys().await, ["cache:plain:1.0"]);
        },
    )
    .await;

    let error = CacheManager::builder()
        .cache("a", stored().prefix("dummy"))
        .cache("b", stored().prefix("dummy"))
        .build()
        .expect_err("entries of the two would meet")
        .to_string();
    for word in ["`a`", "`b`", "`dummy`", "{cache-name}"] {
        assert!(error.contains(word), "{error}");
    }
    CacheManager::builder()
        .cache("a", stored().prefix("dummy:{cache-name}"))
        .cache("b", stored().prefix("dummy:{cache-name}"))
        .build()
        .expect("the name tells them apart");
}

async fn case_b14_texts_are_pinned() {
    #[derive(Serialize)]
    struct Page {
        number: u32,
        of: Option<&'static str>,
    }

    #[derive(Serialize)]
    enum Filter {
        All,
        Name(&'static str),
        Price { from: u32 },
    }

    let cache: Cache<bool> = caches().cache("c").expect("a fresh cache");
    let mut expected = BTreeSet::new();
    macro_rules! pinned {
        ($($key:expr => $text:expr),+ $(,)?) => {$(
            cache.insert(&$key, true).await.expect("the key has a text");
            expected.insert($text.to_owned());
        )+};
    }
    pinned! {
        () => "default-cache-key",
        42 => "42",
        -7_i64 => "-7",
        u64::MAX => "18446744073709551615",
        1.0 => "1.0",
        1e300 => "1e300",
        true => "true",
        'x' => "x",
        "en" => "en",
        "de-AT" => "de-AT",
        "42" => r#""42""#,
        "null" => r#""null""#,
        "default-cache-key" => r#""default-cache-key""#,
        "" => r#""""#,
        "#tag" => r##""#tag""##,
        "a\tb" => r#""a\tb""#,
        None::<u32> => "null",
        Some(5) => "5",
        (42, "en") => r#"[42,"en"]"#,
        ("42", None::<u32>, true) => r#"["42",null,true]"#,
        [1, 2, 3] => "[1,2,3]",
        Page { number: 3, of: None } => r#"{"number":3,"of":null}"#,
        Filter::All => "All",
        Filter::Name("x") => r#"{"Name":"x"}"#,
        Filter::Price { from: 10 } => r#"{"Price":{"from":10}}"#,
        HashMap::from([("b", 2), ("a", 1)]) => r#"{"a":1,"b":2}"#,
    }
    assert_eq!(key_texts::<bool>("c").await, expected);
}

async fn hashed_parts_are_not_readable() {
    #[cache_result(cache = "alone", manager = caches())]
    async fn alone(#[cache_key(hash)] token: &str, trace: u32) -> String {
        format!("{} {trace} {}", token.len(), body("alone"))
    }

    #[cache_result(cache = "among", manager = caches())]
    async fn among(#[cache_key(hash)] token: &str, #[cache_key] page: u32) -> String {
        format!("{} {page} {}", token.len(), body("among"))
    }

    #[cache_invalidate(cache = "among", manager = caches())]
    async fn sign_out(#[cache_key(hash)] token: String, #[cache_key] page: u32) {
        let _ = (token, page);
    }

    for token in ["secret-1", "secret-1", "secret-2"] {
        alone(token, 1).await;
        among(token, 7).await;
    }
    assert_eq!((bodies("alone"), bodies("among")), (2, 2));
    let by_hand = caches()
        .cache::<String>("among")
        .expect("the function's type");
    assert!(by_hand.get(&(Hashed("secret-1"), 7)).await.is_some());
    assert!(by_hand.get(&("secret-1", 7)).await.is_none());

    for text in key_texts::<String>("alone").await {
        assert!(is_digest(&text), "{text}");
    }
    for text in key_texts::<String>("among").await {
        let digest = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(",7]"));
        assert!(digest.is_some_and(is_digest), "{text}");
    }
    if on_redis() {
        let keys = keys_like("*").await.concat();
        assert!(!keys.contains("secret"), "{keys}");
    }

    sign_out("secret-1".to_owned(), 7).await;
    among("secret-2", 7).await;
    among("secret-1", 7).await;
    assert_eq!(bodies("among"), 3);
}

async fn hashed_parts_depend_on_the_secret() {
    let mut texts = BTreeSet::new();
    for secret in [None, Some("one"), Some("other"), Some("one")] {
        let caches_with = |builder: cache_core::CacheManagerBuilder| {
            let builder = builder.defaults(stored());
            match secret {
                Some(secret) => builder.key_secret(secret),
                None => builder,
            }
        };
        with_caches(caches_with, async {
            let cache: Cache<u8> = caches().cache("c").expect("a fresh cache");
            cache.insert(&Hashed("token"), 1).await.expect("stored");
            texts.append(&mut key_texts::<u8>("c").await);
        })
        .await;
    }
    assert_eq!(texts.len(), 3);
}

async fn long_keys_become_digests() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(text: &str, n: u32) -> usize {
        body("f");
        text.len() + n as usize
    }

    let long = "x".repeat(1000);
    f(&long, 1).await;
    f(&long, 1).await;
    f(&long, 2).await;
    f(&long[1..], 1).await;
    assert_eq!(bodies("f"), 3);
    let texts = key_texts::<usize>("c").await;
    assert_eq!(texts.len(), 3);
    assert!(texts.iter().all(|text| is_digest(text)), "{texts:?}");
}

async fn a_key_without_text_goes_past_the_cache() {
    #[cache_result(cache = "c", manager = caches())]
    async fn f(x: f64) -> u64 {
        let _ = x;
        body("f")
    }

    #[cache_invalidate(cache = "c", manager = caches())]
    async fn d(x: f64) -> bool {
        x.is_nan()
    }

    f(1.0).await;
    assert_eq!((f(f64::NAN).await, f(f64::NAN).await), (1, 2));
    assert!(d(f64::NAN).await);
    f(1.0).await;
    assert_eq!(bodies("f"), 3);
    assert_eq!(caches().stats()["c"].bypasses, 2);

    let by_hand = caches().cache::<u64>("c").expect("the function's type");
    assert_eq!(by_hand.get(&f64::NAN).await, None);
    let error = by_hand
        .insert(&f64::NAN, 1)
        .await
        .expect_err("there is no key");
    assert!(error.to_string().contains("NaN"), "{error}");
    by_hand
        .invalidate(&f64::NAN)
        .await
        .expect_err("there is no key");
}

fn is_digest(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digest| {
        digest.len() == 43
            && digest
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    })
}
