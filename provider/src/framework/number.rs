//! Exact decimal numbers.
//!
//! A number is a sign, digits and a power of ten, kept in one normal form: no leading or trailing
//! zero digit, zero has no sign. Equal numbers are therefore equal structures, `1` is `1.0`, and
//! neither a 30-digit integer nor `0.1` loses anything. Nothing here allocates by the exponent, so
//! `1e999999999` is as cheap as `1`.

use std::{cmp::Ordering, fmt, str::FromStr};

/// Text longer than this is not a number a configuration holds.
const DIGITS_MAX: usize = 4096;
/// Powers of ten up to this are written out in zeros.
const PLAIN_ZEROS_MAX: i64 = 400;

/// An exact decimal number.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number {
    negative: bool,
    /// ASCII digits, first and last not `0`; empty for zero.
    digits: String,
    /// The value is `0.DIGITS * 10^exponent`; 0 for zero.
    exponent: i64,
}

/// The text is not a decimal number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a decimal number")]
pub struct ParseNumberError {
    text: String,
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self { negative: false, digits: String::new(), exponent: 0 };

    /// The exact value of a finite binary fraction; `None` for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Self> {
        // 1074 places hold every f64 exactly.
        value.is_finite().then(|| format!("{value:.1074}").parse().unwrap_or(Self::ZERO))
    }

    /// Whether the number has no fraction.
    pub fn is_integer(&self) -> bool {
        i64::try_from(self.digits.len()).is_ok_and(|len| len <= self.exponent)
    }

    /// The number, if it is an integer of this range.
    pub fn as_i64(&self) -> Option<i64> {
        self.integer()
    }

    /// The number, if it is an integer of this range.
    pub fn as_u64(&self) -> Option<u64> {
        self.integer()
    }

    /// The number, if it is an integer of this range.
    pub fn as_u32(&self) -> Option<u32> {
        self.integer()
    }

    fn integer<T: FromStr>(&self) -> Option<T> {
        // Longer than any machine integer: don't write it out.
        (self.is_integer() && self.exponent < 40).then(|| self.to_string().parse().ok()).flatten()
    }

    fn normal(negative: bool, digits: &str, exponent: i64) -> Self {
        let significant = digits.trim_start_matches('0');
        let leading = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
        let significant = significant.trim_end_matches('0');
        if significant.is_empty() {
            return Self::ZERO;
        }
        Self {
            negative,
            digits: significant.to_owned(),
            exponent: exponent.saturating_sub(leading),
        }
    }
}

impl FromStr for Number {
    type Err = ParseNumberError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParseNumberError { text: text.chars().take(64).collect() };
        if text.len() > DIGITS_MAX {
            return Err(error());
        }
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, power) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], unsigned[at + 1..].parse::<i32>().map_err(|_| error())?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(error());
        }
        let whole_len = i64::try_from(whole.len()).map_err(|_| error())?;
        let number = Self::normal(negative, &digits, whole_len + i64::from(power));
        // Its own spelling must be one that can be read: `0.1e-2147483648` could not be.
        let has_spelling = i32::try_from(number.exponent - 1).is_ok();
        if has_spelling { Ok(number) } else { Err(error()) }
    }
}

impl fmt::Display for Number {
    /// Plain digits (`-12.5`, `1000`), and powers of ten only where the zeros would be hundreds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.digits.is_empty() {
            return f.write_str("0");
        }
        if self.negative {
            f.write_str("-")?;
        }
        let len = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        if self.exponent > len + PLAIN_ZEROS_MAX || self.exponent < -PLAIN_ZEROS_MAX {
            let (first, rest) = self.digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            return write!(f, "{first}{point}{rest}e{}", self.exponent - 1);
        }
        let zeros = |n: i64| "0".repeat(usize::try_from(n).unwrap_or(0));
        if self.exponent >= len {
            write!(f, "{}{}", self.digits, zeros(self.exponent - len))
        } else if self.exponent > 0 {
            let (whole, fraction) =
                self.digits.split_at(usize::try_from(self.exponent).unwrap_or(0));
            write!(f, "{whole}.{fraction}")
        } else {
            write!(f, "0.{}{}", zeros(-self.exponent), self.digits)
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |n: &Self| match (n.negative, n.digits.is_empty()) {
            (_, true) => 0,
            (true, false) => -1,
            (false, false) => 1,
        };
        let magnitude =
            || self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits));
        sign(self)
            .cmp(&sign(other))
            .then_with(|| if self.negative { magnitude().reverse() } else { magnitude() })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

macro_rules! from_integer {
    ($($int:ty),*) => {$(
        impl From<$int> for Number {
            fn from(value: $int) -> Self {
                value.to_string().parse().unwrap_or(Self::ZERO)
            }
        }
    )*};
}
from_integer!(u8, u16, u32, u64, usize, i8, i16, i32, i64, u128, i128);

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        text.parse().unwrap()
    }

    #[test]
    fn spellings_of_one_number_are_equal() {
        for (a, b) in [("1", "1.0"), ("1e3", "1000"), ("0.10", "1e-1"), ("-0", "0"), ("+7", "007")]
        {
            assert_eq!(number(a), number(b), "{a} {b}");
        }
    }

    #[test]
    fn digits_survive_printing() {
        for text in ["0.1", "123456789012345678901234567890", "-12.5", "0.000001", "100", "0"] {
            assert_eq!(number(text).to_string(), text);
        }
    }

    #[test]
    fn a_huge_exponent_is_printed_short_and_read_back() {
        for text in ["1e999999999", "-2.5e-999999999"] {
            assert_eq!(number(text).to_string(), text);
            assert_eq!(number(&number(text).to_string()), number(text));
            assert_eq!(number(text).as_i64(), None);
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        let beyond = ["1e99999999999", "10e2147483647", "0.1e-2147483648"];
        for text in
            ["", "-", ".", "1x", "0x10", "1e", "NaN", "Inf", "1_000", "١"].into_iter().chain(beyond)
        {
            assert!(text.parse::<Number>().is_err(), "{text}");
        }
        assert!("9".repeat(5000).parse::<Number>().is_err());
    }

    #[test]
    fn order_is_by_value() {
        let sorted = ["-1e9", "-10", "-9.5", "0", "0.001", "0.1", "9", "10", "1e9"].map(number);
        assert!(sorted.is_sorted());
    }

    #[test]
    fn binary_fractions_are_taken_exactly() {
        assert_eq!(Number::from_f64(1.5).unwrap(), number("1.5"));
        assert!(Number::from_f64(0.1).unwrap() > number("0.1"));
        assert_eq!(Number::from_f64(f64::NAN), None);
    }

    #[test]
    fn integers_convert_in_their_range_only() {
        assert_eq!(number("4294967295").as_u32(), Some(u32::MAX));
        assert_eq!(number("4294967296").as_u32(), None);
        assert_eq!(number("-1").as_u64(), None);
        assert_eq!(number("1.5").as_i64(), None);
        assert_eq!(number("9223372036854775807").as_i64(), Some(i64::MAX));
    }
}
