//! The table: a line for each figure, a column for each contender, and why some have none.

use std::cell::RefCell;

use crate::contenders::Column::{self, *};

const COLUMNS: [(Column, &str); 11] = [
    (Ours, "ours"),
    (Validated, "ours, `validated`"),
    (MokaSync, "`moka::sync`"),
    (MokaFuture, "`moka::future`"),
    (Redis, "redis-rs"),
    (Cached, "cached `#[concurrent_cached]`"),
    (CachedClientSide, "the same, `client_side_caching`"),
    (CachedBounded, "cached `#[concurrent_cached]`, bounded"),
    (CachedByKey, "cached `#[cached]`, `by_key`"),
    (Hitbox, "hitbox"),
    (HitboxOneLoad, "hitbox, `concurrency(1)`"),
];

/// What a line is about: who has no store there has no figure in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// What is kept in this process.
    Memory,
    /// What is kept in Redis.
    Redis,
}

/// Why a contender has no figure in a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Why {
    NotInMemory,
    NotInRedis,
    OfRedis,
    AsItsNeighbour,
    /// Anything else.
    Because(&'static str),
}

impl Why {
    const fn text(self) -> &'static str {
        match self {
            Self::NotInMemory => "keeps nothing in memory that could be used without asking Redis",
            Self::NotInRedis => "has no store in Redis",
            Self::OfRedis => "an option of the store in Redis",
            Self::AsItsNeighbour => "goes the way of the column to its left",
            Self::Because(text) => text,
        }
    }
}

fn missing(lines: Lines, column: Column) -> Why {
    match (lines, column) {
        (Lines::Memory, Validated | Redis) => Why::NotInMemory,
        (Lines::Memory, CachedClientSide) => Why::OfRedis,
        (Lines::Redis, MokaSync | MokaFuture | CachedBounded | CachedByKey) => Why::NotInRedis,
        _ => Why::AsItsNeighbour,
    }
}

pub struct Table {
    reasons: RefCell<Vec<Why>>,
}

impl Table {
    /// Prints the head.
    pub fn new() -> Self {
        let names: Vec<_> = COLUMNS.iter().map(|(_, name)| *name).collect();
        println!("| | {} |", names.join(" | "));
        println!("|---|{}", "--:|".repeat(COLUMNS.len()));
        Self {
            reasons: RefCell::default(),
        }
    }

    /// A heading within the table.
    pub fn heading(&self, text: &str) {
        println!("| **{text}** |{}", " |".repeat(COLUMNS.len()));
    }

    pub fn line(&self, lines: Lines, what: &str, figures: &[(Column, f64)]) {
        self.line_because(lines, what, figures, &[]);
    }

    /// With reasons of its own for those who have no figure.
    pub fn line_because(
        &self,
        lines: Lines,
        what: &str,
        figures: &[(Column, f64)],
        because: &[(Column, &'static str)],
    ) {
        let cells: Vec<_> = COLUMNS
            .iter()
            .map(|(column, _)| {
                if let Some((_, figure)) = figures.iter().find(|(whose, _)| whose == column) {
                    return short(*figure);
                }
                let own = because.iter().find(|(whose, _)| whose == column);
                let why = own.map_or_else(|| missing(lines, *column), |(_, why)| Why::Because(why));
                format!("– <sup>{}</sup>", self.number(why))
            })
            .collect();
        println!("| {what} | {} |", cells.join(" | "));
    }

    fn number(&self, why: Why) -> usize {
        let mut reasons = self.reasons.borrow_mut();
        let index = reasons
            .iter()
            .position(|reason| *reason == why)
            .unwrap_or_else(|| {
                reasons.push(why);
                reasons.len() - 1
            });
        index + 1
    }

    /// Prints why there are gaps.
    pub fn end(self) {
        println!();
        for (index, why) in self.reasons.into_inner().into_iter().enumerate() {
            println!("{}. {}", index + 1, why.text());
        }
    }
}

/// Three digits are enough, and no more are true.
fn short(figure: f64) -> String {
    match figure {
        f if f == f.round() => format!("{f:.0}"),
        f if f.abs() >= 99.95 => format!("{f:.0}"),
        f if f.abs() >= 9.995 => format!("{f:.1}"),
        f => format!("{f:.2}"),
    }
}
