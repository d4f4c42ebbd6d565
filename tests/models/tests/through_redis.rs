//! The model of several processes and one Redis: what must hold, and what each guard is for.

use models::{
    fails, holds,
    through_redis::{
        R1, R2, Rules, Stamps, ThroughRedis, Weather,
        Write::{Invalidate, InvalidateAll, Put, PutByValue},
    },
};

/// Three reads in two processes, and a write in each.
fn model() -> ThroughRedis {
    ThroughRedis {
        reads: vec![0, 0, 1],
        writes: vec![(0, Invalidate), (1, Invalidate)],
        warm: false,
        weather: Weather::default(),
        rules: Rules::ALL,
    }
}

fn w(name: &str, weather: Weather, reads: &[usize], warm: bool) {
    let t = std::time::Instant::now();
    holds(
        name,
        ThroughRedis {
            weather,
            reads: reads.to_vec(),
            warm,
            ..model()
        },
    );
    eprintln!("   {:?}", t.elapsed());
}

#[test]
fn evictions() {
    for warm in [false, true] {
        let x = Weather::default();
        w("calm", x, &[0, 1], warm);
        w("calm", x, &[0, 0], warm);
        w("evict1", Weather { evictions: 1, ..x }, &[0, 1], warm);
        w("loss1", Weather { losses: 1, ..x }, &[0, 1], warm);
        w("failover", Weather { failovers: 1, ..x }, &[0, 1], warm);
        w("silence", Weather { silences: 1, ..x }, &[0, 0], warm);
        w("evict2", Weather { evictions: 2, ..x }, &[0, 1], warm);
        w("flood2", Weather { floods: 2, ..x }, &[0, 1], warm);
    }
}
