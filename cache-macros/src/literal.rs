//! What a string in an attribute may say: the name of a cache, a duration.

use std::time::Duration;

const MAX_NAME: usize = 128;
const MAX_SECONDS: u64 = 100 * 365 * 24 * 60 * 60;

/// Says what is wrong with `name`, if anything is.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let follows = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-');
    if name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(follows) {
        if name.len() <= MAX_NAME {
            return Ok(());
        }
        return Err(format!(
            "the name of a cache has at most {MAX_NAME} characters, this one has {}: shorten it",
            name.len()
        ));
    }
    Err(format!(
        "`{name}` is not the name of a cache: write letters, digits, `.`, `_`, `/` and `-`, beginning with a letter or digit"
    ))
}

/// Reads whole numbers with units, as in `1h30m`; zero and more than 100 years are refused.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let malformed = || {
        format!(
            "`{text}` is not a duration: write whole numbers with units, as in \"500ms\", \"30s\", \"5m\", \"1h30m\" or \"2d\""
        )
    };
    let too_long = || format!("`{text}` is longer than 100 years: write a shorter duration");

    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return Err(malformed());
    }
    while !rest.is_empty() {
        let (digits, after) = split_at_first(rest, |c| !c.is_ascii_digit());
        let (unit, after) = split_at_first(after, |c| !c.is_ascii_alphabetic());
        if digits.is_empty() {
            return Err(malformed());
        }
        let milliseconds = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(malformed()),
        };
        // Only digits are left, so the one way to fail is to be too large.
        let count: u64 = digits.parse().map_err(|_| too_long())?;
        let part = count.checked_mul(milliseconds).ok_or_else(too_long)?;
        total = total
            .checked_add(Duration::from_millis(part))
            .ok_or_else(too_long)?;
        rest = after.trim_start();
    }
    if total.is_zero() {
        return Err(format!("`{text}` is no time at all: write \"1ms\" or more"));
    }
    if total > Duration::from_secs(MAX_SECONDS) {
        return Err(too_long());
    }
    Ok(total)
}

fn split_at_first(text: &str, stop: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(stop).unwrap_or(text.len()))
}

/// The candidate that `word` was probably meant to be.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many characters to insert, remove or replace to get from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_add_up_their_parts() {
        for (text, milliseconds) in [
            ("1ms", 1),
            ("500ms", 500),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("2d", 172_800_000),
            (" 7s ", 7_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(milliseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn durations_without_a_known_unit_or_number_are_refused() {
        for text in [
            "",
            " ",
            "30",
            "s",
            "-1s",
            "1.5s",
            "30 seconds",
            "1h30",
            "5min",
            "s30",
            "1µs",
            "1h,30m",
        ] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.contains("is not a duration"), "{text}: {error}");
        }
    }

    #[test]
    fn durations_of_zero_and_of_more_than_a_century_are_refused() {
        assert!(parse_duration("0s").unwrap_err().contains("no time at all"));
        assert!(
            parse_duration("0h0ms")
                .unwrap_err()
                .contains("no time at all")
        );
        assert!(parse_duration("36500d").is_ok());
        for text in [
            "36500d1ms",
            "99999999999999999999s",
            "18446744073709551615d",
            "18446744073709551615ms",
        ] {
            assert!(
                parse_duration(text)
                    .unwrap_err()
                    .contains("longer than 100 years"),
                "{text}"
            );
        }
    }

    #[test]
    fn names_follow_the_rule() {
        for name in [
            "a",
            "7",
            "product",
            "Store.products_v2/by-id",
            &"x".repeat(128),
        ] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in [
            "", "-a", ".a", "_a", "/a", "a b", "a:b", "a*", "é", "aé", "{a}",
        ] {
            assert!(
                check_name(name)
                    .unwrap_err()
                    .contains("is not the name of a cache"),
                "{name}"
            );
        }
        assert!(
            check_name(&"x".repeat(129))
                .unwrap_err()
                .contains("this one has 129")
        );
    }

    #[test]
    fn the_nearest_word_is_near() {
        let words = [
            "cache",
            "key",
            "key_with",
            "ttl",
            "store_if",
            "lock_timeout",
        ];
        assert_eq!(nearest("tll", words), Some("ttl"));
        assert_eq!(nearest("kye_with", words), Some("key_with"));
        assert_eq!(nearest("lock_time", words), Some("lock_timeout"));
        assert_eq!(nearest("expires", words), None);
    }
}
