//! Values as people and programs read them.

use std::time::Duration;

use jiff::Timestamp;
use proto::{quantity::Quantity, runtimecloud::v1};
use serde_json::{Map, Value};

fn timestamp(time: &prost_types::Timestamp) -> Option<Timestamp> {
    Timestamp::new(time.seconds, time.nanos).ok()
}

/// RFC 3339, or null.
pub fn time(time: Option<&prost_types::Timestamp>) -> Value {
    time.and_then(timestamp).map_or(Value::Null, |time| time.to_string().into())
}

/// How long ago it was, in its largest unit: `5s`, `3m`, `2h`, `4d`.
pub fn age(time: Option<&prost_types::Timestamp>, now: Timestamp) -> String {
    let Some(time) = time.and_then(timestamp) else { return "-".to_owned() };
    let seconds = now.as_second().saturating_sub(time.as_second()).max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A length of time such as `1m30s`; `default` if it is absent.
pub fn duration(duration: Option<&prost_types::Duration>, default: &str) -> Value {
    match duration.and_then(|duration| Duration::try_from(*duration).ok()) {
        Some(duration) => proto::duration::print(duration).into(),
        None => default.into(),
    }
}

pub fn amount(resource: &str, amount: u64) -> String {
    Quantity::of(resource, amount).to_string()
}

/// Amounts by resource, as `{"cpu": "500m"}`.
pub fn amounts(amounts: Option<&v1::Amounts>) -> Value {
    let amounts = amounts.into_iter().flat_map(|amounts| &amounts.amounts);
    amounts.map(|(name, of)| (name.clone(), amount(name, *of).into())).collect::<Map<_, _>>().into()
}

/// `true`, `false` or `unknown`.
pub fn status(status: v1::ConditionStatus) -> &'static str {
    match status {
        v1::ConditionStatus::True => "true",
        v1::ConditionStatus::False => "false",
        v1::ConditionStatus::Unknown | v1::ConditionStatus::Unspecified => "unknown",
    }
}

/// Names and values in one line: `a=b, c=d`, or `-`.
pub fn pairs(map: &Map<String, Value>, between: &str) -> String {
    let pairs = map.iter().map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}{between}{value}")
    });
    let pairs: Vec<_> = pairs.collect();
    if pairs.is_empty() { "-".to_owned() } else { pairs.join(", ") }
}

/// Text from outside must not steer the terminal.
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|char| if char.is_control() && char != '\t' { '\u{fffd}' } else { char })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let now = Timestamp::from_second(1_000_000).unwrap();
        let ago = |seconds: i64| {
            let time = prost_types::Timestamp { seconds: 1_000_000 - seconds, nanos: 0 };
            age(Some(&time), now)
        };
        assert_eq!(ago(0), "0s");
        assert_eq!(ago(119), "119s");
        assert_eq!(ago(120), "2m");
        assert_eq!(ago(7_199), "119m");
        assert_eq!(ago(7_200), "2h");
        assert_eq!(ago(172_800), "2d");
        assert_eq!(ago(-5), "0s");
        assert_eq!(age(None, now), "-");
    }

    #[test]
    fn control_characters_are_made_visible() {
        assert_eq!(harmless("a\u{1b}[2Jb\nc"), "a\u{fffd}[2Jb\u{fffd}c");
    }
}
