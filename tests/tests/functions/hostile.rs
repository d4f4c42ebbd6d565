//! Surroundings in which nothing means what it usually means.

use tests::both;

both!(
    b01_words_that_generated_code_might_use,
    b02_names_that_mean_something_else,
    b02_no_prelude,
);

macro_rules! one_module_per_word {
    ($($word:ident)+) => {
        $(mod $word {
            use cache_core::{cache_put, cache_result};

            #[cache_result(cache = "words", manager = ::tests::caches())]
            pub(super) async fn parameter(other: u64, #[cache_key] $word: String) -> String {
                ::tests::body(stringify!($word));
                let text = &$word;
                let length = other + {
                    fn $word(text: &str) -> u64 {
                        text.len() as u64
                    }
                    $word(text)
                };
                let $word = $word;
                format!("{}{length}", $word)
            }

            #[cache_put(cache = "words", key = &$word, manager = ::tests::caches(), condition = !$word.is_empty(), store_if = |$word: &String| !$word.is_empty())]
            pub(super) async fn $word($word: String) -> String {
                $word + "!"
            }
        })+

        async fn b01_words_that_generated_code_might_use() {
            let cache = tests::caches().cache::<String>("words").expect("the functions' type");
            $(
                let word = stringify!($word).to_owned();
                let value = $word::parameter(1, word.clone()).await;
                assert_eq!($word::parameter(2, word.clone()).await, value);
                assert_eq!(tests::bodies(stringify!($word)), 1, "{word}");
                assert_eq!(cache.get(&word).await, Some(value));
                assert_eq!($word::$word(word.clone()).await, format!("{word}!"));
                assert_eq!(cache.get(&word).await, Some(format!("{word}!")));
            )+
        }
    };
}

one_module_per_word! {
    key cache value result inner ttl backend manager guard ctx fut this args name err e k v r load put invalidate body returns
    returned site soon step leader plan options writer when types part outcome arg_0 plan_0 site_0 options_0 r#type r#move r#struct
}

async fn b02_names_that_mean_something_else() {
    for _ in 0..2 {
        assert_eq!(shadowed::read(&7).await.ok(), Some(8));
        shadowed::write(7).await;
        assert_eq!(shadowed::read(&7).await.ok(), Some(9));
        shadowed::remove(7).await;
    }
    assert_eq!(tests::bodies("shadowed"), 2);
}

mod shadowed {
    use self::Verdict::{Err, None, Ok, Some};
    use ::cache_core::{cache_invalidate, cache_put, cache_result};

    mod cache_core {}
    mod core {}
    mod std {}
    mod alloc {}
    mod serde {}
    mod tokio {}
    mod moka {}
    mod inventory {}

    enum Verdict {
        Some,
        None,
        Ok,
        Err,
    }

    fn verdicts() -> [Verdict; 4] {
        [Some, None, Ok, Err]
    }

    type Result<T> = ::std::result::Result<T, Failure>;

    #[derive(Debug)]
    pub(super) struct Failure;

    // Whatever has a method by these names, by value, by reference, of every type.
    #[allow(dead_code, clippy::wrong_self_convention)]
    trait Blanket: Sized {
        fn get(&self) {}
        fn clone(&self) {}
        fn to_string(&self) {}
        fn as_ref(self) {}
        fn is_some(self) {}
        fn part(&self) {}
        fn hashed(&self) {}
        fn outcome(self) {}
        fn names(self) {}
        fn into(self) {}
        fn into_future(self) {}
    }

    impl<T> Blanket for T {}

    #[allow(unused_macros)]
    macro_rules! vec {
        () => {
            compile_error!("not that one")
        };
    }
    #[allow(unused_macros)]
    macro_rules! concat {
        () => {
            compile_error!("not that one")
        };
    }
    #[allow(unused_macros)]
    macro_rules! pin {
        () => {
            compile_error!("not that one")
        };
    }

    #[cache_result(cache = "shadowed", manager = ::tests::caches())]
    pub(super) async fn read(id: &u64) -> Result<u64> {
        let _ = verdicts();
        ::tests::body("shadowed");
        Result::Ok(*id + 1)
    }

    #[cache_put(cache = "shadowed", manager = ::tests::caches(), store_if = |n: &u64| *n > 0)]
    pub(super) async fn write(id: u64) -> u64 {
        id + 2
    }

    #[cache_invalidate(cache = "shadowed", manager = ::tests::caches(), invalidate_if = |id: &u64| *id > 0)]
    pub(super) async fn remove(id: u64) -> u64 {
        id
    }
}

async fn b02_no_prelude() {
    for _ in 0..2 {
        assert_eq!(bare::read(7, "a").await, Ok(8));
    }
    bare::remove(7).await;
    assert_eq!(bare::read(7, "a").await, Ok(8));
    assert_eq!(tests::bodies("bare"), 2);
}

mod bare {
    #![no_implicit_prelude]

    use ::cache_core::{cache_invalidate, cache_invalidate_all, cache_result};

    #[cache_result(cache = "bare", ttl = "30s", manager = ::tests::caches())]
    #[cache_invalidate_all(cache = "bare-others", when = "before", manager = ::tests::caches())]
    pub(super) async fn read(
        #[cache_key] id: u64,
        trace: &str,
    ) -> ::std::result::Result<u64, ::std::string::String> {
        let _ = trace;
        ::tests::body("bare");
        ::std::result::Result::Ok(id + 1)
    }

    #[cache_invalidate(cache = "bare", manager = ::tests::caches(), condition = id > 0)]
    pub(super) async fn remove(id: u64) {
        let _ = id;
    }
}
