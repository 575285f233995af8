//! Objects of `show -json`.
//!
//! A resource says its full address, except in Terraform 0.12, where modules and the key are left
//! out: there its module says the rest, after its resources.

use super::{Object, instance_key};
use crate::{
    address::{Address, Mode, ModuleCall},
    path::any_true,
    read::text::{decode, fields, value},
    redact::mask_by_names,
    value::Value,
};

/// What came of one resource.
pub(crate) enum Found {
    Object(Box<Object>),
    /// Its address lacks the modules, which are not known yet.
    Relative,
    /// Its kind is not known.
    Unknown,
    /// Why it is none.
    Fault(&'static str),
}

/// Reads one resource. `module` is where it stands; `None` when that is not known yet.
pub(crate) fn object(raw: &[u8], module: Option<&[ModuleCall]>) -> Found {
    if !raw.starts_with(b"{") {
        return Found::Fault("it is not an object");
    }
    let mut parts = Parts::default();
    for (key, field) in fields(raw) {
        parts.set(&key, field);
    }
    let parsed = Address::parse(&decode(parts.address));
    let mode = match (parts.mode, &parsed) {
        (b"" | b"null", Ok(address)) => address.mode,
        (b"" | b"null", Err(_)) => Mode::Managed,
        (raw, _) => match Mode::find(&decode(raw)) {
            Some(mode) => mode,
            None => return Found::Unknown,
        },
    };
    let modules = match (&parsed, module) {
        (Ok(address), _) if !address.modules.is_empty() => address.modules.clone(),
        (_, Some(module)) => module.to_vec(),
        (_, None) => return Found::Relative,
    };
    let text = |raw: &[u8]| decode(raw).into_owned();
    let (resource_type, name) = match &parsed {
        _ if parts.kind.starts_with(b"\"") && parts.name.starts_with(b"\"") => {
            (text(parts.kind), text(parts.name))
        }
        Ok(address) => (address.resource_type.clone(), address.name.clone()),
        Err(_) => return Found::Fault("it has neither an address nor a type and a name"),
    };
    let key = instance_key(parts.index).or_else(|| parsed.ok()?.key);
    let deposed = Some(parts.deposed).filter(|id| id.starts_with(b"\"")).map(text);
    let values = if parts.values.starts_with(b"{") {
        value(parts.values)
    } else {
        Value::Object(Default::default())
    };
    let has_mask = !parts.sensitive_values.is_empty();
    let mask = match (has_mask, value(parts.sensitive_values)) {
        (true, mask) if any_true(&mask) => mask,
        (true, _) => Value::Bool(false),
        (false, _) => mask_by_names(&values),
    };
    Found::Object(Box::new(Object {
        address: Address { modules, mode, resource_type, name, key, deposed },
        provider: text(parts.provider_name),
        tainted: parts.tainted == b"true",
        values,
        mask,
        has_mask,
        is_flat: false,
    }))
}

#[derive(Default)]
struct Parts<'a> {
    address: &'a [u8],
    mode: &'a [u8],
    kind: &'a [u8],
    name: &'a [u8],
    index: &'a [u8],
    provider_name: &'a [u8],
    values: &'a [u8],
    sensitive_values: &'a [u8],
    tainted: &'a [u8],
    deposed: &'a [u8],
}

impl<'a> Parts<'a> {
    fn set(&mut self, key: &str, value: &'a [u8]) {
        let place = match key {
            "address" => &mut self.address,
            "mode" => &mut self.mode,
            "type" => &mut self.kind,
            "name" => &mut self.name,
            "index" => &mut self.index,
            "provider_name" => &mut self.provider_name,
            "values" => &mut self.values,
            "sensitive_values" => &mut self.sensitive_values,
            "tainted" => &mut self.tainted,
            "deposed_key" => &mut self.deposed,
            _ => return,
        };
        *place = value;
    }
}
