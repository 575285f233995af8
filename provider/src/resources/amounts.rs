//! Amounts by resource, between the host's numbers and the user's texts. Pure.

use std::collections::BTreeMap;

use proto::{quantity::Quantity, runtimecloud::v1 as api};

use crate::framework::{Diagnostics, Path, Value};

/// The host's amounts of a map of texts. Texts that are no amounts have been refused before.
pub(crate) fn to_api(value: &Value) -> api::Amounts {
    let amounts = value
        .entries()
        .filter_map(|(resource, text)| Some((resource.to_owned(), amount(resource, text)?)))
        .collect();
    api::Amounts { amounts }
}

/// The amount that a text means.
pub(crate) fn amount(resource: &str, text: &Value) -> Option<u64> {
    Quantity::parse(resource, text.as_str()?).ok().map(|quantity| quantity.amount)
}

/// As people write it.
pub(crate) fn text(resource: &str, amount: u64) -> Value {
    Quantity::of(resource, amount).to_string().into()
}

/// The host's amounts as a map of texts.
pub(crate) fn from_api(amounts: Option<&api::Amounts>) -> Value {
    let amounts: BTreeMap<String, Value> = amounts
        .into_iter()
        .flat_map(|amounts| &amounts.amounts)
        .map(|(resource, amount)| (resource.clone(), text(resource, *amount)))
        .collect();
    Value::Map(amounts)
}

/// Whether two texts mean the same amount, of whatever resource. All resources scale alike, so
/// those that both are amounts of CPU tell; amounts too large for that are counted in bytes.
pub(crate) fn mean_the_same(one: &Value, other: &Value) -> bool {
    let same = |resource| match (amount(resource, one), amount(resource, other)) {
        (Some(one), Some(other)) => Some(one == other),
        _ => None,
    };
    same("cpu").or_else(|| same("memory")).unwrap_or(one == other)
}

/// Reports texts that are no amounts.
pub(crate) fn check(value: &Value, path: &Path, diagnostics: &mut Diagnostics) {
    for (resource, text) in value.entries() {
        check_one(resource, text, &path.key(resource), diagnostics);
    }
}

/// Reports a text that is no amount of the resource.
pub(crate) fn check_one(resource: &str, text: &Value, path: &Path, diagnostics: &mut Diagnostics) {
    let Some(text) = text.as_str() else { return };
    if let Err(error) = Quantity::parse(resource, text) {
        diagnostics.error(path.clone(), "Not an amount", format!("{error}."));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_compare_by_meaning() {
        for (one, other, same) in [
            ("1024Mi", "1Gi", true),
            ("0.5", "500m", true),
            ("2", "2000m", true),
            ("2k", "2000", true),
            ("8Ei", "9223372036854775808", true),
            ("8Ei", "7Ei", false),
            ("1", "1m", false),
            ("1", "1Ki", false),
            ("nonsense", "nonsense", true),
            ("nonsense", "1", false),
        ] {
            assert_eq!(mean_the_same(&one.into(), &other.into()), same, "{one} {other}");
        }
    }

    #[test]
    fn amounts_travel_to_the_host_and_back_by_meaning() {
        let user = Value::map([("cpu", "0.5"), ("memory", "1024Mi"), ("gpus", "2")]);
        let api = to_api(&user);
        assert_eq!(api.amounts["cpu"], 500);
        assert_eq!(
            from_api(Some(&api)),
            Value::map([("cpu", "500m"), ("memory", "1Gi"), ("gpus", "2")])
        );
    }
}
