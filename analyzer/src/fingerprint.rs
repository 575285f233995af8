//! What a finding is recognised by from one run to the next.
//!
//! - Made of the rule, the resource's address without its numbers, and the keys that lead to what
//!   was changed; not of values, positions or times. So it survives an index shift.
//! - Two objects of one block with `count` that changed alike have the same fingerprint.

use crate::{
    address::Address,
    path::Step,
    report::{Attribute, Finding},
};
use sha2::{Digest as _, Sha256};

/// The fingerprint of a finding: 16 hexadecimal digits.
pub(crate) fn of(rule: &str, address: &str, deposed: &str, attributes: &[Attribute]) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    };
    add(rule);
    add(&without_numbers(address));
    add(deposed);
    for attribute in attributes {
        for step in &attribute.steps.0 {
            if let Step::Key(key) = step {
                add(key);
            }
        }
        add("");
    }
    let digest = hash.finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The fingerprint that a moved finding had under its old address.
pub(crate) fn former(finding: &Finding) -> Option<String> {
    let address = finding.moved_from.as_deref()?;
    Some(of(finding.rule.id, address, &finding.deposed, &finding.attributes))
}

/// `module.a[0].b.c["k[1]"]` becomes `module.a.b.c["k[1]"]`; what is no address stays as it is.
fn without_numbers(address: &str) -> String {
    match Address::parse(address) {
        Ok(parsed) => parsed.without_numbers().to_string(),
        Err(_) => address.to_owned(),
    }
}
