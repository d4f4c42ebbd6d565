use std::time::Duration;

use super::*;

fn parse(kind: Kind, options: &str) -> (Args, Vec<String>) {
    let mut errors = Errors::default();
    let args = Args::running(kind, options.parse().unwrap(), &mut errors);
    (args, errors.messages())
}

#[test]
fn every_option_is_read() {
    let (args, errors) = parse(
        Kind::Result,
        "cache = \"c\", key = (a, b), key_with = |v: &V| (v.a, v.b), ttl = \"30s\", ttl_with = ttl_of, condition = a < b, \
         store_if = |v| v.a > 1 && f(v, 2), invalidate_if = Option::is_some, when = \"before\", lock_timeout = TWO, \
         manager = self.caches(), crate = a::b,",
    );
    assert_eq!(errors, [""; 0]);
    assert_eq!(args.given.len(), OPTIONS.len());
    assert!(
        args.cache
            .is_some_and(|cache| matches!(cache, CacheRef::Name(name) if name.value() == "c"))
    );
    assert!(
        matches!(args.key_with, Some(Expr::Closure(_))) && matches!(args.key, Some(Expr::Tuple(_)))
    );
    assert!(matches!(args.ttl, Some(Time::Literal(ttl)) if ttl == Duration::from_secs(30)));
    assert!(matches!(args.lock_timeout, Some(Time::Expr(_))));
    assert!(matches!(args.when, Some((When::Before, _))));
    assert!(args.krate.is_some_and(|path| path.segments.len() == 2));
}

#[test]
fn one_mistake_does_not_hide_the_next() {
    let (args, errors) = parse(
        Kind::Put,
        "ttl, cache = CACHE, +, keey = 1, cache = \"d\", when = sometimes, key = 2",
    );
    assert_eq!(errors.len(), 5, "{errors:?}");
    for (error, part) in errors.iter().zip([
        "write `ttl = …`",
        "name of an option",
        "did you mean `key`",
        "given twice",
        "\"always\"",
    ]) {
        assert!(error.contains(part), "{error}");
    }
    assert!(matches!(args.cache, Some(CacheRef::Const(_))) && args.key.is_some());
}

#[test]
fn caches_are_the_same_if_they_are_written_the_same() {
    let cache = |text: &str| {
        parse(Kind::Result, &format!("cache = {text}"))
            .0
            .cache
            .unwrap()
    };
    assert!(cache("\"a\"").same(&cache("r\"a\"")));
    assert!(cache("a::B").same(&cache("a :: B")));
    assert!(!cache("\"a\"").same(&cache("\"b\"")) && !cache("\"A\"").same(&cache("A")));
}
