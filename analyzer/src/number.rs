//! Exact decimal numbers, kept as the text that was read.
//!
//! - No number passes through a float: what was written is what is printed.
//! - Equality is numeric: `1`, `1.0` and `10e-1` are one number.
//! - Comparing costs no more than the digits that were written, whatever the exponent says.

use std::fmt;

/// A JSON number.
#[derive(Clone, Debug)]
pub struct Number(Box<str>);

impl Number {
    /// Takes the text of a valid JSON number.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The text as it was read.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True when both were also written alike.
    pub fn same_spelling(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    /// The one form that all spellings of a number share: sign, digits without zeros at either
    /// end, and the power of ten of the last digit. `None` when the exponent is out of any reason.
    pub fn canonical(&self) -> Option<(bool, String, i64)> {
        let text = self.0.as_ref();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.trim_start_matches('+').parse::<i64>().ok())
            }
            None => (text, Some(0)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some((false, String::new(), 0));
        }
        let dropped = i64::try_from(digits.len() - significant.len()).ok()?;
        let shift = dropped.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        Some((negative, significant.to_owned(), exponent?.checked_add(shift)?))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        if self.0 == other.0 {
            return true;
        }
        match (self.canonical(), other.canonical()) {
            (Some(left), Some(right)) => left == right,
            _ => false,
        }
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn equal(left: &str, right: &str) -> bool {
        Number::new(left) == Number::new(right)
    }

    #[test]
    fn spellings_of_one_number_are_equal() {
        for (left, right) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("1", "10e-1"),
            ("100", "1E+2"),
            ("0", "-0.00e7"),
            ("-12.50", "-125e-1"),
            ("9007199254740993", "9007199254740993.0"),
        ] {
            assert!(equal(left, right), "{left} and {right}");
        }
    }

    #[test]
    fn neighbours_beyond_a_float_differ() {
        assert!(!equal("9007199254740993", "9007199254740992"));
        assert!(!equal("0.1", "0.1000000000000000055511151231257827"));
        assert!(!equal("1", "-1"));
    }

    #[test]
    fn huge_exponents_cost_nothing() {
        assert!(!equal("1e999999999", "1"));
        assert!(!equal("1e99999999999999999999", "1"));
        assert!(equal("1e99999999999999999999", "1e99999999999999999999"));
    }
}
