//! Objects of a stored state of version 3, as Terraform up to 0.11 wrote it.
//!
//! Keys are `aws_vpc.main`, `aws_vpc.main.0` and `data.aws_vpc.main`; modules had no instances yet.

use super::{Object, flatmap, provider_source};
use crate::{
    address::{Address, Key, Mode, ModuleCall},
    read::text::{decode, fields, items},
    redact::mask_by_names,
    value::Value,
};
use std::collections::BTreeMap;

/// The modules of a path such as `["root","a","b"]`.
pub(crate) fn modules(raw: &[u8]) -> Vec<ModuleCall> {
    let names = items(raw).skip(1).map(|name| decode(name).into_owned());
    names.map(|name| ModuleCall { name, key: None }).collect()
}

/// Hands on the current object of a resource and its deposed ones.
pub(crate) fn objects(
    key: &str,
    raw: &[u8],
    modules: &[ModuleCall],
    mut found: impl FnMut(Object),
) -> Result<(), &'static str> {
    let address = address(key, modules).ok_or("its key is not type.name or type.name.number")?;
    let all: BTreeMap<_, _> = fields(raw).collect();
    let part = |key: &str| all.get(key).copied().unwrap_or_default();
    let provider = provider_source(&decode(part("provider")));
    if part("primary").starts_with(b"{") {
        found(object(part("primary"), address.clone(), &provider));
    }
    for (position, deposed) in items(part("deposed")).enumerate() {
        // They had no names; the newer versions want eight digits.
        let address = Address { deposed: Some(format!("{position:08x}")), ..address.clone() };
        found(object(deposed, address, &provider));
    }
    Ok(())
}

fn address(key: &str, modules: &[ModuleCall]) -> Option<Address> {
    let (mode, rest) = match key.strip_prefix("data.") {
        Some(rest) => (Mode::Data, rest),
        None => (Mode::Managed, key),
    };
    let (resource_type, rest) = rest.split_once('.')?;
    let (name, key) = match rest.rsplit_once('.') {
        Some((name, number)) => (name, Some(Key::Number(number.parse().ok()?))),
        None => (rest, None),
    };
    if resource_type.is_empty() || name.is_empty() {
        return None;
    }
    let (resource_type, name) = (resource_type.to_owned(), name.to_owned());
    Some(Address { modules: modules.to_vec(), mode, resource_type, name, key, deposed: None })
}

fn object(raw: &[u8], address: Address, provider: &str) -> Object {
    let all: BTreeMap<_, _> = fields(raw).collect();
    let part = |key: &str| all.get(key).copied().unwrap_or_default();
    let mut values = flatmap::expand(part("attributes"));
    if let (Value::Object(fields), b'"') = (&mut values, part("id").first().unwrap_or(&b' ')) {
        let id = || Value::String(decode(part("id")).into_owned());
        fields.entry("id".to_owned()).or_insert_with(id);
    }
    Object {
        address,
        provider: provider.to_owned(),
        tainted: part("tainted") == b"true",
        mask: mask_by_names(&values),
        values,
        has_mask: false,
        is_flat: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_become_addresses() {
        let path = modules(br#"["root","a","b"]"#);
        for (key, expected) in [
            ("aws_vpc.main", Some("module.a.module.b.aws_vpc.main")),
            ("aws_vpc.main.12", Some("module.a.module.b.aws_vpc.main[12]")),
            ("data.aws_vpc.main.0", Some("module.a.module.b.data.aws_vpc.main[0]")),
            ("aws_vpc", None),
            ("aws_vpc.main.x", None),
            (".x", None),
            ("data.x", None),
        ] {
            let found = address(key, &path).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{key}");
        }
    }

    #[test]
    fn current_and_deposed_objects_are_told_apart() {
        let raw = br#"{"type":"t","primary":{"id":"i-1","attributes":{"a":"1"},"tainted":true},"deposed":[{"id":"i-0"}],"provider":"provider.t"}"#;
        let mut found = Vec::new();
        objects("t.n", raw, &[], |object| found.push(object)).unwrap();
        assert_eq!(found.len(), 2);
        assert!(found[0].tainted && found[0].address.deposed.is_none());
        assert_eq!(found[0].values.get("id").and_then(Value::as_str), Some("i-1"));
        assert_eq!(found[1].address.deposed.as_deref(), Some("00000000"));
        assert_eq!(found[1].provider, "t");
    }
}
