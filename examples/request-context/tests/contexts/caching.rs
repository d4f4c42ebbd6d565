//! How long an entry is there, and which there are.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use cache_core::{CacheConfig, testing::MapBackend};
use request_context::{Contexts, Error, VerifyOptions};

use crate::{Fixture, Question, claims, claims_with, in_seconds};

#[tokio::test]
async fn the_second_request_is_a_hit() {
    let fixture = Fixture::new();
    let question = Question::new(&claims());
    let first = fixture.ask(&question).await.unwrap();
    let second = fixture.ask(&question).await.unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    let stats = fixture.stats();
    assert_eq!((stats.misses, stats.hits, stats.loads), (1, 1, 1));
}

#[tokio::test]
async fn an_entry_ends_with_its_token() {
    let fixture = Fixture::new();
    let question = Question::new(&claims_with("exp", in_seconds(200)));
    fixture.ask(&question).await.unwrap();
    fixture.clock.advance(Duration::from_secs(100));
    fixture.ask(&question).await.unwrap();
    assert_eq!(fixture.stats().loads, 1);
    fixture.clock.advance(Duration::from_secs(101));
    // The time of day has not moved, so the token is still good; its entry is no more.
    fixture.ask(&question).await.unwrap();
    assert_eq!(fixture.stats().loads, 2);
}

#[tokio::test]
async fn a_token_is_verified_anew_after_five_minutes() {
    let fixture = Fixture::new();
    let question = Question::new(&claims_with("exp", in_seconds(86_400)));
    fixture.ask(&question).await.unwrap();
    fixture.clock.advance(Duration::from_secs(301));
    fixture.ask(&question).await.unwrap();
    assert_eq!(fixture.stats().loads, 2);
}

/// The machine slept, or its clock was put right: the cache did not see the hour pass.
#[tokio::test]
async fn an_expired_token_is_refused_although_its_entry_is_there() {
    let fixture = Fixture::new();
    let question = Question::new(&claims_with("exp", in_seconds(3_600)));
    fixture.ask(&question).await.unwrap();
    fixture.set.store(3_601, Ordering::Relaxed);
    assert_eq!(fixture.ask(&question).await, Err(Error::Expired));
    let stats = fixture.stats();
    assert_eq!((stats.hits, stats.loads, stats.entries), (1, 1, 1));
    // Within the leeway of whoever allows one it is not.
    let lenient = Question {
        options: VerifyOptions {
            leeway: 7_200,
            ..VerifyOptions::default()
        },
        ..question
    };
    fixture.ask(&lenient).await.unwrap();
}

#[tokio::test]
async fn a_token_is_refused_when_the_clock_is_set_to_before_its_time() {
    let fixture = Fixture::new();
    let question = Question::new(&claims_with("nbf", in_seconds(-60)));
    fixture.ask(&question).await.unwrap();
    fixture.set.store(-3_600, Ordering::Relaxed);
    assert_eq!(fixture.ask(&question).await, Err(Error::NotYetValid));
    assert_eq!(fixture.stats().hits, 1);
}

#[tokio::test]
async fn a_token_that_is_good_by_leeway_alone_is_not_stored() {
    let fixture = Fixture::new();
    let question = Question {
        options: VerifyOptions {
            leeway: 3_600,
            ..VerifyOptions::default()
        },
        ..Question::new(&claims_with("exp", in_seconds(-10)))
    };
    fixture.ask(&question).await.unwrap();
    fixture.ask(&question).await.unwrap();
    let stats = fixture.stats();
    assert_eq!((stats.loads, stats.stores, stats.entries), (2, 0, 0));
}

#[tokio::test]
async fn a_visitor_has_an_entry_that_no_token_ends() {
    let fixture = Fixture::new();
    let visitor = Question {
        jwt: None,
        ..Question::new(&claims())
    };
    fixture.ask(&visitor).await.unwrap();
    fixture.set.store(1_000_000_000, Ordering::Relaxed);
    fixture.ask(&visitor).await.unwrap();
    assert_eq!(fixture.stats().hits, 1);
}

#[tokio::test]
async fn there_are_two_thousand_entries_at_most() {
    let fixture = Fixture::new();
    for visitor in 0..2_500 {
        let question = Question {
            jwt: None,
            default_role: Some(format!("visitor {visitor}")),
            ..Question::new(&claims())
        };
        fixture.ask(&question).await.unwrap();
    }
    let stats = fixture.stats();
    assert_eq!(stats.loads, 2_500);
    assert!((1..=2_000).contains(&stats.entries), "{}", stats.entries);
}

/// A context has no form in which it could leave the process: whoever puts the cache on a backend has no cache, and no leak.
#[tokio::test]
async fn a_context_never_leaves_the_process() {
    let backend = MapBackend::new();
    let fixture = Fixture::with(CacheConfig::on(backend.clone()));
    let question = Question::new(&claims());
    fixture.ask(&question).await.unwrap();
    fixture.ask(&question).await.unwrap();
    fixture.caches.settle().await;
    let stats = fixture.stats();
    assert_eq!((stats.bypasses, stats.stores), (2, 0));
    assert!(backend.keys().is_empty());
}

#[tokio::test]
async fn without_caching_every_request_is_verified() {
    let fixture = Fixture::new();
    let contexts = fixture.contexts.clone().uncached();
    let question = Question::new(&claims());
    let first = question.ask(&contexts).await.unwrap();
    let second = question.ask(&contexts).await.unwrap();
    assert_eq!(first, second);
    assert!(!Arc::ptr_eq(&first, &second));
    assert_eq!(fixture.stats().entries, 0);
}

#[tokio::test]
async fn requests_at_the_same_time_share_one_verification() {
    let contexts = Contexts::new().unwrap();
    let question = Question::new(&claims());
    let (first, second) = tokio::join!(question.ask(&contexts), question.ask(&contexts));
    assert!(Arc::ptr_eq(&first.unwrap(), &second.unwrap()));
    assert_eq!(contexts.caches().stats()["request-context"].loads, 1);
}
