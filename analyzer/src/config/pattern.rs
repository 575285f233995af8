//! Patterns for texts, addresses and attribute paths.
//!
//! - In all of them `*` stands for any text and everything else for itself: brackets and dots are
//!   everyday characters of an address, so the globs of file names do not fit.
//! - A pattern that names a whole hits its parts: a module its resources, a block its instances, an
//!   attribute what stands below it.

use crate::path::{Path, Step};
use std::str::FromStr;

/// A text in which `*` stands for any text, also for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wildcard(String);

impl Wildcard {
    /// True when the whole of `text` fits.
    pub fn hits(&self, text: &str) -> bool {
        let (pattern, text) = (self.0.as_bytes(), text.as_bytes());
        let (mut p, mut t) = (0, 0);
        // Where to go on when what follows the last star did not fit.
        let mut retry = None;
        while t < text.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    retry = Some((p + 1, t));
                    p += 1;
                }
                Some(byte) if *byte == text[t] => {
                    p += 1;
                    t += 1;
                }
                _ => {
                    let Some((after_star, covered)) = retry else { return false };
                    retry = Some((after_star, covered + 1));
                    p = after_star;
                    t = covered + 1;
                }
            }
        }
        pattern[p..].iter().all(|byte| *byte == b'*')
    }

    /// The pattern that is written so.
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl FromStr for Wildcard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned()))
    }
}

/// A pattern for addresses: hits what it names, its instances and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressPattern(Wildcard);

impl AddressPattern {
    /// True when the address, or a whole that it is a part of, fits.
    pub fn hits(&self, address: &str) -> bool {
        self.0.hits(address)
            || address
                .match_indices(['.', '['])
                .any(|(at, _)| at > 0 && self.0.hits(&address[..at]))
    }
}

impl FromStr for AddressPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(Self(Wildcard(text.to_owned())))
    }
}

/// A pattern for paths of attributes, step by step: `tags["team-*"]`, `ingress[*].cidr_blocks`.
/// Hits what stands below too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributePattern(Vec<StepPattern>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum StepPattern {
    /// `**`: any number of steps.
    Deep,
    /// `[*]` or `*`: any one step.
    Any,
    Key(Wildcard),
    Index(usize),
}

impl StepPattern {
    fn hits(&self, step: &Step) -> bool {
        match (self, step) {
            (Self::Deep | Self::Any, _) => true,
            (Self::Key(pattern), Step::Key(key)) => pattern.hits(key),
            (Self::Index(wanted), Step::Index(index)) => wanted == index,
            (Self::Key(_), Step::Index(_)) | (Self::Index(_), Step::Key(_)) => false,
        }
    }
}

impl AttributePattern {
    /// True when the path, or one that leads to it, fits.
    pub fn hits(&self, path: &Path) -> bool {
        // The patterns that may come next, as positions.
        let mut open = vec![0];
        for step in &path.0 {
            let mut next = Vec::new();
            for at in self.with_deep(&open) {
                match self.0.get(at) {
                    None => return true,
                    Some(StepPattern::Deep) => next.push(at),
                    Some(pattern) if pattern.hits(step) => next.push(at + 1),
                    Some(_) => {}
                }
            }
            open = next;
        }
        self.with_deep(&open).contains(&self.0.len())
    }

