//! What a context costs, in three ways: uncached, cached, and cached under a key as the original made it, which was the SHA-1 of all
//! arguments as JSON. As a function, as a handler, and as a server. What is compared is measured by turns, and only ratios count.

use std::{
    error::Error,
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::State,
    http::{HeaderMap, Request, header},
    routing::get,
};
use cache_core::{CacheManager, cache_result};
use request_context::{Contexts, Policy, RequestContext, router};
use sha1::{Digest, Sha1};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::{demo::Demo, load};

/// How many people ask, in turn.
const CUSTOMERS: usize = 100;

/// An odd number, for the median.
const ROUNDS: usize = 11;

/// How long one way is measured in one round.
const TURN: Duration = Duration::from_millis(150);

const WAYS: [&str; 3] = ["uncached", "cached", "JSON + SHA-1 key"];

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

pub(crate) fn run() -> Outcome<()> {
    let demo = Demo::new()?;
    let uncached = Arc::new(demo.policy(Contexts::new()?.uncached()));
    let cached = Arc::new(demo.policy(Contexts::new()?));
    let original = Arc::new(Original::new(&demo)?);
    let tokens = (0..CUSTOMERS).map(|customer| demo.token(customer));
    let tokens = tokens.collect::<Outcome<Vec<_>>>()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;

    println!(
        "{CUSTOMERS} tokens of {} bytes; medians of {ROUNDS} rounds",
        tokens[0].len()
    );
    let times = by_turns([
        &mut || function(&runtime, &tokens, async |token| ask(&uncached, token).await),
        &mut || function(&runtime, &tokens, async |token| ask(&cached, token).await),
        &mut || function(&runtime, &tokens, async |token| original.ask(token).await),
    ]);
    print(
        "function",
        "µs per call",
        times.map(|time| time * 1e6),
        times,
    );

    let routers = [router(uncached), router(cached), original.router()];
    let turn = |router: &Router| handler(&runtime, &tokens, router);
    let times = by_turns([
        &mut || turn(&routers[0]),
        &mut || turn(&routers[1]),
        &mut || turn(&routers[2]),
    ]);
    print(
        "handler",
        "µs per request",
        times.map(|time| time * 1e6),
        times,
    );

    let servers = routers.map(load::Server::start);
    let [one, two, three] = &servers;
    let turn = |server: &Outcome<load::Server>| {
        let server = server.as_ref().expect("a free port");
        server.seconds_per_request(&tokens, TURN)
    };
    let times = by_turns([&mut || turn(one), &mut || turn(two), &mut || turn(three)]);
    print("server", "requests/s", times.map(|time| 1.0 / time), times);
    Ok(())
}

/// The medians of what each way gives, round by round.
fn by_turns(mut ways: [&mut dyn FnMut() -> f64; 3]) -> [f64; 3] {
    // The first round fills caches, ours and the processor's.
    let rounds: Vec<_> = (0..=ROUNDS)
        .map(|_| ways.each_mut().map(|way| way()))
        .skip(1)
        .collect();
    [0, 1, 2].map(|way| {
        let mut times: Vec<_> = rounds.iter().map(|round| round[way]).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

fn print(what: &str, unit: &str, figures: [f64; 3], times: [f64; 3]) {
    println!("\nas a {what}");
    for ((way, figure), time) in WAYS.iter().zip(figures).zip(times) {
        let digits = if figure < 1_000.0 { 2 } else { 0 };
        println!(
            "  {way:18} {figure:10.digits$} {unit:14} ×{:.2}",
            times[0] / time
        );
    }
}

/// Seconds per call of a function.
fn function(
    runtime: &Runtime,
    tokens: &[String],
    call: impl AsyncFn(&str) -> Result<Arc<RequestContext>, request_context::Error>,
) -> f64 {
    runtime.block_on(async {
        let (begin, mut calls) = (Instant::now(), 0);
        while begin.elapsed() < TURN {
            for token in tokens {
                black_box(call(token).await.expect("a good token"));
            }
            calls += tokens.len();
        }
        begin.elapsed().as_secs_f64() / calls as f64
    })
}

/// Seconds per request of a router, without a connection.
fn handler(runtime: &Runtime, tokens: &[String], router: &Router) -> f64 {
    function_of_requests(runtime, tokens, async |request| {
        let answer = router.clone().oneshot(request).await.expect("infallible");
        let body = to_bytes(answer.into_body(), 100).await;
        assert_eq!(body.expect("a role"), "customer");
    })
}

fn function_of_requests(
    runtime: &Runtime,
    tokens: &[String],
    call: impl AsyncFn(Request<Body>),
) -> f64 {
    let bearers: Vec<_> = tokens
        .iter()
        .map(|token| format!("Bearer {token}"))
        .collect();
    runtime.block_on(async {
        let (begin, mut calls) = (Instant::now(), 0);
        while begin.elapsed() < TURN {
            for bearer in &bearers {
                let request = Request::get("/role")
                    .header(header::AUTHORIZATION, bearer)
                    .header(header::ACCEPT_LANGUAGE, "en")
                    .body(Body::empty());
                call(request.expect("valid")).await;
            }
            calls += bearers.len();
        }
        begin.elapsed().as_secs_f64() / calls as f64
    })
}

/// What the handler asks for a token.
async fn ask(policy: &Policy, token: &str) -> Result<Arc<RequestContext>, request_context::Error> {
    policy
        .contexts
        .request_context(
            Some(token),
            &policy.secret,
            &policy.audiences,
            &policy.role,
            &policy.options,
            policy.default_role.as_deref(),
            &[("app.language", "en")],
        )
        .await
}

/// The cache as it was: under the SHA-1 of the arguments as JSON, the secret among them.
struct Original {
    policy: Policy,
    secret: String,
    caches: CacheManager,
}

impl Original {
    fn new(demo: &Demo) -> Outcome<Self> {
        let caches = CacheManager::builder()
            .cache("original", Contexts::config())
            .build()?;
        Ok(Self {
            policy: demo.policy(Contexts::new()?.uncached()),
            secret: demo.secret.clone(),
            caches,
        })
    }

    #[cache_result(cache = "original", manager = self.caches, key = self.key(token))]
    async fn ask(&self, token: &str) -> Result<Arc<RequestContext>, request_context::Error> {
        ask(&self.policy, token).await
    }

    fn key(&self, token: &str) -> String {
        let policy = &self.policy;
        let arguments = serde_json::to_vec(&(
            token,
            &self.secret,
            &policy.audiences,
            &policy.role,
            &policy.options,
            &policy.default_role,
            [("app.language", "en")],
        ));
        format!(
            "{:x}",
            Sha1::digest(arguments.expect("strings and numbers"))
        )
    }

    fn router(self: &Arc<Self>) -> Router {
        Router::new()
            .route("/role", get(Self::role))
            .with_state(Arc::clone(self))
    }

    async fn role(
        State(original): State<Arc<Self>>,
        headers: HeaderMap,
    ) -> Result<String, request_context::Error> {
        let sent = headers[header::AUTHORIZATION].to_str();
        let token = sent.ok().and_then(|sent| sent.strip_prefix("Bearer "));
        let context = original.ask(token.expect("sent by us")).await?;
        Ok(context.role().unwrap_or_default().to_owned())
    }
}
