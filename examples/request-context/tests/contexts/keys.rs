//! What an entry is known by: all that its context is made of, and nothing that a reader could use.

use request_context::{Contexts, Error, Policy, Secret, VerifyOptions};

use crate::{Fixture, OTHER_SECRET, Question, SECRET, claims, claims_with, keys, sign, texts};

/// A question, and all that differ from it in one thing.
fn questions() -> Vec<Question> {
    let one = Question::new(&claims_with("iss", "us"));
    let options = |leeway, issuers: &[&str]| VerifyOptions {
        leeway,
        issuers: texts(issuers),
    };
    let tweak = |change: &dyn Fn(&mut Question)| {
        let mut question = one.clone();
        change(&mut question);
        question
    };
    vec![
        one.clone(),
        tweak(&|one| one.jwt = Some(sign(&claims_with("sub", "grace")))),
        tweak(&|one| one.jwt = None),
        tweak(&|one| one.audiences = texts(&["shop", "office"])),
        tweak(&|one| one.audiences = texts(&["office", "shop"])),
        tweak(&|one| one.audiences = texts(&["office,shop", "shop"])),
        tweak(&|one| one.role = texts(&["sub"])),
        tweak(&|one| one.role = texts(&["role", "name"])),
        tweak(&|one| one.role = texts(&["role.name"])),
        tweak(&|one| one.role = texts(&[])),
        tweak(&|one| one.options = options(1, &[])),
        tweak(&|one| one.options = options(0, &["us"])),
        tweak(&|one| one.options = options(0, &["us", "them"])),
        tweak(&|one| one.default_role = Some("guest".to_owned())),
        tweak(&|one| one.default_role = Some(String::new())),
        tweak(&|one| one.default_role = None),
        tweak(&|one| one.settings = vec![("app.language", "de")]),
        tweak(&|one| one.settings = vec![("app.currency", "en")]),
        tweak(&|one| one.settings = vec![("app.language", "en"), ("app.currency", "en")]),
        tweak(&|one| one.settings = vec![]),
    ]
}

#[tokio::test]
async fn whatever_the_context_is_made_of_tells_entries_apart() {
    let fixture = Fixture::new();
    let questions = questions();
    let number = questions.len() as u64;
    for question in &questions {
        let fresh = question.ask(&fixture.contexts.clone().uncached()).await;
        assert_eq!(fixture.ask(question).await, fresh);
    }
    assert_eq!(fixture.stats().loads, number);
    for question in &questions {
        let fresh = question.ask(&fixture.contexts.clone().uncached()).await;
        assert_eq!(fixture.ask(question).await, fresh);
    }
    let stats = fixture.stats();
    assert_eq!(
        (stats.loads, stats.hits, stats.entries),
        (number, number, number)
    );
}

#[tokio::test]
async fn an_entry_does_not_answer_for_another_secret() {
    let fixture = Fixture::new();
    let question = Question::new(&claims());
    fixture.ask(&question).await.unwrap();
    let other = Question {
        secret: Secret::new(OTHER_SECRET).unwrap(),
        ..question
    };
    assert_eq!(fixture.ask(&other).await, Err(Error::Signature));
}

#[tokio::test]
async fn an_entry_does_not_answer_for_other_audiences() {
    let fixture = Fixture::new();
    let question = Question::new(&claims());
    fixture.ask(&question).await.unwrap();
    for audiences in [&["office"] as &[&str], &["sho", "p"], &[]] {
        let other = Question {
            audiences: texts(audiences),
            ..question.clone()
        };
        assert_eq!(fixture.ask(&other).await, Err(Error::Audience));
    }
}

#[tokio::test]
async fn an_entry_does_not_answer_for_other_options() {
    let fixture = Fixture::new();
    let question = Question::new(&claims_with("iss", "us"));
    fixture.ask(&question).await.unwrap();
    let other = Question {
        options: VerifyOptions {
            issuers: texts(&["them"]),
            ..VerifyOptions::default()
        },
        ..question
    };
    assert_eq!(fixture.ask(&other).await, Err(Error::Issuer));
}

/// The signature alone would be a shorter key, and would let anybody change what was signed.
#[tokio::test]
async fn an_entry_does_not_answer_for_another_payload_under_its_signature() {
    let fixture = Fixture::new();
    let token = sign(&claims());
    fixture.ask(&Question::with_token(&token)).await.unwrap();
    let admin = sign(&claims_with("role", "admin"));
    let forged = format!(
        "{}.{}",
        admin.rsplit_once('.').unwrap().0,
        token.rsplit_once('.').unwrap().1
    );
    let forged = fixture.ask(&Question::with_token(forged)).await;
    assert_eq!(forged, Err(Error::Signature));
}

#[tokio::test]
async fn a_key_is_a_digest() {
    let fixture = Fixture::new();
    for question in questions() {
        fixture.ask(&question).await.unwrap();
    }
    let keys = fixture.keys().await;
    assert_eq!(keys.len(), questions().len());
    for key in keys {
        let digest = key.strip_prefix('#').expect("a digest");
        assert_eq!(digest.len(), 43);
        assert!(
            digest
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        );
    }
}

/// A digest that anybody can compute would show whoever reads memory which of the tokens he has is in use.
#[tokio::test]
async fn a_digest_is_of_its_process_alone() {
    let question = Question::new(&claims());
    let mut seen = Vec::new();
    for _ in 0..2 {
        let contexts = Contexts::new().unwrap();
        question.ask(&contexts).await.unwrap();
        seen.extend(keys(contexts.caches()).await);
    }
    assert_eq!(seen.len(), 2);
    assert_ne!(seen[0], seen[1]);
}

#[tokio::test]
async fn debug_shows_nothing() {
    let contexts = Contexts::new().unwrap();
    let question = Question {
        settings: vec![("app.note", "confidential")],
        ..Question::new(&claims_with("email", "ada@example.org"))
    };
    let context = question.ask(&contexts).await.unwrap();
    let refused = Question {
        secret: Secret::new(OTHER_SECRET).unwrap(),
        ..question.clone()
    };
    let error = refused.ask(&contexts).await.unwrap_err();
    let policy = Policy {
        contexts,
        secret: question.secret.clone(),
        audiences: question.audiences.clone(),
        role: question.role.clone(),
        options: question.options.clone(),
        default_role: None,
    };
    let shown = format!(
        "{context:?} {error:?} {error} {policy:?} {:?} {:?}",
        policy.contexts, policy.secret
    );
    let token = question.jwt.unwrap();
    let serialized = serde_json::to_string(&policy.secret).unwrap();
    for private in token.split('.').chain([
        "ada@example.org",
        "confidential",
        str::from_utf8(SECRET).unwrap(),
    ]) {
        assert!(!shown.contains(private), "{shown}");
        assert!(!serialized.contains(private), "{serialized}");
    }
}
