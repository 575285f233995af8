//! Labels: those of the resource, those of the provider for every resource, and both together.
//! Pure.
//!
//! Guarantee: labels that someone else put on a resource show up as its own, so that they are seen
//! as drift; labels that the provider's defaults put there do not.

use std::collections::BTreeMap;

use crate::framework::Value;

type Labels = BTreeMap<String, String>;

/// Both together, the resource's own winning; unknown while a part is.
pub(crate) fn all(own: &Value, defaults: Option<&Labels>) -> Value {
    let (Some(defaults), false) = (defaults, own.is_unknown()) else {
        return Value::unknown_not_null();
    };
    let mut all: BTreeMap<String, Value> =
        defaults.iter().map(|(key, value)| (key.clone(), value.into())).collect();
    all.extend(own.entries().map(|(key, value)| (key.to_owned(), value.clone())));
    Value::Map(all)
}

/// Of all labels that a resource has, its own: those it declared before, and those that neither the
/// provider's defaults nor what was there before explain.
pub(crate) fn own(all: &Labels, before: &Value, defaults: Option<&Labels>) -> Value {
    let (own_before, all_before) = (before.get("labels"), before.get("labels_all"));
    let is_own = |key: &str, value: &String| {
        let is_default = defaults.and_then(|defaults| defaults.get(key)) == Some(value);
        let was_there = all_before.get(key).as_str() == Some(value);
        !own_before.get(key).is_null() || !(is_default || was_there)
    };
    Value::map(all.iter().filter(|(key, value)| is_own(key, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Labels {
        text.split_whitespace()
            .filter_map(|pair| pair.split_once('='))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    fn before(own: &str, all: &str) -> Value {
        Value::object([("labels", labels(own).into()), ("labels_all", labels(all).into())])
    }

    #[test]
    fn the_resources_own_labels_win() {
        let together = all(&labels("a=1 b=2").into(), Some(&labels("b=0 c=3")));
        assert_eq!(together, labels("a=1 b=2 c=3").into());
        assert_eq!(all(&Value::Null, Some(&Labels::new())), Labels::new().into());
    }

    #[test]
    fn what_is_not_known_makes_the_whole_unknown() {
        assert!(all(&Value::UNKNOWN, Some(&Labels::new())).is_unknown());
        assert!(all(&Value::Null, None).is_unknown());
    }

    #[test]
    fn only_labels_that_no_default_explains_are_the_resources_own() {
        let defaults = labels("team=a env=dev");
        for (remote, own_before, all_before, own_now) in [
            ("team=a env=dev x=1", "x=1", "", "x=1"),
            ("team=b env=dev x=1", "x=1", "", "team=b x=1"),
            ("team=a env=dev x=1 new=1", "x=1", "", "new=1 x=1"),
            ("team=a env=dev", "env=dev", "", "env=dev"),
            ("team=a env=dev", "x=1", "", ""),
            ("old=1 x=1", "x=1", "old=1 x=1", "x=1"),
            ("old=2 x=2", "x=1", "old=1 x=1", "old=2 x=2"),
        ] {
            let before = before(own_before, all_before);
            let found = own(&labels(remote), &before, Some(&defaults));
            assert_eq!(found, labels(own_now).into(), "{remote} | {own_before} | {all_before}");
        }
        let found = own(&labels("team=a x=2 y=1"), &before("x=1", "team=a x=1"), None);
        assert_eq!(found, labels("x=2 y=1").into());
    }
}
