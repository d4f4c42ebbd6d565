//! Contexts as a handler takes them.

use std::sync::Arc;

use axum::{
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use request_context::{Policy, router};
use tower::ServiceExt;

use crate::{Fixture, Question, claims, claims_with, in_seconds, sign};

fn policy(fixture: &Fixture) -> Policy {
    let question = Question::new(&claims());
    Policy {
        contexts: fixture.contexts.clone(),
        secret: question.secret,
        audiences: question.audiences,
        role: question.role,
        options: question.options,
        default_role: question.default_role,
    }
}

/// The status and body of `GET /role`.
async fn role(fixture: &Fixture, headers: &[(header::HeaderName, &str)]) -> (StatusCode, String) {
    let mut request = Request::get("/role");
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    let request = request.body(Body::empty()).unwrap();
    let answer = router(Arc::new(policy(fixture)))
        .oneshot(request)
        .await
        .unwrap();
    let status = answer.status();
    let challenged = answer.headers().contains_key(header::WWW_AUTHENTICATE);
    assert_eq!(challenged, status == StatusCode::UNAUTHORIZED);
    let body = to_bytes(answer.into_body(), 1_000).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_handler_has_the_role_of_who_asks() {
    let fixture = Fixture::new();
    let token = sign(&claims());
    for scheme in ["Bearer", "bearer"] {
        let sent = format!("{scheme} {token}");
        let answer = role(&fixture, &[(header::AUTHORIZATION, &sent)]).await;
        assert_eq!(answer, (StatusCode::OK, "customer".to_owned()));
    }
    assert_eq!(
        role(&fixture, &[]).await,
        (StatusCode::OK, "visitor".to_owned())
    );
    let stats = fixture.stats();
    assert_eq!((stats.misses, stats.hits), (2, 1));
}

#[tokio::test]
async fn a_handler_does_not_run_without_a_good_token() {
    let fixture = Fixture::new();
    let expired = format!("Bearer {}", sign(&claims_with("exp", in_seconds(-10))));
    for (sent, message) in [
        (&*expired, "the token has expired"),
        ("Bearer a.b.c", "the token cannot be read"),
        ("Bearer ", "the token cannot be read"),
        ("Basic YWRhOnNlY3JldA==", "the token cannot be read"),
        ("", "the token cannot be read"),
    ] {
        let answer = role(&fixture, &[(header::AUTHORIZATION, sent)]).await;
        assert_eq!(
            answer,
            (
                StatusCode::UNAUTHORIZED,
                format!(r#"{{"message":"{message}"}}"#)
            )
        );
    }
    assert_eq!(fixture.stats().entries, 0);
}

#[tokio::test]
async fn who_asks_does_not_decide_how_many_entries_there_are() {
    let fixture = Fixture::new();
    for language in [
        "en",
        "en-GB",
        "en;q=0.5, de",
        "de",
        "",
        "x",
        "ÄÖ",
        "D1",
        "*",
    ] {
        role(&fixture, &[(header::ACCEPT_LANGUAGE, language)]).await;
    }
    // English, German, and none.
    assert_eq!(fixture.stats().entries, 3);
}
