//! Attributes that several types share, and the rules they share: names, labels, amounts, lengths
//! of time. Pure.

use std::{ops::RangeInclusive, time::Duration};

use jiff::Timestamp;
use proto::duration;

use super::amounts;
use crate::framework::{Attribute, Equal, KeepPrior, Kind, OnChange, Type, Validator, Value};

const NAME: Validator = Validator::pattern(
    "1 to 63 of `a-z`, `0-9` and `-`, beginning with a letter and not ending with `-`",
    is_name,
);

/// The host's id of a resource.
pub(crate) fn id() -> Attribute {
    Attribute::string("id", "Id, chosen by the host. It never changes.").computed().keep_prior()
}

/// A name of the resource's own.
pub(crate) fn name(description: &'static str) -> Attribute {
    name_of("name", description).required().replace()
}

/// An attribute that holds the name of something.
pub(crate) fn name_of(attribute: &'static str, description: &'static str) -> Attribute {
    Attribute::string(attribute, description).check(NAME)
}

pub(crate) fn labels() -> Attribute {
    label_map("labels", "Labels of this resource, besides the provider's `default_labels`.")
}

/// Labels, or what labels are held against.
pub(crate) fn label_map(name: &'static str, description: &'static str) -> Attribute {
    text_map(name, description)
        .check(Validator::length(0..=64))
        .check(Validator::keys(Validator::pattern(
            "1 to 128 letters, digits, `.`, `_`, `-` and `/`",
            is_label_key,
        )))
        .check(Validator::each(Validator::pattern(
            "at most 256 bytes without control characters",
            is_label_value,
        )))
}

pub(crate) fn labels_all() -> Attribute {
    Attribute::value(
        "labels_all",
        Type::map(Type::String),
        "All labels: the provider's `default_labels` and `labels`, which win.",
    )
    .computed()
}

pub(crate) fn deletion_protection() -> Attribute {
    Attribute::bool(
        "deletion_protection",
        "While `true`, neither Terraform nor anyone else deletes it. To delete it, first apply \
         `false`. `false` if left out.",
    )
    .default(false)
}

/// Names and values.
pub(crate) fn text_map(name: &'static str, description: &'static str) -> Attribute {
    Attribute::value(name, Type::map(Type::String), description)
}

/// Resources that one thing may name amounts of.
pub(crate) const RESOURCES_MAX: usize = 64;

/// Amounts by resource.
pub(crate) fn amounts(name: &'static str, description: &'static str) -> Attribute {
    text_map(name, description)
        .equal(amounts::mean_the_same)
        .check(Validator::keys(resource()))
        .check(Validator::length(0..=RESOURCES_MAX))
}

/// The rule for a resource's name.
pub(crate) fn resource() -> Validator {
    Validator::pattern(
        "`cpu`, `memory`, `workers` or a name of 1 to 63 of `a-z`, `0-9`, `.`, `_`, `-` and `/`, \
         beginning with a letter",
        is_resource,
    )
}

/// A length of time, such as `1m30s`.
pub(crate) fn time(name: &'static str, description: &'static str) -> Attribute {
    Attribute::string(name, description)
        .equal(times_mean_the_same as Equal)
        .check(Validator::Custom(|value| parse_time(value).map(|_| ())))
}

/// The rule for times between two tries of something.
pub(crate) const PAUSE: Validator =
    Validator::Custom(|value| check_time(value, Duration::from_millis(10)..=DAY));

/// The rule for times that may be none.
pub(crate) const AT_MOST_A_DAY: Validator =
    Validator::Custom(|value| check_time(value, Duration::ZERO..=DAY));

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn check_time(value: &Value, range: RangeInclusive<Duration>) -> Result<(), String> {
    match parse_time(value) {
        Ok(time) if range.contains(&time) => Ok(()),
        Ok(_) => {
            let [least, most] = [range.start(), range.end()].map(|it| duration::print(*it));
            Err(format!("must be from `{least}` to `{most}`"))
        }
        // Another rule tells.
        Err(_) => Ok(()),
    }
}

/// Words for people.
pub(crate) fn description() -> Attribute {
    Attribute::string("description", "What it is for, for people: at most 4096 bytes.")
        .check(Validator::pattern("at most 4096 bytes", |text| text.len() <= 4096))
}

/// A point in time, as RFC 3339 writes it.
pub(crate) fn instant(name: &'static str, description: &'static str) -> Attribute {
    Attribute::string(name, description).equal(instants_mean_the_same as Equal).check(
        Validator::Custom(|value| match parse_instant(value) {
            Some(_) => Ok(()),
            None => Err("must be a time such as `2030-01-01T00:00:00Z`".to_owned()),
        }),
    )
}

