//! Money, exact to the cent.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

/// An amount in cents, from 0.00 to [`Cents::MAX`].
///
/// In JSON it is a number with two decimals (`29.90`), in a binary format an integer of cents. The answers of the
/// service and the caches that keep them as JSON therefore hold the same bytes, and the others stay small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cents(i64);

impl Cents {
    pub(crate) const ZERO: Self = Self(0);

    /// Fifteen digits: as many as survive a double precision number, which is how SQLite keeps `numeric` columns.
    pub(crate) const MAX: Self = Self(999_999_999_999_999);

    /// An amount that a column holds.
    ///
    /// # Errors
    ///
    /// If `cents` is negative or above [`Cents::MAX`].
    pub(crate) fn new(cents: i64) -> Result<Self, BadAmount> {
        if cents < 0 {
            Err(BadAmount::Negative)
        } else if cents > Self::MAX.0 {
            Err(BadAmount::TooLarge)
        } else {
            Ok(Self(cents))
        }
    }

    pub(crate) const fn get(self) -> i64 {
        self.0
    }

    /// `self + price * quantity`, unless that is more than an amount can be.
    pub(crate) fn checked_add(self, price: Self, quantity: i64) -> Option<Self> {
        let sum = self.0.checked_add(price.0.checked_mul(quantity)?)?;
        Self::new(sum).ok()
    }
}

/// Why a number is not an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadAmount {
    #[error("an amount of money must be a JSON number such as 31.99")]
    NotANumber,
    #[error("an amount of money cannot be negative")]
    Negative,
    #[error("an amount of money has at most two decimals")]
    TooPrecise,
    #[error("an amount of money is at most {}", Cents::MAX)]
    TooLarge,
}

impl fmt::Display for Cents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// From the digits of a JSON number, never through a floating point number: `31.99`, `31.9`, `31`, `3.199e1`.
impl FromStr for Cents {
    type Err = BadAmount;

    fn from_str(number: &str) -> Result<Self, BadAmount> {
        let (negative, number) = match number.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, number),
        };
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, decimals) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{decimals}");
        if whole.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(BadAmount::NotANumber);
        }
        if digits.bytes().all(|b| b == b'0') {
            return Ok(Self::ZERO);
        }
        if negative {
            return Err(BadAmount::Negative);
        }

        // The amount is 0.DIGITS * 10^point without zeros in front of or behind the digits, in cents 10^(point + 2).
        let significant = digits.trim_start_matches('0');
        let leading_zeros = digits.len() - significant.len();
        let significant = significant.trim_end_matches('0');
        let exponent: i64 = exponent.parse().map_err(|_| out_of_range(exponent))?;
        let length = (whole.len() as i64 - leading_zeros as i64)
            .saturating_add(exponent)
            .saturating_add(2);
        if length > 15 {
            return Err(BadAmount::TooLarge);
        }
        if length < significant.len() as i64 {
            return Err(BadAmount::TooPrecise);
        }
        let cents = format!("{significant:0<width$}", width = length as usize);
        Self::new(cents.parse().map_err(|_| BadAmount::TooLarge)?)
    }
}

/// What to say of an exponent that does not even fit in 64 bits.
fn out_of_range(exponent: &str) -> BadAmount {
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        BadAmount::NotANumber
    } else if exponent.starts_with('-') {
        BadAmount::TooPrecise
    } else {
        BadAmount::TooLarge
    }
}

impl Serialize for Cents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            // A plain `f64` would lose the second decimal of 29.90.
            RawValue::from_string(self.to_string())
                .map_err(ser::Error::custom)?
                .serialize(serializer)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

/// Reads back what was written above, from a cache. What comes from outside is read by [`price`] and [`payment`].
impl<'de> Deserialize<'de> for Cents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cents = if deserializer.is_human_readable() {
            // Exact for our own two decimals: fifteen digits survive a double.
            (f64::deserialize(deserializer)? * 100.0).round() as i64
        } else {
            i64::deserialize(deserializer)?
        };
        Self::new(cents).map_err(de::Error::custom)
    }
}

/// For the price in a request: the exact amount, digit by digit, and more than zero.
pub(crate) fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cents, D::Error> {
    match Box::<RawValue>::deserialize(deserializer)?.get().parse() {
        Ok(Cents::ZERO) => Err(de::Error::custom("a price must be more than zero")),
        Ok(price) => Ok(price),
        Err(error) => Err(de::Error::custom(error)),
    }
}

/// For the payment in a request: `None` is a number that no order can cost, such as -1 or 0.001.
pub(crate) fn payment<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Cents>, D::Error> {
    match Box::<RawValue>::deserialize(deserializer)?.get().parse() {
        Ok(amount) => Ok(Some(amount)),
        Err(error @ BadAmount::NotANumber) => Err(de::Error::custom(error)),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<i64, BadAmount> {
        text.parse::<Cents>().map(Cents::get)
    }

    #[test]
    fn every_spelling_of_a_number_is_read_exactly() {
        for (text, cents) in [
            ("31.99", 3199),
            ("31.9", 3190),
            ("31", 3100),
            ("31.990000000000000000000000", 3199),
            ("0.01", 1),
            ("0", 0),
            ("0.000", 0),
            ("-0", 0),
            ("0e999999999999999999999", 0),
            ("3.199e1", 3199),
            ("3199E-2", 3199),
            ("310e-1", 3100),
            ("0.0003e+4", 300),
            ("1e2", 10_000),
            ("1e12", 100_000_000_000_000),
            ("9999999999999.99", Cents::MAX.get()),
        ] {
            assert_eq!(parse(text), Ok(cents), "{text}");
        }
    }

    #[test]
    fn what_is_not_an_amount_is_refused() {
        for (text, why) in [
            ("31.999", BadAmount::TooPrecise),
            ("31.990000000000000000000001", BadAmount::TooPrecise),
            ("1e-3", BadAmount::TooPrecise),
            ("1e-99999999999999999999", BadAmount::TooPrecise),
            ("-31.99", BadAmount::Negative),
            ("-0.001", BadAmount::Negative),
            ("10000000000000", BadAmount::TooLarge),
            ("1e400", BadAmount::TooLarge),
            ("1e9223372036854775807", BadAmount::TooLarge),
            ("1e99999999999999999999", BadAmount::TooLarge),
            ("\"31.99\"", BadAmount::NotANumber),
            ("null", BadAmount::NotANumber),
            ("[1]", BadAmount::NotANumber),
            ("", BadAmount::NotANumber),
            ("1e", BadAmount::NotANumber),
            ("1ex", BadAmount::NotANumber),
        ] {
            assert_eq!(parse(text), Err(why), "{text}");
        }
    }

    #[test]
    fn json_has_two_decimals_and_reads_back() {
        for cents in [
            1,
            10,
            99,
            100,
            2990,
            3199,
            15_499,
            123_456_789_012_345,
            Cents::MAX.get(),
        ] {
            let amount = Cents::new(cents).unwrap();
            let json = serde_json::to_string(&amount).unwrap();
            assert_eq!(json, format!("{}.{:02}", cents / 100, cents % 100));
            assert_eq!(serde_json::from_str::<Cents>(&json).unwrap(), amount);
        }
    }

    #[test]
    fn a_sum_that_is_no_amount_is_none() {
        let price = Cents::new(1099).unwrap();
        assert_eq!(Cents::ZERO.checked_add(price, 3), Some(Cents(3297)));
        assert_eq!(Cents::MAX.checked_add(price, 1), None);
        assert_eq!(Cents::ZERO.checked_add(Cents::MAX, i64::MAX), None);
    }
}
