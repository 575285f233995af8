//! Policies, as they stand in the configuration file.

use crate::rule::Severity;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What a plan must not do, or must not show. Either `use` or `deny` says what.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Policy {
    /// How reports call it; a built-in one has a name already.
    pub name: Option<String>,
    /// A built-in policy; `driftgate policies` lists them.
    #[serde(rename = "use")]
    pub built_in: Option<String>,
    /// What the expression is asked for: each planned change, each finding, or the plan once.
    pub each: Option<Each>,
    /// An expression in CEL that is true, a message, or a list of messages, for what is not allowed.
    pub deny: Option<String>,
    /// What to say when the expression is true.
    pub message: Option<String>,
    /// How grave it is; `high` unless something else is said.
    pub severity: Option<Severity>,
    /// Ask for objects that do not change too.
    pub no_op: bool,
    /// Values that the expression finds in `params`.
    pub params: BTreeMap<String, serde_json::Value>,
}

/// What an expression is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Each {
    Change,
    Finding,
    Plan,
}

impl Each {
    /// The word in the configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Finding => "finding",
            Self::Plan => "plan",
        }
    }

    /// The variables that an expression may name, `params` aside.
    pub fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Change => &[
                "action",
                "actions",
                "address",
                "after",
                "before",
                "deposed",
                "importing",
                "mode",
                "module",
                "name",
                "previous_address",
                "provider",
                "reason",
                "type",
                "unknown",
            ],
            Self::Finding => &[
                "action",
                "actionable",
                "address",
                "attributes",
                "deposed",
                "one_way",
                "outcome",
                "outside",
                "owner",
                "provider",
                "rule",
                "severity",
                "type",
            ],
            Self::Plan => &[
                "actionable",
                "actions",
                "drifted",
                "mode",
                "planned",
                "reasons",
                "resources",
                "tool_version",
                "types",
                "workspace",
            ],
        }
    }
}
