//! Which findings an entry of the configuration is about.

use super::{AddressPattern, RuleId, Wildcard};
use crate::report::Finding;
use serde::{Deserialize, Deserializer, de};
use std::{fmt, marker::PhantomData, str::FromStr};

/// One pattern or a list of them; none means that the key was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patterns<P>(Vec<P>);

impl<P> Default for Patterns<P> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<P> Patterns<P> {
    /// True when the key was left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True when the key was left out, or one of them hits.
    pub fn allow(&self, hits: impl Fn(&P) -> bool) -> bool {
        self.0.is_empty() || self.0.iter().any(hits)
    }
}

impl<'de, P: FromStr<Err = String>> Deserialize<'de> for Patterns<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany(PhantomData))
    }
}

#[cfg(test)]
impl<P> schemars::JsonSchema for Patterns<P> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Patterns".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            ],
        })
    }
}

struct OneOrMany<P>(PhantomData<P>);

impl<'de, P: FromStr<Err = String>> de::Visitor<'de> for OneOrMany<P> {
    type Value = Patterns<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of texts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse().map(|pattern| Patterns(vec![pattern])).map_err(E::custom)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut patterns = Vec::new();
        while let Some(text) = items.next_element::<String>()? {
            patterns.push(text.parse().map_err(de::Error::custom)?);
        }
        if patterns.is_empty() {
            return Err(de::Error::custom("the list is empty: it would hit nothing"));
        }
        Ok(Patterns(patterns))
    }
}

/// What all given keys hit.
#[derive(Clone, Copy, Debug)]
pub struct Selector<'a> {
    pub address: &'a Patterns<AddressPattern>,
    pub resource_type: &'a Patterns<Wildcard>,
    pub module: &'a Patterns<AddressPattern>,
    pub provider: &'a Patterns<Wildcard>,
    pub rule: &'a Patterns<RuleId>,
}

impl Selector<'_> {
    /// True when no key was given.
    pub fn is_empty(&self) -> bool {
        self.address.is_empty()
            && self.resource_type.is_empty()
            && self.module.is_empty()
            && self.provider.is_empty()
            && self.rule.is_empty()
    }

    /// True when all given keys hit the finding.
    pub fn hits(&self, finding: &Finding) -> bool {
        let module = || finding.block.module_address();
        self.address.allow(|pattern| pattern.hits(&finding.address))
            && self.resource_type.allow(|pattern| pattern.hits(&finding.resource_type))
            && self.module.allow(|pattern| pattern.hits(&module()))
            && self.provider.allow(|pattern| is_provider(pattern, &finding.provider))
            && self.rule.allow(|rule| rule.as_str() == finding.rule.id)
    }
}

/// True when the pattern hits the whole source, or its end from a slash on.
fn is_provider(pattern: &Wildcard, source: &str) -> bool {
    pattern.hits(source) || source.match_indices('/').any(|(at, _)| pattern.hits(&source[at + 1..]))
}
