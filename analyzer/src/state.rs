//! States: what Terraform and OpenTofu last knew of the objects they manage, in one model for all
//! formats.
//!
//! - Each object is handed on and forgotten by the reader; nothing here holds a whole state.
//! - An address is built from its parts, so that the same object has the same one in every format.
//! - `Debug` of an object shows no value.

pub(crate) mod flatmap;
pub(crate) mod json;
pub(crate) mod raw3;
pub(crate) mod raw4;

use crate::{
    address::{Address, Key},
    read::text::decode,
    report::BlockAddress,
    value::Value,
};
use std::fmt;

/// One object of a state.
#[derive(Clone)]
pub struct Object {
    /// Its `deposed` tells an old object from its successor, which has the same address otherwise.
    pub address: Address,
    /// The source address of the provider, or its bare name where the state has no more.
    pub provider: String,
    /// Its creation failed half way, or somebody marked it: the next apply replaces it.
    pub tainted: bool,
    pub values: Value,
    /// What is sensitive in the values: a tree whose leaves are `true`.
    pub mask: Value,
    /// The state itself says what is sensitive. Otherwise, names decide.
    pub has_mask: bool,
    /// All values are texts, as before Terraform 0.12: they say nothing of types.
    pub is_flat: bool,
}

impl Object {
    /// Where its block is to be found.
    pub(crate) fn block(&self) -> BlockAddress {
        BlockAddress {
            modules: self.address.modules.iter().map(|call| call.name.clone()).collect(),
            resource_type: self.address.resource_type.clone(),
            name: self.address.name.clone(),
            instances: 0,
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({})", self.address)
    }
}

/// What a state says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    pub format: Format,
    /// Of Terraform or OpenTofu.
    pub tool_version: Option<String>,
    /// Counts the writes of one lineage. Raw states only.
    pub serial: Option<u64>,
    /// The same for all states of one workspace. Raw states only.
    pub lineage: Option<String>,
    /// Other text stood around the state.
    pub wrapped: bool,
    /// Entries: blocks in stored states of version 4, which may have no object, else objects.
    pub entries: usize,
    /// Entries of kinds nobody has seen yet, which were passed over.
    pub unknown: usize,
}

/// How a state is written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Nothing was said.
    #[default]
    Unknown,
    /// As `show -json` prints it, with the version of that format.
    Json(String),
    /// As it is stored, with the version of that format.
    Raw(u64),
}

/// Receives what a state holds, in the order in which it stands there.
pub trait Receiver {
    fn object(&mut self, object: Object);
    /// An output of the root module.
    fn output(&mut self, name: &str, value: Value, sensitive: bool);
}

/// The source address in `provider["registry.example/a/b"].alias`, `module.m.provider.aws` and so on.
pub(crate) fn provider_source(reference: &str) -> String {
    if let Some((_, quoted)) = reference.split_once("provider[\"") {
        return quoted.split('"').next().unwrap_or_default().to_owned();
    }
    let name = reference.rsplit_once("provider.").map_or(reference, |(_, name)| name);
    name.split('.').next().unwrap_or_default().to_owned()
}

/// The key of an instance, from its JSON.
pub(crate) fn instance_key(raw: &[u8]) -> Option<Key> {
    match raw.first()? {
        b'"' => Some(Key::Text(decode(raw).into_owned())),
        b'n' => None,
        _ => {
            let text = String::from_utf8_lossy(raw);
            Some(text.parse().map_or_else(|_| Key::Text(text.into_owned()), Key::Number))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_found_in_every_spelling() {
        for (reference, source) in [
            (
                r#"provider["registry.terraform.io/hashicorp/aws"]"#,
                "registry.terraform.io/hashicorp/aws",
            ),
            (
                r#"module.a.provider["terraform.io/builtin/terraform"].west"#,
                "terraform.io/builtin/terraform",
            ),
            ("provider.aws", "aws"),
            ("provider.aws.west", "aws"),
            ("module.m.provider.aws", "aws"),
            ("aws", "aws"),
            ("", ""),
            ("provider[\"", ""),
        ] {
            assert_eq!(provider_source(reference), source, "{reference}");
        }
    }
}
