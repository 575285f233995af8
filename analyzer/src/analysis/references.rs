//! Who depends on whom, by the references in the configuration.
//!
//! - Blocks are followed, not instances: the configuration knows no others.
//! - References go through variables, outputs and calls of modules; a module that is depended on as a
//!   whole is depended on in all its parts.

use crate::{
    read::{Part, Reference},
    report::BlockAddress,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
};

/// How many dependents of one finding are listed.
const LISTED_MAX: usize = 200;

/// For each part of the configuration those that refer to it.
#[derive(Default)]
pub(super) struct References {
    users: BTreeMap<String, BTreeSet<String>>,
    /// What a report names: resources, and outputs of the root module.
    named: BTreeSet<String>,
}

impl References {
    /// Adds what a part of the module at `path` refers to.
    pub(super) fn add(&mut self, path: &[String], part: Part<'_>, references: Vec<Reference>) {
        let module = prefix(path);
        let user = match part {
            Part::Resource(address) => format!("{module}{address}"),
            Part::Output(name) => format!("{module}output.{name}"),
            Part::Call(name) => called(&format!("{module}module.{name}.")),
            Part::Argument { call, variable } => format!("{module}module.{call}.var.{variable}"),
        };
        let is_named = match part {
            Part::Resource(_) => true,
            Part::Output(_) => path.is_empty(),
            Part::Call(_) | Part::Argument { .. } => false,
        };
        if is_named {
            self.named.insert(user.clone());
        }
        for reference in references {
            if let Some(target) = target(&module, &reference) {
                self.link(target, user.clone());
            }
        }
    }

    fn link(&mut self, target: String, user: String) {
        if target != user {
            self.users.entry(target).or_default().insert(user);
        }
    }

    /// What depends on a part directly. That a resource is there only when its module is called, and
    /// that it is a part of each module around it, goes by its address, so that it takes no memory.
    fn users_of<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a str> {
        let inside = part.strip_prefix(CALLED);
        let from = (Bound::Included(inside.unwrap_or_default()), Bound::Unbounded);
        let inside = inside.into_iter().flat_map(move |prefix| {
            let from_there = self.named.range::<str, _>(from);
            from_there.take_while(move |it| it.starts_with(prefix)).map(String::as_str)
        });
        let around = prefixes(part).filter_map(|prefix| self.users.get(&whole(prefix)));
        let users = self.users.get(part).into_iter().chain(around).flatten();
        users.map(String::as_str).chain(inside)
    }

    /// What depends on a block, directly or not: the first of them by address, and how many.
    pub(super) fn dependents(&self, block: &BlockAddress) -> (Vec<String>, usize) {
        let begin = format!("{}{}.{}", prefix(&block.modules), block.resource_type, block.name);
        let mut seen = BTreeSet::from([begin.as_str()]);
        let mut open = vec![begin.as_str()];
        while let Some(part) = open.pop() {
            open.extend(self.users_of(part).filter(|user| seen.insert(user)));
        }
        seen.remove(begin.as_str());
        let mut named = seen.into_iter().filter(|part| self.named.contains(*part));
        let listed: Vec<String> = named.by_ref().take(LISTED_MAX).map(str::to_owned).collect();
        let count = listed.len() + named.count();
        (listed, count)
    }
}

/// `module.a.module.b.`, or nothing in the root module.
fn prefix(path: &[String]) -> String {
    path.iter().map(|name| format!("module.{name}.")).collect()
}

/// The modules around a part, from the outermost, each with its closing dot.
fn prefixes(part: &str) -> impl Iterator<Item = &str> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let name = part[end..].strip_prefix("module.")?;
        end += "module.".len() + name.find('.')? + 1;
        Some(&part[..end])
    })
}

/// No address begins so.
const CALLED: &str = "call ";

/// Stands for the call of a module.
fn called(prefix: &str) -> String {
    format!("{CALLED}{prefix}")
}

/// Stands for all that a module holds.
fn whole(prefix: &str) -> String {
    format!("whole {prefix}")
}

/// What is referred to, from inside of a module.
fn target(module: &str, reference: &Reference) -> Option<String> {
    let (text, is_dependency) = match reference {
        Reference::InExpression(text) => (text, false),
        Reference::DependsOn(text) => (text, true),
    };
    match segments(text)[..] {
        ["count" | "each" | "local" | "path" | "self" | "terraform", ..] => None,
        ["var", name, ..] => Some(format!("{module}var.{name}")),
        ["module", call, output, ..] => Some(format!("{module}module.{call}.output.{output}")),
        // In expressions it stands beside the output that is meant.
        ["module", call] if is_dependency => Some(whole(&format!("{module}module.{call}."))),
        ["module", ..] => None,
        ["data", kind, name, ..] => Some(format!("{module}data.{kind}.{name}")),
        [kind, name, ..] => Some(format!("{module}{kind}.{name}")),
        _ => None,
    }
}

/// The names between dots, keys left out: `a["x.y"].b[0].c` has `a`, `b` and `c`.
fn segments(text: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let mut begin = 0;
    let (mut depth, mut quoted, mut escaped, mut end) = (0_usize, false, false, None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' => {
                end.get_or_insert(at);
                depth += 1;
            }
            b']' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 => {
                segments.push(&text[begin..end.take().unwrap_or(at)]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    segments.push(&text[begin..end.unwrap_or(text.len())]);
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_references_are_left_out() {
        for (text, wanted) in [
            ("a_b.c.id", &["a_b", "c", "id"][..]),
            (r#"a_b.c["x.y\"]"].id"#, &["a_b", "c", "id"]),
            ("module.m[each.key].out", &["module", "m", "out"]),
            ("", &[""]),
            ("[", &[""]),
            ("a.[\"", &["a", ""]),
            (".", &["", ""]),
        ] {
            assert_eq!(segments(text), wanted, "{text}");
        }
    }
}
