//! What the framework logs.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, LazyLock, Mutex},
};

use tracing::{
    Dispatch, Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
    subscriber::{DefaultGuard, set_default},
};

/// What is logged on this thread while this lives: for tests on a runtime of one thread.
#[must_use]
pub struct Log {
    lines: Lines,
    _scope: DefaultGuard,
}

type Lines = Arc<Mutex<Vec<(Level, String)>>>;

impl Log {
    /// Begins to listen.
    pub fn listen() -> Self {
        // As long as a process has had one listener only, `tracing` asks the thread that comes first to an event whether
        // anybody listens, and takes its answer for all threads. So there are two.
        static SECOND: LazyLock<Dispatch> =
            LazyLock::new(|| Dispatch::new(Listener(Lines::default())));
        LazyLock::force(&SECOND);
        let lines = Lines::default();
        let listener = Listener(Arc::clone(&lines));
        Self {
            lines,
            _scope: set_default(listener),
        }
    }

    /// The warnings and errors so far: message and fields, each in a line.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.lines(|level| *level <= Level::WARN)
    }

    /// All that was logged so far, traces too.
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        self.lines(|_| true)
    }

    fn lines(&self, wanted: impl Fn(&Level) -> bool) -> Vec<String> {
        let lines = self.lines.lock().expect("nothing panics while it is held");
        let wanted = lines.iter().filter(|(level, _)| wanted(level));
        wanted.map(|(_, line)| line.clone()).collect()
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all()).finish()
    }
}

struct Listener(Lines);

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        let mut lines = self.0.lock().expect("nothing panics while it is held");
        lines.push((*event.metadata().level(), line.0));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}
