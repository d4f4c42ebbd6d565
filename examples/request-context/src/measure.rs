//! What a context costs, in three ways: uncached, cached, and cached under a key as the original made it, which was the SHA-1 of all
//! arguments as JSON. As a function, as a handler, and as a server.
//!
//! The ways take turns, and what is counted is the processor's time, so that another program on the machine slows none of them down more
//! than the others.

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
use cache_core::{
    CacheManager, Hashed, cache_result,
    key::{KeySecret, KeyText},
};
use request_context::{Contexts, Policy, RequestContext, router};
use rustix::time::{ClockId, clock_gettime};
use sha1::{Digest, Sha1};
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::{demo::Demo, load::Server};

/// How many people ask, in turn.
const CUSTOMERS: usize = 100;

/// An odd number, for the median.
const ROUNDS: usize = 15;

/// How long one way is measured in one round.
const TURN: Duration = Duration::from_millis(150);

const WAYS: [&str; 3] = ["uncached", "cached", "JSON + SHA-1 key"];

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;
type Answer = Result<Arc<RequestContext>, request_context::Error>;

pub(crate) fn run() -> Outcome<()> {
    let demo = Demo::new()?;
    let uncached = Arc::new(demo.policy(Contexts::new()?.uncached()));
    let cached = Arc::new(demo.policy(Contexts::new()?));
    let original = Arc::new(Original::new(&demo)?);
    let tokens = (0..CUSTOMERS).map(|customer| demo.token(customer));
    let tokens = tokens.collect::<Outcome<Vec<_>>>()?;
    let bytes = tokens[0].len();
    println!(
        "{CUSTOMERS} tokens of {bytes} bytes, medians of {ROUNDS} rounds, times of the processor"
    );

    let bench = Bench {
        runtime: Builder::new_current_thread().enable_all().build()?,
        tokens,
    };
    let key = KeySecret::new(&demo.secret);
    let [times @ .., digest] = by_turns([
        &mut || bench.function(async |token| ask(&uncached, token).await),
        &mut || bench.function(async |token| ask(&cached, token).await),
        &mut || bench.function(async |token| original.ask(token).await),
        &mut || bench.each(async |token| KeyText::of(&Hashed([token]), Some(&key))),
    ]);
    print("function, µs per call", times);
    let digest = digest * 1e6;
    println!("  of which the digest of a token alone is {digest:.2}");

    let routers = [router(uncached), router(cached), original.router()];
    let [one, two, three] = &routers;
    print(
        "handler, µs per request",
        by_turns([
            &mut || bench.handler(one),
            &mut || bench.handler(two),
            &mut || bench.handler(three),
        ]),
    );

    let [one, two, three] = routers.map(Server::start);
    let (one, two, three) = (one?, two?, three?);
    let rates = std::cell::RefCell::new([const { Vec::new() }; 3]);
    let turn = |way: usize, server: &Server| {
        let load = server.load(&bench.tokens, TURN);
        rates.borrow_mut()[way].push(load.requests_per_second);
        load.seconds_per_request
    };
    let times = by_turns([&mut || turn(0, &one), &mut || turn(1, &two), &mut || {
        turn(2, &three)
    }]);
    print("server, µs per request", times);
    let rates = rates.into_inner().map(median);
    println!("  answered in a second, with the requests made on the same machine: {rates:.0?}");
    Ok(())
}

/// The medians of what each way gives, round by round.
fn by_turns<const N: usize>(mut ways: [&mut dyn FnMut() -> f64; N]) -> [f64; N] {
    // A first round fills caches, ours and the processor's.
    let mut times = [const { Vec::new() }; N];
    for round in 0..=ROUNDS {
        for (way, times) in ways.iter_mut().zip(&mut times) {
            let time = way();
            if round > 0 {
                times.push(time);
            }
        }
    }
    times.map(median)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn print(what: &str, times: [f64; 3]) {
    println!("\nas a {what}");
    for (way, time) in WAYS.iter().zip(times) {
        println!("  {way:18} {:8.2}   ×{:.2}", time * 1e6, times[0] / time);
    }
}

/// The time that a thread, or all of the program, has had of a processor.
pub(crate) fn processor_time(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::try_from(time).unwrap_or_default()
}

struct Bench {
    runtime: Runtime,
    tokens: Vec<String>,
}

impl Bench {
    /// Seconds for each token, on this thread.
    fn each<T>(&self, call: impl AsyncFn(&str) -> T) -> f64 {
        self.runtime.block_on(async {
            let end = Instant::now() + TURN;
            let (begin, mut calls) = (processor_time(ClockId::ThreadCPUTime), 0);
            while Instant::now() < end {
                for token in &self.tokens {
                    black_box(call(token).await);
                }
                calls += self.tokens.len();
            }
            let time = processor_time(ClockId::ThreadCPUTime) - begin;
            time.as_secs_f64() / calls as f64
        })
    }

    fn function(&self, call: impl AsyncFn(&str) -> Answer) -> f64 {
        self.each(async |token| call(token).await.expect("a good token"))
    }

    /// A request for each, without a connection.
    fn handler(&self, router: &Router) -> f64 {
        self.each(async |token| {
            let request = Request::get("/role")
                .header(header::AUTHORIZATION, format!("Bearer {token}"))
                .header(header::ACCEPT_LANGUAGE, "en")
                .body(Body::empty())
                .expect("valid");
            let answer = router.clone().oneshot(request).await.expect("infallible");
            let body = to_bytes(answer.into_body(), 100).await.expect("a role");
            assert_eq!(body, "customer");
        })
    }
}

/// What the handler asks for a token.
async fn ask(policy: &Policy, token: &str) -> Answer {
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
    async fn ask(&self, token: &str) -> Answer {
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