/// The point in time that a text means; none when it is no such thing.
pub(crate) fn instant_to_api(value: &Value) -> Option<prost_types::Timestamp> {
    let time = parse_instant(value)?;
    Some(prost_types::Timestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() })
}

fn parse_instant(value: &Value) -> Option<Timestamp> {
    value.as_str().and_then(|text| text.parse().ok())
}

fn instants_mean_the_same(one: &Value, other: &Value) -> bool {
    match (parse_instant(one), parse_instant(other)) {
        (Some(one), Some(other)) => one == other,
        (None, _) | (_, None) => one == other,
    }
}

/// The length of time that a text means; none when it is no length of time.
pub(crate) fn time_to_api(value: &Value) -> Option<prost_types::Duration> {
    parse_time(value).ok().and_then(|duration| duration.try_into().ok())
}

/// As people write it.
pub(crate) fn time_from_api(duration: Option<&prost_types::Duration>) -> Value {
    duration.and_then(|duration| Duration::try_from(*duration).ok()).map(duration::print).into()
}

/// As RFC 3339 writes it.
pub(crate) fn time_of_api(time: Option<&prost_types::Timestamp>) -> Value {
    time.and_then(|time| Timestamp::new(time.seconds, time.nanos).ok())
        .map(|time| time.to_string())
        .into()
}

/// An attribute of a resource as a data source shows it: set by the host, never by the user.
pub(crate) fn observed(attribute: Attribute) -> Attribute {
    let nested = |attributes: Vec<Attribute>| attributes.into_iter().map(observed).collect();
    Attribute {
        kind: match attribute.kind {
            Kind::Value(ty) => Kind::Value(ty),
            Kind::Nested(nesting, attributes) => Kind::Nested(nesting, nested(attributes)),
            Kind::Block(nesting, attributes) => Kind::Block(nesting, nested(attributes)),
        },
        default: None,
        on_change: OnChange::Update,
        keep_prior: KeepPrior::Never,
        never_null: false,
        validators: Vec::new(),
        equal: None,
        ..attribute
    }
    .computed()
}

pub(crate) fn parse_time(value: &Value) -> Result<Duration, String> {
    duration::parse(value.as_str().unwrap_or_default())
        .map_err(|error| format!("is not usable: {error}"))
}

fn times_mean_the_same(one: &Value, other: &Value) -> bool {
    match (parse_time(one), parse_time(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

pub(crate) fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.len() <= 63
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && !text.ends_with('-')
        && text.bytes().all(fits)
}

fn is_label_key(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(fits)
}

fn is_label_value(text: &str) -> bool {
    text.len() <= 256 && !text.chars().any(char::is_control)
}

fn is_resource(text: &str) -> bool {
    let fits =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-/".contains(&byte);
    text.len() <= 63
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(fits)
}

/// Environment variables of workers.
pub(crate) fn variables(description: &'static str) -> Attribute {
    text_map("variables", description)
        .check(Validator::keys(Validator::pattern(
            "letters, digits and `_`, not beginning with a digit nor with `RUNTIMECLOUD_`",
            is_variable,
        )))
        .check(Validator::each(Validator::pattern("text without a zero byte", has_no_zero)))
        .check(Validator::Custom(|value| {
            let sizes =
                value.string_map().into_iter().map(|(name, value)| name.len() + value.len() + 2);
            check_bytes(sizes.sum())
        }))
}

/// A program and its arguments.
pub(crate) fn command(description: &'static str) -> Attribute {
    Attribute::value("command", Type::list(Type::String), description)
        .check(Validator::length(1..=usize::MAX))
        .check(Validator::each(Validator::pattern("text without a zero byte", has_no_zero)))
        .check(Validator::Custom(|value| {
            let words = value.strings();
            if words.first().is_some_and(String::is_empty) {
                return Err("must begin with a program, not with an empty text".to_owned());
            }
            check_bytes(words.iter().map(|word| word.len() + 1).sum())
        }))
}

/// What starts a process has only so much room.
fn check_bytes(bytes: usize) -> Result<(), String> {
    const MOST: usize = 64 << 10;
    if bytes > MOST { Err(format!("must take at most {MOST} bytes, not {bytes}")) } else { Ok(()) }
}

pub(crate) fn has_no_zero(text: &str) -> bool {
    !text.contains('\0')
}

pub(crate) fn deletion_protection_of(values: &Value) -> bool {
    values.get("deletion_protection").as_bool().unwrap_or(false)
}

/// The host says empty where there is nothing.
pub(crate) fn text_or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.into() }
}

fn is_variable(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().all(fits)
        && !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.starts_with("RUNTIMECLOUD_")
}
