//! The configuration file, `driftgate.toml`: what a team has decided, beside its code.
//!
//! - Strict: a key, a rule, a day or a pattern that is not understood is an error with its line. A
//!   misspelt ignore rule must not pass for one that hits nothing.
//! - The published schema, `schema/config.v1.json`, is made of these types.

mod pattern;
mod policy;
mod selector;
mod value;

pub use pattern::{AddressPattern, AttributePattern, Wildcard};
pub use policy::{Each, Policy};
pub use selector::{Patterns, Selector};
pub use value::{Age, Day, NoiseKind, RuleId};

use crate::{
    gate::{FailOn, Gate},
    policy::Policies,
    rule::Severity,
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The name that is looked for in the working directory.
pub const FILE_NAME: &str = "driftgate.toml";

/// Everything that can be configured. Every key may be left out.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Config {
    /// How the workspace is called in reports.
    pub workspace: Option<String>,
    /// What fails a job.
    pub gate: GateConfig,
    /// Which differences mean something.
    pub noise: NoiseConfig,
    /// The findings that were accepted.
    pub baseline: BaselineConfig,
    /// What was seen in the runs before.
    pub history: HistoryConfig,
    /// Severities by rule.
    pub severity: BTreeMap<RuleId, Severity>,
    /// Severities and owners of some findings; of several that hit, the last one decides.
    #[serde(rename = "override")]
    pub overrides: Vec<Override>,
    /// Findings that are no business of the gate, for a time.
    pub ignore: Vec<Ignore>,
    /// What a plan must not do, or must not show.
    pub policy: Vec<Policy>,
}

/// What fails a job.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct GateConfig {
    /// Classes and severities, as of `--fail-on`.
    pub fail_on: Option<Vec<FailOn>>,
    /// Pass plans that prove nothing.
    pub allow_inconclusive: bool,
    /// Report, and never fail because of what was found.
    pub exit_zero: bool,
    /// A plan older than this proves nothing: `24h`, `7 days`.
    pub max_age: Option<Age>,
}

impl GateConfig {
    /// The gate that it describes.
    pub fn gate(&self) -> Gate {
        let standard = Gate::default();
        Gate {
            fail_on: match &self.fail_on {
                Some(terms) => terms.iter().copied().collect(),
                None => standard.fail_on,
            },
            allow_inconclusive: self.allow_inconclusive,
            exit_zero: self.exit_zero,
        }
    }
}

/// Which differences mean something.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct NoiseConfig {
    /// Kinds of noise that count as drift.
    pub as_drift: Vec<NoiseKind>,
}

/// The findings that were accepted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct BaselineConfig {
    /// The file, relative to this one.
    pub file: Option<String>,
}

/// What was seen in the runs before.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct HistoryConfig {
    /// The file, relative to this one.
    pub file: Option<String>,
    /// In how many runs in a row a finding must be seen before it fails a job.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub min_consecutive: Option<std::num::NonZeroU32>,
}

/// Who is in charge of some findings, and how grave they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Override {
    /// Addresses; what stands in a module and the instances of a block are hit too.
    pub address: Patterns<AddressPattern>,
    /// Resource types.
    #[serde(rename = "type")]
    pub resource_type: Patterns<Wildcard>,
    /// Modules, as `module.network`, whatever their instances.
    pub module: Patterns<AddressPattern>,
    /// Providers, as `registry.terraform.io/hashicorp/aws`, `hashicorp/aws` or `aws`.
    pub provider: Patterns<Wildcard>,
    /// Rules.
    pub rule: Patterns<RuleId>,
    /// The severity that the findings have.
    pub severity: Option<Severity>,
    /// Who is in charge of them.
    pub owner: Option<String>,
}