    /// The positions, and those behind a `**`, which may stand for nothing.
    fn with_deep(&self, open: &[usize]) -> Vec<usize> {
        let mut all: Vec<usize> = Vec::new();
        for &begin in open {
            let mut at = begin;
            all.push(at);
            while self.0.get(at) == Some(&StepPattern::Deep) {
                at += 1;
                all.push(at);
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl FromStr for AttributePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let step;
            (step, rest) = if let Some(inner) = rest.strip_prefix('[') {
                bracket(inner).ok_or_else(|| {
                    format!(
                        "`{text}` is no path: brackets hold a position, a `*` or a key in quotes"
                    )
                })?
            } else {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                (name(&rest[..end]), &rest[end..])
            };
            steps.push(step.ok_or_else(|| format!("`{text}` is no path: a name is empty"))?);
            match rest.strip_prefix('.') {
                Some("") => return Err(format!("`{text}` is no path: it ends with a dot")),
                Some(more) => rest = more,
                None if rest.is_empty() || rest.starts_with('[') => {}
                None => return Err(format!("`{text}` is no path: a dot is missing after `]`")),
            }
        }
        if steps.is_empty() {
            return Err("the path is empty".to_owned());
        }
        Ok(Self(steps))
    }
}

fn name(text: &str) -> Option<StepPattern> {
    match text {
        "" => None,
        "*" => Some(StepPattern::Any),
        "**" => Some(StepPattern::Deep),
        _ => Some(StepPattern::Key(Wildcard(text.to_owned()))),
    }
}

/// What stands after `[`: the step, and the rest behind `]`.
fn bracket(inner: &str) -> Option<(Option<StepPattern>, &str)> {
    if let Some(quoted) = inner.strip_prefix('"') {
        let (mut key, mut escaped) = (String::new(), false);
        for (at, character) in quoted.char_indices() {
            match character {
                _ if escaped => {
                    key.push(character);
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    let rest = quoted[at + 1..].strip_prefix(']')?;
                    return Some((Some(StepPattern::Key(Wildcard(key))), rest));
                }
                _ => key.push(character),
            }
        }
        return None;
    }
    let (text, rest) = inner.split_once(']')?;
    let step = match text {
        "*" => StepPattern::Any,
        _ => StepPattern::Index(text.parse().ok()?),
    };
    Some((Some(step), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, hits) in [
            ("", "", true),
            ("*", "", true),
            ("a*c", "abbc", true),
            ("a*c", "abcb", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*ab", "aab", true),
            ("a", "ab", false),
            ("é*", "éü", true),
        ] {
            assert_eq!(Wildcard(pattern.to_owned()).hits(text), hits, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let pattern = Wildcard("*a".repeat(2_000) + "b");
        assert!(!pattern.hits(&"a".repeat(20_000)));
    }

    #[test]
    fn an_address_pattern_hits_the_parts_of_what_it_names() {
        for (pattern, address, hits) in [
            ("module.a", "module.a.b.c", true),
            ("module.a", r#"module.a["k"].b.c"#, true),
            ("module.a", "module.ab.b.c", false),
            ("b.c", "b.c[0]", true),
            ("b.c[0]", "b.c[0]", true),
            ("b.c[0]", "b.c[01]", false),
            ("*.c", "module.x[1].b.c", true),
            ("module.x[*].b.c", "module.x[1].b.c", true),
            ("b.*", "module.x.b.c", false),
        ] {
            let parsed: AddressPattern = pattern.parse().unwrap();
            assert_eq!(parsed.hits(address), hits, "{pattern} {address}");
        }
    }

    #[test]
    fn an_attribute_pattern_hits_what_stands_below() {
        let key = |name: &str| Step::Key(name.to_owned());
        let tags = Path(vec![key("tags"), key("app.example/team")]);
        let ingress =
            Path(vec![key("ingress"), Step::Index(2), key("cidr_blocks"), Step::Index(0)]);
        for (pattern, path, hits) in [
            ("tags", &tags, true),
            ("tag", &tags, false),
            ("tags.*", &tags, true),
            (r#"tags["app.*/team"]"#, &tags, true),
            (r#"tags["app.*"].x"#, &tags, false),
            ("ingress[*].cidr_blocks", &ingress, true),
            ("ingress[2]", &ingress, true),
            ("ingress[1]", &ingress, false),
            ("**.cidr_blocks", &ingress, true),
            ("**.cidr_blocks[1]", &ingress, false),
            ("**", &tags, true),
            ("ingress.*.cidr_*", &ingress, true),
        ] {
            let parsed: AttributePattern = pattern.parse().unwrap();
            assert_eq!(parsed.hits(path), hits, "{pattern} {path}");
        }
        for wrong in ["", ".", "a.", "a..b", "a[", "a[x]", "a[0]b", "a[\"x]", "a[\"x\"b]"] {
            assert!(wrong.parse::<AttributePattern>().is_err(), "{wrong}");
        }
    }
}
