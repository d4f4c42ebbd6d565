//! The model of several processes and one Redis: what must hold, and what each guard is for.

mod what_must_hold;
mod without_a_guard;

use models::through_redis::Weather;

const CALM: Weather = Weather {
    evictions: 0,
    flushes: 0,
    losses: 0,
    silences: 0,
    floods: 0,
    failovers: 0,
};