/// Findings that are no business of the gate: what all given keys hit, for a time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ignore {
    /// How reports call the rule.
    pub name: Option<String>,
    /// Addresses; what stands in a module and the instances of a block are hit too.
    #[serde(default)]
    pub address: Patterns<AddressPattern>,
    /// Resource types.
    #[serde(default, rename = "type")]
    pub resource_type: Patterns<Wildcard>,
    /// Modules, as `module.network`, whatever their instances.
    #[serde(default)]
    pub module: Patterns<AddressPattern>,
    /// Providers, as `registry.terraform.io/hashicorp/aws`, `hashicorp/aws` or `aws`.
    #[serde(default)]
    pub provider: Patterns<Wildcard>,
    /// Rules.
    #[serde(default)]
    pub rule: Patterns<RuleId>,
    /// Attributes, as `tags.Name` or `ingress[*].cidr_blocks`; what stands below is hit too.
    #[serde(default)]
    pub attribute: Patterns<AttributePattern>,
    /// The last known value.
    #[serde(default)]
    pub before: Patterns<Wildcard>,
    /// The real value.
    #[serde(default)]
    pub after: Patterns<Wildcard>,
    /// Who decided it.
    pub owner: String,
    /// Why.
    pub reason: String,
    /// The last day on which it holds.
    pub expires: Option<Day>,
}

/// Why a configuration file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", faults.join("\n"))]
pub struct ConfigError {
    /// Each begins with the line and the column, or names the entry.
    pub faults: Vec<String>,
}

impl Config {
    /// Reads the text of a configuration file.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let config: Self = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', ", ");
            let place = error.span().map(|span| place(text, span.start));
            let fault = place.map_or_else(
                || message.clone(),
                |(line, column)| format!("{line}:{column}: {message}"),
            );
            ConfigError { faults: vec![fault] }
        })?;
        let faults = config.faults();
        if faults.is_empty() { Ok(config) } else { Err(ConfigError { faults }) }
    }

    /// The policies, if there are any.
    pub fn policies(&self) -> Result<Option<Policies>, Vec<String>> {
        if self.policy.is_empty() { Ok(None) } else { Policies::compile(&self.policy).map(Some) }
    }

    /// What no single value shows to be wrong.
    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for (position, entry) in self.overrides.iter().enumerate() {
            let mut fault =
                |what: &str| faults.push(format!("[[override]] {}: {what}", position + 1));
            if entry.selector().is_empty() {
                fault("it selects nothing; for everything say address = \"*\"");
            }
            if entry.severity.is_none() && entry.owner.is_none() {
                fault("it has neither a severity nor an owner");
            }
        }
        let mut names = std::collections::BTreeSet::new();
        for (position, rule) in self.ignore.iter().enumerate() {
            let mut fault = |what: &str| {
                faults.push(format!(
                    "[[ignore]] {} ({}): {what}",
                    position + 1,
                    rule.name(position)
                ));
            };
            if rule.selects_nothing() {
                fault("it selects nothing; for everything say address = \"*\"");
            }
            if rule.owner.trim().is_empty() || rule.reason.trim().is_empty() {
                fault("it needs an owner and a reason");
            }
            if !names.insert(rule.name(position)) {
                fault("another rule has that name");
            }
        }
        if let Err(of_policies) = self.policies() {
            faults.extend(of_policies);
        }
        faults
    }
}

impl Override {
    /// Which findings it is about.
    pub fn selector(&self) -> Selector<'_> {
        Selector {
            address: &self.address,
            resource_type: &self.resource_type,
            module: &self.module,
            provider: &self.provider,
            rule: &self.rule,
        }
    }
}

impl Ignore {
    /// Its name, or one made of its position, from 0.
    pub fn name(&self, position: usize) -> String {
        self.name.clone().unwrap_or_else(|| format!("ignore-{}", position + 1))
    }

    /// Which findings it is about.
    pub fn selector(&self) -> Selector<'_> {
        Selector {
            address: &self.address,
            resource_type: &self.resource_type,
            module: &self.module,
            provider: &self.provider,
            rule: &self.rule,
        }
    }

    /// True when it is about single attributes, not about findings as they are.
    pub fn is_about_attributes(&self) -> bool {
        !(self.attribute.is_empty() && self.before.is_empty() && self.after.is_empty())
    }

    fn selects_nothing(&self) -> bool {
        self.selector().is_empty() && !self.is_about_attributes()
    }
}

/// Line and column, from 1.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let head = text.get(..offset).unwrap_or(text);
    let line_begin = head.rfind('\n').map_or(0, |at| at + 1);
    (head.matches('\n').count() + 1, head[line_begin..].chars().count() + 1)
}

#[cfg(test)]
mod tests;
