//! Contexts as a handler takes them.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::Arc,
};

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

/// A program that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program itself, as the README has it.
#[test]
fn the_service_answers_to_the_token_it_shows() {
    let service = Command::new(env!("CARGO_BIN_EXE_request-context"))
        .args(["--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut service = Running(service);
    let mut lines = BufReader::new(service.0.stdout.take().unwrap()).lines();
    let mut shown = |before: &str| {
        let line = lines.next().unwrap().unwrap();
        line.strip_prefix(before).unwrap().to_owned()
    };
    let address = shown("listening on http://");
    let token = shown("a token of a customer, for an hour: ");
    let role = |header: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let request =
            format!("GET /role HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{header}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.rsplit_once("\r\n").unwrap().1.to_owned()
    };
    let answers = [
        role(""),
        role(&format!("authorization: Bearer {token}\r\n")),
        role(&format!("authorization: Bearer {token}x\r\n")),
    ];
    let refused = r#"{"message":"the signature of the token is wrong"}"#;
    assert_eq!(answers, ["visitor", "customer", refused]);
}
