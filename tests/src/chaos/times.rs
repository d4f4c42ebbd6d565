//! How long calls take.

use std::{fmt, time::Duration};

/// Times of one kind of call.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<Duration>);

impl Times {
    pub(super) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(super) fn add_all(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The time that so many of a thousand calls do not exceed; 1000: the longest one. Zero if there are none.
    #[must_use]
    pub fn of_thousand(&self, many: usize) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        sorted.get(last * many / 1000).copied().unwrap_or_default()
    }

    /// How many took longer than that.
    #[must_use]
    pub fn over(&self, limit: Duration) -> usize {
        self.0.iter().filter(|time| **time > limit).count()
    }

    /// The longest one.
    #[must_use]
    pub fn longest(&self) -> Duration {
        self.of_thousand(1000)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, most, longest] = [500, 990, 1000].map(|many| self.of_thousand(many));
        let count = self.count();
        write!(
            f,
            "{count} calls, median {median:.1?}, 99 % {most:.1?}, longest {longest:.1?}"
        )
    }
}
