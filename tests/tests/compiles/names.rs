//! Whatever names the user has chosen, they are not ours.
#![deny(warnings)]
#![allow(dead_code)]

use cache_core::{cache_invalidate, cache_put, cache_result};

mod core {}
mod std {}
mod tokio {}
mod serde {}
mod moka {}

enum Verdict {
    Some,
    None,
    Ok,
    Err,
}
use Verdict::*;

fn verdicts() -> [Verdict; 4] {
    [Some, None, Ok, Err]
}

type Result<T> = ::std::result::Result<T, Failure>;
struct Failure;
struct Duration;
struct String;
struct Vec;

trait Blanket {
    fn part(&self) {}
    fn hashed(&self) {}
    fn get(&self) {}
    fn clone(&self) {}
    fn to_string(&self) {}
    fn outcome(&self) {}
    fn names(&self) {}
}
impl<T: ?Sized> Blanket for T {}

macro_rules! one_function_per_word {
    ($($word:ident)+) => {$(
        mod $word {
            use super::*;

            #[cache_result(cache = "words")]
            pub(super) async fn parameter(#[cache_key] $word: ::std::string::String) -> Result<::std::string::String> {
                Result::Ok($word)
            }

            #[cache_put(cache = "words", key = &$word, store_if = |$word: &::std::string::String| !$word.is_empty())]
            #[cache_invalidate(cache = "others", key = $word.len(), condition = !$word.is_empty())]
            pub(super) async fn $word($word: ::std::string::String) -> ::std::string::String {
                {
                    fn $word() {}
                    $word();
                }
                let $word = $word;
                $word
            }
        }
    )+};
}

one_function_per_word! {
    key cache value result inner ttl backend manager guard ctx fut this args name err e k v r load put invalidate body
    returns returned site plan options writer when types arg_0 plan_0 site_0 options_0
    __value __returns __returned __writer __arg_0 __plan_0 __site_0 r#type r#move r#struct
}

/// A variable of ours with the name of a constant would be that constant: hygiene is for variables alone.
mod constants {
    #![allow(non_upper_case_globals)]

    use ::cache_core::{
        CacheManager, cache_invalidate, cache_invalidate_all, cache_put, cache_result,
    };
    use ::core::time::Duration;
    use ::std::string::String;

    macro_rules! constants {
        ($($word:ident)+) => {$( const $word: u8 = 0; )+};
    }

    constants! {
        returns returned outcome soon leader step value finished manager part writer key error
        site site_0 plan plan_0 arg arg_0 options result inner body load put cache entry types
    }

    #[cache_result(cache = "constants", store_if = |_| true, ttl_with = |_| Duration::from_secs(1))]
    pub(super) async fn read((a, b): (u8, u8), _: u8) -> u8 {
        a + b
    }

    #[cache_put(cache = "constants", key_with = |own: &u8| -> u8 { *own }, ttl = Duration::from_secs(1))]
    #[cache_invalidate(cache = "others", key_with = u8::clone, invalidate_if = |&own| own > 0)]
    #[cache_invalidate(cache = "others", key = (1, "two"), when = "always")]
    #[cache_invalidate_all(cache = "others", manager = CacheManager::global(), condition = true)]
    pub(super) async fn write() -> ::std::result::Result<u8, String> {
        ::std::result::Result::Ok(0)
    }

    #[cache_invalidate(cache = "constants", when = "before")]
    #[cache_invalidate(cache = "others")]
    pub(super) async fn end(own: u8) -> ! {
        ::std::panic!("{own}")
    }
}

#[test]
fn all_is_used() {
    let _ = (key::parameter, key::key);
    let text = ::std::string::String::new;
    drop((
        r#type::r#type(text()),
        body::body(text()),
        returns::parameter(text()),
        constants::read((1, 2), 3),
        constants::write(),
        constants::end(4),
    ));
}
