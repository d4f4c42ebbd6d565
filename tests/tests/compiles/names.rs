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
    returns returned site plan options writer when types arg_0 plan_0 site_0 options_0 r#type r#move r#struct
}

#[test]
fn all_is_used() {
    let _ = (key::parameter, key::key);
    let text = ::std::string::String::new;
    drop((
        r#type::r#type(text()),
        body::body(text()),
        returns::parameter(text()),
    ));
}
