//! Arithmetic on amounts of resources. It saturates: no sum of hostile numbers wraps around.

use proto::quantity::Quantity;

use crate::{pools::template::Amounts, violations::Violations};

/// The resource that counts workers themselves rather than what each of them uses.
pub const WORKERS: &str = "workers";
/// The resource that counts granted leases themselves rather than what each of them uses.
pub const LEASES: &str = "leases";

const RESOURCES_MAX: usize = 64;

pub fn add(sum: &mut Amounts, amounts: &Amounts) {
    for (resource, amount) in amounts {
        let entry = sum.entry(resource.clone()).or_default();
        *entry = entry.saturating_add(*amount);
    }
}

/// What so many workers of a shape use, themselves counted.
pub fn of_workers(shape: &Amounts, count: u64) -> Amounts {
    let mut amounts: Amounts = shape
        .iter()
        .map(|(resource, amount)| (resource.clone(), amount.saturating_mul(count)))
        .collect();
    amounts.insert(WORKERS.to_owned(), count);
    amounts
}

pub fn get(amounts: &Amounts, resource: &str) -> u64 {
    amounts.get(resource).copied().unwrap_or(0)
}

/// As people write it, such as `1Gi`.
pub fn shown(resource: &str, amount: u64) -> String {
    Quantity::of(resource, amount).to_string()
}

/// Names of resources: 1 to 63 of `a-z`, `0-9`, `.`, `_`, `-` and `/`, beginning with a letter.
pub fn check_resources<'a>(
    field: &str,
    resources: impl ExactSizeIterator<Item = &'a String>,
    found: &mut Violations,
) {
    if resources.len() > RESOURCES_MAX {
        found.add(field, format!("too many resources: name at most {RESOURCES_MAX}"));
        return;
    }
    for resource in resources {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-/".contains(&b);
        let begins = resource.starts_with(|first: char| first.is_ascii_lowercase());
        if !begins || resource.len() > 63 || !resource.bytes().all(fits) {
            found.add(
                field,
                format!(
                    "{} is not a resource: use `cpu`, `memory`, `workers` or a name of 1 to 63 of \
                     `a-z`, `0-9`, `.`, `_`, `-` and `/` that begins with a letter",
                    crate::resource::quoted(resource)
                ),
            );
        }
    }
}
