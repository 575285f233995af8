//! The page of a function.

use super::{
    Examples,
    block::type_name,
    page::{Listing, head},
};
use crate::framework::{Parameter, Signature};
use std::fmt::Write as _;

pub(super) fn render(
    name: &str,
    signature: &Signature,
    usage: &Listing,
    examples: Examples<'_>,
) -> String {
    let mut page = head(&format!("{name} (Function)"), signature.description, signature.deprecated);
    if let Some(text) = usage.fenced(examples) {
        let _ = write!(page, "\n## Example Usage\n\n{text}");
    }
    let parameters = signature.parameters.iter().map(|p| (p, ""));
    let all = parameters.chain(signature.variadic.iter().map(|p| (p, "...")));
    let (mut shown, mut arguments) = (Vec::new(), String::new());
    for (at, (parameter, more)) in all.enumerate() {
        let ty = type_name(&parameter.ty).to_lowercase();
        shown.push(format!("{} {ty}{more}", parameter.name));
        arguments.push_str(&argument(at + 1, parameter, more));
    }
    let (shown, returns) = (shown.join(", "), type_name(&signature.returns).to_lowercase());
    let _ = write!(page, "\n## Signature\n\n```text\n{name}({shown}) {returns}\n```\n");
    if !arguments.is_empty() {
        let _ = write!(page, "\n## Arguments\n\n{arguments}");
    }
    page
}

fn argument(number: usize, parameter: &Parameter, more: &str) -> String {
    let variadic = if more.is_empty() { "" } else { ", Variadic" };
    let nullable = if parameter.takes_null { ", Nullable" } else { "" };
    let (name, ty) = (parameter.name, type_name(&parameter.ty));
    format!("{number}. `{name}` ({ty}{variadic}{nullable}) {}\n", parameter.description)
}
