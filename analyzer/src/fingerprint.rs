//! What a finding is recognised by from one run to the next.
//!
//! - Made of the rule, the resource's address without its numbers, and the keys that lead to what
//!   was changed; not of values, positions or times. So it survives an index shift.
//! - Two objects of one block with `count` that changed alike have the same fingerprint.

use crate::{path::Step, report::Attribute};
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

/// `module.a[0].b.c["k[1]"]` becomes `module.a.b.c["k[1]"]`.
fn without_numbers(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    let (mut quoted, mut escaped) = (false, false);
    let mut rest = address;
    while let Some(character) = rest.chars().next() {
        if !quoted && character == '[' {
            let digits = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
            if digits > 0 && rest[1 + digits..].starts_with(']') {
                rest = &rest[digits + 2..];
                continue;
            }
        }
        quoted ^= character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        out.push(character);
        rest = &rest[character.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positions_are_left_out_of_an_address() {
        for (address, kept) in [
            ("module.a[0].b.c[12]", "module.a.b.c"),
            (r#"a.b["k[1]\"[2]"]"#, r#"a.b["k[1]\"[2]"]"#),
            ("a.b[x]", "a.b[x]"),
            ("a.b[", "a.b["),
        ] {
            assert_eq!(without_numbers(address), kept);
        }
    }
}
