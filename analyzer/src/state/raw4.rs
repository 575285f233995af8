//! Objects of a stored state of version 4: one resource block with all its instances.
//!
//! Its lists of sensitive paths are incomplete, because what a provider's schema marks is not in
//! them before Terraform 1.10. So names decide beside them.

use super::{Object, flatmap, instance_key, provider_source};
use crate::{
    address::{Address, Mode, ModuleCall},
    path::Step,
    read::text::{decode, fields, items, value},
    redact::{mask_by_names, unite},
    value::Value,
};
use std::collections::BTreeMap;

/// Hands on each instance of a resource. False when its kind is not known.
pub(crate) fn objects(raw: &[u8], mut found: impl FnMut(Object)) -> Result<bool, &'static str> {
    if !raw.starts_with(b"{") {
        return Err("it is not an object");
    }
    let all: BTreeMap<_, _> = fields(raw).collect();
    let text = |key: &str| decode(all.get(key).copied().unwrap_or_default()).into_owned();
    let modules =
        ModuleCall::parse_path(&text("module")).map_err(|_| "its module has no proper address")?;
    let Some(mode) = Mode::find(&text("mode")) else { return Ok(false) };
    let (resource_type, name) = (text("type"), text("name"));
    if resource_type.is_empty() || name.is_empty() {
        return Err("it has no type or no name");
    }
    let provider = text("provider");
    for instance in items(all.get("instances").copied().unwrap_or_default()) {
        if !instance.starts_with(b"{") {
            return Err("one of its instances is not an object");
        }
        let (modules, resource_type, name) = (modules.clone(), resource_type.clone(), name.clone());
        let address = Address { modules, mode, resource_type, name, key: None, deposed: None };
        found(object(instance, address, &provider));
    }
    Ok(true)
}

fn object(raw: &[u8], mut address: Address, provider: &str) -> Object {
    let all: BTreeMap<_, _> = fields(raw).collect();
    let part = |key: &str| all.get(key).copied().unwrap_or_default();
    let text = |key: &str| Some(part(key)).filter(|raw| raw.starts_with(b"\"")).map(decode);
    address.key = instance_key(part("index_key"));
    address.deposed = text("deposed").filter(|id| !id.is_empty()).map(Into::into);
    let is_flat =
        !part("attributes").starts_with(b"{") && part("attributes_flat").starts_with(b"{");
    let values = if is_flat {
        flatmap::expand(part("attributes_flat"))
    } else if part("attributes").starts_with(b"{") {
        value(part("attributes"))
    } else {
        Value::Object(BTreeMap::new())
    };
    let mut mask = mask_by_names(&values);
    for path in items(part("sensitive_attributes")) {
        let steps: Vec<Option<Step>> = items(path).map(step).collect();
        let mut marked = Value::Bool(false);
        mark(&mut marked, &values, &steps);
        mask = unite(mask, marked);
    }
    Object {
        address,
        // OpenTofu may choose a provider for each instance.
        provider: provider_source(&text("provider").unwrap_or(provider.into())),
        tainted: text("status").as_deref() == Some("tainted"),
        values,
        mask,
        has_mask: part("sensitive_attributes").starts_with(b"["),
        is_flat,
    }
}

/// One step of a sensitive path. `None` for an element of a set, which has no position.
fn step(raw: &[u8]) -> Option<Step> {
    let all: BTreeMap<_, _> = fields(raw).collect();
    let mut value = *all.get("value")?;
    if value.starts_with(b"{") {
        value = fields(value).find(|(key, _)| key == "value")?.1;
    }
    match value.first()? {
        b'"' => Some(Step::Key(decode(value).into_owned())),
        b'0'..=b'9' => Some(Step::Index(str::from_utf8(value).ok()?.parse().ok()?)),
        _ => None,
    }
}

/// Marks a path; where it leads out of the value, the last place that is there is marked whole.
fn mark(mask: &mut Value, value: &Value, steps: &[Option<Step>]) {
    let Some(step) = steps.first() else {
        *mask = Value::Bool(true);
        return;
    };
    match (value, step) {
        (Value::Object(fields), Some(Step::Key(key))) if fields.contains_key(key) => {
            let mut below = Value::Bool(false);
            mark(&mut below, &fields[key], &steps[1..]);
            *mask = Value::Object([(key.clone(), below)].into());
        }
        (Value::List(items), Some(Step::Index(index))) if *index < items.len() => {
            let mut masks = vec![Value::Bool(false); items.len()];
            mark(&mut masks[*index], &items[*index], &steps[1..]);
            *mask = Value::List(masks);
        }
        _ => *mask = Value::Bool(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Path;

    fn only(raw: &str) -> Object {
        let mut found = Vec::new();
        objects(raw.as_bytes(), |object| found.push(object)).unwrap();
        found.pop().unwrap()
    }

    #[test]
    fn sensitive_paths_become_masks() {
        let object = only(
            r#"{"module":"module.m[0]","mode":"managed","type":"t","name":"n","provider":"provider.p","instances":[{"index_key":"k","status":"tainted","deposed":"00000001","attributes":{"a":{"b":"x"},"l":["p","q"],"s":["e"],"password":"w","free":1},"sensitive_attributes":[[{"type":"get_attr","value":"a"},{"type":"get_attr","value":"b"}],[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":1,"type":"number"}}],[{"type":"get_attr","value":"s"},{"type":"index","value":{"value":{"odd":1},"type":"x"}}],[{"type":"get_attr","value":"gone"}]]}]}"#,
        );
        assert_eq!(object.address.to_string(), r#"module.m[0].t.n["k"] (deposed 00000001)"#);
        assert!(object.tainted && object.has_mask);
        // The last path leads nowhere: nothing can be told apart any more.
        assert_eq!(object.mask, Value::Bool(true));
    }

    #[test]
    fn marks_stand_where_they_belong() {
        let object = only(
            r#"{"mode":"managed","type":"t","name":"n","provider":"provider.p","instances":[{"attributes":{"a":{"b":"x"},"l":["p","q"],"s":["e"],"password":"w","free":1},"sensitive_attributes":[[{"type":"get_attr","value":"a"},{"type":"get_attr","value":"b"}],[{"type":"get_attr","value":"l"},{"type":"index","value":{"value":1,"type":"number"}}],[{"type":"get_attr","value":"s"},{"type":"index","value":{"value":{"odd":1},"type":"x"}}]]}]}"#,
        );
        for (steps, marked) in [
            (vec![Step::Key("a".into()), Step::Key("b".into())], true),
            (vec![Step::Key("l".into()), Step::Index(0)], false),
            (vec![Step::Key("l".into()), Step::Index(1)], true),
            (vec![Step::Key("s".into()), Step::Index(0)], true),
            (vec![Step::Key("password".into())], true),
            (vec![Step::Key("free".into())], false),
        ] {
            assert_eq!(Path(steps.clone()).is_masked(&object.mask), marked, "{steps:?}");
        }
    }

    #[test]
    fn what_is_no_resource_is_refused() {
        for raw in [
            "1",
            r#"{"mode":"managed","type":"t","instances":[]}"#,
            r#"{"module":"m","mode":"managed","type":"t","name":"n"}"#,
            r#"{"mode":"managed","type":"t","name":"n","instances":[1]}"#,
        ] {
            assert!(objects(raw.as_bytes(), |_| {}).is_err(), "{raw}");
        }
        assert_eq!(objects(br#"{"mode":"list"}"#, |_| {}), Ok(false));
    }
}
