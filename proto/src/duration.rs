//! Lengths of time as people write them: `10s`, `1m30s`, `500ms`, `1.5h`.
//!
//! Guarantees: what is printed reads back as the same length; equal lengths print the same; nothing
//! is rounded, so what is finer than a nanosecond is refused.

use std::{fmt::Write as _, time::Duration};

const UNITS: [(&str, u128); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Reads one or more numbers, each with its unit, added up.
pub fn parse(text: &str) -> Result<Duration, String> {
    let fail = |why: &str| {
        let text: String = text.chars().take(40).collect();
        Err(format!("`{text}` is not a length of time: {why}; write for example `10s` or `1m30s`"))
    };
    let mut rest = text;
    let mut nanoseconds: u128 = 0;
    if text.is_empty() {
        return fail("it is empty");
    }
    while !rest.is_empty() {
        let (number, after) = split_where(rest, |c| c.is_ascii_digit() || c == '.');
        let (unit, after) = split_where(after, |c| c.is_ascii_alphabetic());
        rest = after;
        let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return fail("each number needs a unit of `h`, `m`, `s`, `ms`, `us` or `ns`");
        };
        let Some(part) = times(number, *factor) else {
            return fail("a number is missing, too large, or finer than a nanosecond");
        };
        nanoseconds += part;
    }
    match u64::try_from(nanoseconds) {
        Ok(nanoseconds) => Ok(Duration::from_nanos(nanoseconds)),
        Err(_) => fail("it is too long"),
    }
}

/// Prints the largest whole units first: `1h30m`, `1m30s`, `500ms`, `0s`.
pub fn print(duration: Duration) -> String {
    let mut rest = duration.as_nanos();
    let mut text = String::new();
    for (unit, factor) in UNITS {
        if rest >= factor {
            let _ = write!(text, "{}{unit}", rest / factor);
            rest %= factor;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

fn split_where(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

/// A decimal number times a factor, if that is whole and not huge.
fn times(number: &str, factor: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || whole.len() > 18 || fraction.len() > 18 {
        return None;
    }
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let scaled = format!("{whole}{fraction}").parse::<u128>().ok()?.checked_mul(factor)?;
    scaled.is_multiple_of(scale).then_some(scaled / scale)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn usual_forms_are_read_exactly() {
        for (text, milliseconds) in [
            ("10s", 10_000),
            ("1m30s", 90_000),
            ("90s", 90_000),
            ("500ms", 500),
            ("0.5s", 500),
            ("1.5h", 5_400_000),
            ("0s", 0),
            ("1h0m1s", 3_601_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        assert_eq!(print(Duration::from_secs(60)), "1m");
        assert_eq!(print(Duration::from_millis(90_500)), "1m30s500ms");
        assert_eq!(print(Duration::ZERO), "0s");
    }

    #[test]
    fn what_is_no_length_of_time_is_refused() {
        for text in
            ["", "10", "s", "-1s", "1 s", "1.s", ".5s", "1..5s", "1d", "1s1", "0.1ns", "999999999h"]
        {
            assert!(parse(text).unwrap_err().contains("write for example"), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(nanoseconds: u64) {
            let duration = Duration::from_nanos(nanoseconds);
            prop_assert_eq!(parse(&print(duration)), Ok(duration));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}|[0-9.hmsnu]{0,60}") {
            let _ = parse(&text).is_ok();
        }
    }
}
