//! Values of the configuration file that are more than texts.

use crate::rule::Severity;
use crate::{gate::FailOn, noise::Noise, rule};
use jiff::{SignedDuration, Span, SpanRelativeTo, civil::Date};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr};

/// The id of a rule that there is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleId(&'static str);

impl RuleId {
    /// The id.
    pub fn as_str(&self) -> &'static str {
        self.0
    }
}

impl FromStr for RuleId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        rule::find(text).map(|rule| Self(rule.id)).ok_or_else(|| {
            let ids: Vec<&str> = rule::RULES.iter().map(|rule| rule.id).collect();
            format!("`{text}` is no rule; there are {}", ids.join(", "))
        })
    }
}

/// A kind of noise about single attributes, so that it can count as drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoiseKind(pub Noise);

impl NoiseKind {
    const ALL: &[Noise] =
        &[Noise::JsonForm, Noise::NullEmpty, Noise::NumberSpelling, Noise::Reordered];
}

impl FromStr for NoiseKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|kind| kind.name() == text);
        found.map(|kind| Self(*kind)).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("`{text}` is no noise that can count as drift; there are {}", names.join(", "))
        })
    }
}

/// A length of time; a day has 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age(pub SignedDuration);

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || format!("`{text}` is no length of time, such as 90m, 24h or 7d");
        let span: Span = text.parse().map_err(|_| advice())?;
        let duration =
            span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| advice())?;
        if duration.is_positive() { Ok(Self(duration)) } else { Err(advice()) }
    }
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub Date);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let advice = || format!("`{text}` is no day, such as 2027-03-31");
        // Nothing but the day: a time of the day would suggest more than is kept.
        let date = (text.len() == 10).then(|| text.parse().ok()).flatten();
        date.map(Self).ok_or_else(advice)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DayVisitor)
    }
}

/// TOML has days of its own; they may stand in quotes too.
struct DayVisitor;

impl<'de> de::Visitor<'de> for DayVisitor {
    type Value = Day;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a day, such as 2027-03-31")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Day, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Day, A::Error> {
        let date = toml::value::Datetime::deserialize(de::value::MapAccessDeserializer::new(map))?;
        self.visit_str(&date.to_string())
    }
}

/// Reads a type from the text that it is written as.
macro_rules! from_text {
    ($($kind:ty),+) => {$(
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )+};
}

from_text!(Age, FailOn, NoiseKind, RuleId, Severity);

#[cfg(test)]
mod schema {
    use super::*;
    use crate::gate::Class;
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    /// The schema of a type that is written as a text.
    macro_rules! schema {
        ($($kind:ty => $name:literal, $schema:expr;)+) => {$(
            impl JsonSchema for $kind {
                fn schema_name() -> Cow<'static, str> {
                    $name.into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    $schema
                }
            }
        )+};
    }

    fn one_of(words: impl IntoIterator<Item = &'static str>) -> Schema {
        let words: Vec<&str> = words.into_iter().collect();
        json_schema!({ "type": "string", "enum": words })
    }

    fn fail_on() -> Schema {
        let classes: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
        let severities: Vec<&str> = Severity::ALL.iter().map(|it| it.name()).collect();
        let (classes, severities) = (classes.join("|"), severities.join("|"));
        json_schema!({
            "type": "string",
            "pattern": format!(
                "^({classes}|(actionable|check|drift|policy|severity)=({severities}))$"
            ),
        })
    }

    schema! {
        Age => "Age", json_schema!({ "type": "string", "description": "Such as 90m, 24h or 7d." });
        Day => "Day", json_schema!({ "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" });
        FailOn => "FailOn", fail_on();
        NoiseKind => "NoiseKind", one_of(NoiseKind::ALL.iter().map(|kind| kind.name()));
        RuleId => "RuleId", one_of(rule::RULES.iter().map(|rule| rule.id));
        Severity => "Severity", one_of(Severity::ALL.iter().map(|it| it.name()));
    }
}
