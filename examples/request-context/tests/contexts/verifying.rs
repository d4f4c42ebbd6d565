//! What a context says, and what is refused.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use request_context::{Error, Secret, VerifyOptions};
use serde_json::json;

use crate::{Fixture, Question, claims, claims_with, claims_without, in_seconds, sign, texts};

#[tokio::test]
async fn a_context_tells_postgresql_role_claims_and_settings() {
    let exp = in_seconds(3_600);
    let claims = json!({
        "sub": "ada", "role": "customer", "aud": "shop", "exp": exp, "vip": true, "nickname": null, "teams": ["a", "b"],
    });
    let context = Fixture::new().ask(&Question::new(&claims)).await.unwrap();
    assert_eq!(context.role(), Some("customer"));
    assert_eq!(json!(context.claims()), claims);
    let pairs: Vec<_> = context
        .values()
        .chunks(2)
        .map(|pair| [&*pair[0], &*pair[1]])
        .collect();
    assert_eq!(
        pairs,
        [
            ["app.language", "en"],
            ["jwt.claims.aud", "shop"],
            ["jwt.claims.exp", &exp.to_string()],
            ["jwt.claims.role", "customer"],
            ["jwt.claims.sub", "ada"],
            ["jwt.claims.teams", r#"["a","b"]"#],
            ["jwt.claims.vip", "true"],
            ["role", "customer"],
        ]
    );
    let calls: Vec<_> = (0..8)
        .map(|at| format!("set_config(${}, ${}, true)", 2 * at + 1, 2 * at + 2))
        .collect();
    assert_eq!(context.statement(), format!("select {}", calls.join(", ")));
}

#[tokio::test]
async fn nothing_a_token_says_is_part_of_the_statement() {
    let claims = claims_with(
        "x', '1', true); drop table orders; --",
        "'; drop table orders; --",
    );
    let context = Fixture::new().ask(&Question::new(&claims)).await.unwrap();
    assert!(!context.statement().contains("drop"));
}

#[tokio::test]
async fn the_role_is_at_the_end_of_a_path() {
    let fixture = Fixture::new();
    let claims = claims_with(
        "app",
        json!({ "role": "clerk", "roles": ["clerk"], "none": null }),
    );
    let role = async |path: &[&str], jwt: bool| {
        let mut question = Question {
            role: texts(path),
            ..Question::new(&claims)
        };
        question.jwt = question.jwt.filter(|_| jwt);
        let context = fixture.ask(&question).await?;
        Ok(context.role().map(ToOwned::to_owned))
    };
    let named = |role: &str| Ok(Some(role.to_owned()));
    assert_eq!(role(&["role"], true).await, named("customer"));
    assert_eq!(role(&["app", "role"], true).await, named("clerk"));
    // Nothing there: the default.
    assert_eq!(role(&["app", "role", "name"], true).await, named("visitor"));
    assert_eq!(role(&["app", "none"], true).await, named("visitor"));
    assert_eq!(role(&["roles"], true).await, named("visitor"));
    assert_eq!(role(&[], true).await, named("visitor"));
    assert_eq!(role(&["role"], false).await, named("visitor"));
    // Something else than a role: better none than one too many.
    assert_eq!(role(&["app", "roles"], true).await, Err(Error::Role));
    assert_eq!(role(&["exp"], true).await, Err(Error::Role));
}

#[tokio::test]
async fn without_anything_to_say_there_is_no_statement() {
    let question = Question {
        jwt: None,
        default_role: None,
        settings: vec![],
        ..Question::new(&claims())
    };
    let context = Fixture::new().ask(&question).await.unwrap();
    assert_eq!(
        (context.role(), context.statement(), context.values()),
        (None, "", &[] as &[String])
    );
}

#[tokio::test]
async fn a_setting_cannot_stand_for_what_a_token_says() {
    for name in ["role", "ROLE", "jwt.claims.sub", "JWT.claims.sub"] {
        let question = Question {
            jwt: None,
            settings: vec![(name, "admin")],
            ..Question::new(&claims())
        };
        assert_eq!(
            Fixture::new().ask(&question).await,
            Err(Error::Setting),
            "{name}"
        );
    }
}

/// A token with this header, signed or not as the rest of `token` is.
fn under_header(header: &str, token: &str) -> String {
    let (_, rest) = token.split_once('.').unwrap();
    format!("{}.{rest}", URL_SAFE_NO_PAD.encode(header))
}

#[tokio::test]
async fn what_is_refused_is_not_stored() {
    let token = sign(&claims());
    let (signed, _) = token.rsplit_once('.').unwrap();
    let of = |claims| Question::new(&claims);
    let refused = [
        (of(claims_with("exp", in_seconds(-10))), Error::Expired),
        (of(claims_with("exp", "tomorrow")), Error::Malformed),
        (of(claims_with("exp", -1)), Error::Malformed),
        (of(claims_without("exp")), Error::Malformed),
        (
            of(claims_with("nbf", in_seconds(3_600))),
            Error::NotYetValid,
        ),
        (of(claims_with("nbf", "tomorrow")), Error::Malformed),
        (of(claims_with("aud", "office")), Error::Audience),
        (of(claims_without("aud")), Error::Audience),
        (of(claims_with("role", 7)), Error::Role),
        (
            Question {
                options: VerifyOptions {
                    issuers: texts(&["us"]),
                    ..VerifyOptions::default()
                },
                ..of(claims())
            },
            Error::Issuer,
        ),
        (Question::with_token(format!("{signed}.")), Error::Signature),
        (Question::with_token(format!("{token}!")), Error::Malformed),
        (Question::with_token(signed), Error::Malformed),
        (Question::with_token(""), Error::Malformed),
        (Question::with_token("a.b.c"), Error::Malformed),
        (
            Question::with_token(under_header(r#"{"alg":"HS512"}"#, &token)),
            Error::Algorithm,
        ),
        (
            Question::with_token(under_header(r#"{"alg":"RS256"}"#, &token)),
            Error::Algorithm,
        ),
        (
            Question::with_token(under_header(r#"{"alg":"none"}"#, &token)),
            Error::Malformed,
        ),
    ];
    for (at, (question, error)) in refused.iter().enumerate() {
        let fixture = Fixture::new();
        for _ in 0..2 {
            assert_eq!(fixture.ask(question).await, Err(*error), "{at}");
        }
        let stats = fixture.stats();
        assert_eq!(
            (stats.loads, stats.stores, stats.entries),
            (2, 0, 0),
            "{at}"
        );
    }
}

#[test]
fn a_secret_has_at_least_32_bytes() {
    assert_eq!(Secret::new(&[7; 31]).unwrap_err(), Error::WeakSecret);
    assert!(Secret::new(&[7; 32]).is_ok());
}
