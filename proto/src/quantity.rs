//! Amounts of resources as people write them: exact, in the forms that Kubernetes made usual.
//!
//! | resource | unit | read | printed |
//! | --- | --- | --- | --- |
//! | `cpu` | millicores | `500m`, `2`, `0.5` | `500m`, `2` |
//! | `memory` | bytes | `1Gi`, `512Mi`, `2G`, `1048576` | `1Gi`, `512Mi`, `1500000` |
//! | any other | whole units | `20`, `2k` | `20`, `2000` |
//!
//! Guarantees: what is printed reads back as the same amount; equal amounts print the same; nothing
//! is ever rounded, so `0.0005` of a CPU is refused.

use std::fmt;

/// What a resource is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    Millicores,
    Bytes,
    Whole,
}

impl Unit {
    /// The unit of a resource by its name: `cpu`, `memory`, or any other.
    pub fn of(resource: &str) -> Self {
        match resource {
            "cpu" => Self::Millicores,
            "memory" => Self::Bytes,
            _ => Self::Whole,
        }
    }

    fn examples(self) -> &'static str {
        match self {
            Self::Millicores => "`500m` or `2`",
            Self::Bytes => "`512Mi` or `1Gi`",
            Self::Whole => "`20`",
        }
    }

    /// How many thousandths of the smallest amount one plain `1` is worth.
    fn millis_per_one(self) -> u128 {
        match self {
            Self::Millicores => 1_000_000,
            Self::Bytes | Self::Whole => 1_000,
        }
    }
}

/// An amount in some unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    pub unit: Unit,
    /// Millicores, bytes or whole units.
    pub amount: u64,
}

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseQuantityError {
    text: String,
    unit: Unit,
    why: &'static str,
}

impl fmt::Display for ParseQuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, unit, why } = self;
        write!(f, "`{text}` is not an amount: {why}; write for example {}", unit.examples())
    }
}

impl std::error::Error for ParseQuantityError {}

const SUFFIXES: &[(&str, u128)] = &[
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("Ei", 1 << 60),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000),
];

impl Quantity {
    /// Reads an amount of a resource, given by name.
    pub fn parse(resource: &str, text: &str) -> Result<Self, ParseQuantityError> {
        let unit = Unit::of(resource);
        let error = |why| ParseQuantityError { text: text.chars().take(40).collect(), unit, why };
        let (number, scale) = split_suffix(text, unit);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || number.ends_with('.') {
            return Err(error("it must be a number of zero or more, with a known suffix or none"));
        }
        let fraction = fraction.trim_end_matches('0');
        if whole.trim_start_matches('0').len() > 20 || fraction.len() > 18 {
            return Err(error("it is too large or too fine"));
        }
        // In thousandths of the smallest amount, over a power of ten.
        let divisor = 10_u128.pow(u32::try_from(fraction.len()).unwrap_or(0));
        let mantissa: u128 =
            format!("{whole}{fraction}").parse().map_err(|_| error("it is too large"))?;
        let scaled = mantissa.checked_mul(scale).ok_or_else(|| error("it is too large"))?;
        let one = divisor.checked_mul(1_000).ok_or_else(|| error("it is too fine"))?;
        if scaled % one != 0 {
            return Err(error("it is finer than the smallest amount"));
        }
        let amount = u64::try_from(scaled / one).map_err(|_| error("it is too large"))?;
        Ok(Self { unit, amount })
    }

    /// An amount of a resource, given by name, from its number on the wire.
    pub fn of(resource: &str, amount: u64) -> Self {
        Self { unit: Unit::of(resource), amount }
    }
}

/// The digits, and what they are to be multiplied with to get thousandths of the smallest amount.
fn split_suffix(text: &str, unit: Unit) -> (&str, u128) {
    let one = unit.millis_per_one();
    if let (Unit::Millicores, Some(number)) = (unit, text.strip_suffix('m')) {
        return (number, one / 1_000);
    }
    for (suffix, factor) in SUFFIXES {
        if let Some(number) = text.strip_suffix(suffix) {
            return (number, one * factor);
        }
    }
    (text, one)
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = self.amount;
        match self.unit {
            Unit::Millicores if amount.is_multiple_of(1_000) => write!(f, "{}", amount / 1_000),
            Unit::Millicores => write!(f, "{amount}m"),
            Unit::Bytes => {
                let (suffix, factor) = SUFFIXES[..6]
                    .iter()
                    .rev()
                    .map(|(suffix, factor)| (*suffix, u64::try_from(*factor).unwrap_or(1)))
                    .find(|(_, factor)| amount != 0 && amount.is_multiple_of(*factor))
                    .unwrap_or(("", 1));
                write!(f, "{}{suffix}", amount / factor)
            }
            Unit::Whole => write!(f, "{amount}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn amount(resource: &str, text: &str) -> u64 {
        Quantity::parse(resource, text).unwrap().amount
    }

    #[test]
    fn usual_forms_are_read_exactly() {
        assert_eq!(amount("cpu", "500m"), 500);
        assert_eq!(amount("cpu", "2"), 2_000);
        assert_eq!(amount("cpu", "0.1"), 100);
        assert_eq!(amount("memory", "1024Mi"), amount("memory", "1Gi"));
        assert_eq!(amount("memory", "0.5Gi"), amount("memory", "512Mi"));
        assert_eq!(amount("memory", "1.5k"), 1_500);
        assert_eq!(amount("workers", "20"), 20);
        assert_eq!(amount("memory", "18446744073709551615"), u64::MAX);
    }

    #[test]
    fn what_is_no_amount_is_refused_with_a_reason() {
        for (resource, text, why) in [
            ("cpu", "", "a number"),
            ("cpu", "-1", "a number"),
            ("cpu", "1e3", "a number"),
            ("cpu", "0.0005", "finer"),
            ("cpu", "1.", "a number"),
            ("memory", "500m", "a number"),
            ("memory", "1 Gi", "a number"),
            ("memory", "16Ei", "too large"),
            ("memory", "0.3", "finer"),
            ("workers", "1.5", "finer"),
            ("workers", "99999999999999999999999999", "too large"),
        ] {
            let error = Quantity::parse(resource, text).unwrap_err().to_string();
            assert!(error.contains(why), "{resource} {text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(amount: u64, resource in "cpu|memory|workers") {
            let quantity = Quantity::of(&resource, amount);
            prop_assert_eq!(Quantity::parse(&resource, &quantity.to_string()), Ok(quantity));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}", resource in "cpu|memory|workers") {
            let _ = Quantity::parse(&resource, &text).is_ok();
        }
    }
}
