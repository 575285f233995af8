//! What was found: plain data, sorted, the only input of a format.
//!
//! - Nothing in it is secret: values are [`Shown`], every other text was cleared of secrets.
//! - The same plan makes the same report, to the byte.

mod block;
mod check;
mod judgement;
mod reason;

pub(crate) use block::BlockAddress;
pub use check::{CheckStatus, FailedCheck};
pub use judgement::{IgnoreState, IgnoreUse, Resolved, Standing, Suppressed, Violation};
pub use reason::Reason;

use crate::{
    action::{Action, Work},
    fate::Fate,
    noise::Noise,
    path::Path,
    proposal::Proposal,
    rule::{self, Rule, Severity},
};
use std::collections::BTreeMap;

/// The outcome of checking one plan.
#[derive(Clone, Debug)]
pub struct Report {
    pub subject: Subject,
    pub plan: PlanInfo,
    pub verdict: Verdict,
    /// Why the plan cannot prove the absence of drift; also given beside drift that was found.
    pub reasons: Vec<Reason>,
    /// Remarks on the input that do not change the verdict.
    pub warnings: Vec<String>,
    pub counts: Counts,
    /// Resources changed outside, by address.
    pub findings: Vec<Finding>,
    /// Planned changes that are not the undoing of drift, by address; at most
    /// [`Report::LISTED_MAX`], the counts tell the rest.
    pub planned: Vec<Planned>,
    /// Differences without meaning, by address; limited as `planned`.
    pub noise: Vec<NoiseItem>,
    /// Conditions of the configuration that do not hold, or of which it is not known; by address.
    pub checks: Vec<FailedCheck>,
    /// One patch for all that can be adopted, when a configuration was given.
    pub patch: Option<String>,
    /// How the workspace is called, when somebody said.
    pub workspace: Option<String>,
    /// What broke a policy.
    pub violations: Vec<Violation>,
    /// Findings that an ignore rule took out of the gate; they count nowhere else.
    pub suppressed: Vec<Suppressed>,
    /// What the baseline knows and this plan no longer has.
    pub resolved: Vec<Resolved>,
    /// Every ignore rule, and whether it is of use.
    pub ignores: Vec<IgnoreUse>,
    /// How many plans the input held.
    pub documents: usize,
    /// How many managed objects of each type there are in the plan, by what it does with them;
    /// counted only when a policy asks about the plan.
    pub changes: BTreeMap<String, BTreeMap<&'static str, usize>>,
}

impl Report {
    /// The report of a plan in which there is nothing.
    pub(crate) fn empty() -> Self {
        Self {
            subject: Subject::Plan,
            plan: PlanInfo::default(),
            verdict: Verdict::Clean,
            reasons: Vec::new(),
            warnings: Vec::new(),
            counts: Counts::default(),
            findings: Vec::new(),
            planned: Vec::new(),
            noise: Vec::new(),
            checks: Vec::new(),
            patch: None,
            workspace: None,
            violations: Vec::new(),
            suppressed: Vec::new(),
            resolved: Vec::new(),
            ignores: Vec::new(),
            documents: 1,
            changes: BTreeMap::new(),
        }
    }

    /// How many planned changes and how many items of noise are listed one by one.
    pub const LISTED_MAX: usize = 5_000;
}

/// What a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// What one plan says.
    #[default]
    Plan,
    /// What differs between two states.
    States,
    /// What differs between two plans.
    Plans,
}

/// What the plan says about itself.
#[derive(Clone, Debug, Default)]
pub struct PlanInfo {
    pub format_version: Option<String>,
    /// Of Terraform or OpenTofu: both write it into the same field.
    pub tool_version: Option<String>,
    /// RFC 3339, as in the plan.
    pub timestamp: Option<String>,
    /// True when a provider comes from OpenTofu's registry.
    pub opentofu: bool,
    pub mode: PlanMode,
}

/// What a plan was made for, as far as its content tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanMode {
    #[default]
    Normal,
    /// It records what is real and compares nothing with the configuration.
    RefreshOnly,
    /// Applying it destroys everything.
    Destroy,
}

impl PlanMode {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::RefreshOnly => "refresh-only",
            Self::Destroy => "destroy",
        }
    }
}

impl PlanInfo {
    /// The command of the engine that made the plan.
    pub fn command(&self) -> &'static str {
        if self.opentofu { "tofu" } else { "terraform" }
    }
}

/// The answer in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Clean,
    Inconclusive,
    Drifted,
}

impl Verdict {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Inconclusive => "inconclusive",
            Self::Drifted => "drifted",
        }
    }
}

/// How many of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries of `resource_changes`.
    pub resources: usize,
    /// Resources changed outside, noise left out.
    pub drifted: usize,
    /// Of those, the ones for which apply does something or may do something.
    pub actionable: usize,
    /// Drifted attributes by fate.
    pub fates: BTreeMap<&'static str, usize>,
    /// Planned changes that are no mere undoing of drift, outputs included.
    pub planned: usize,
    /// What they do with objects; outputs are none.
    pub work: Work,
    /// Noise by kind.
    pub noise: BTreeMap<&'static str, usize>,
}

impl Counts {
    /// Counts the findings anew.
    pub(crate) fn count_findings(&mut self, findings: &[Finding]) {
        self.drifted = findings.len();
        self.actionable = findings.iter().filter(|finding| finding.is_actionable()).count();
        self.fates.clear();
        for attribute in findings.iter().flat_map(|finding| &finding.attributes) {
            *self.fates.entry(attribute.fate.name()).or_default() += 1;
        }
    }
}

/// One resource that was changed outside.
#[derive(Clone, Debug)]
pub struct Finding {
    pub address: String,
    /// The id of a deposed object, empty for the current one.
    pub deposed: String,
    pub resource_type: String,
    pub provider: String,
    pub moved_from: Option<String>,
    pub outside: Outside,
    /// The gravest fate of its attributes.
    pub fate: Fate,
    pub attributes: Vec<Attribute>,
    /// Attributes that the configuration changes beside the drift.
    pub pending: Vec<String>,
    /// What apply will do with the resource; `None` when the plan has no entry for it.
    pub action: Option<Action>,
    pub action_reason: Option<String>,
    /// It is another object than before, by what its provider calls its identity.
    pub identity_changed: bool,
    /// Whether the engine's own plan shows it: only what has an influence on a planned change is
    /// printed there. `None` when the plan does not tell.
    pub shown_by_engine: Option<bool>,
    /// Apply would destroy the object: the outside change cannot be undone without loss.
    pub one_way: bool,
    pub proposals: Vec<Proposal>,
    /// The gravest rule that applies.
    pub rule: &'static Rule,
    /// The rule's, or what the configuration makes of it.
    pub severity: Severity,
    /// The same over moves, index shifts and runs; see [`fingerprint`](crate::fingerprint).
    pub fingerprint: String,
    /// Against the baseline.
    pub standing: Standing,
    /// Who is in charge, when the configuration says.
    pub owner: Option<String>,
    /// Addresses of what depends on it, directly or not, as far as the plan tells: blocks, and
    /// outputs of the root module; at most 200 of them.
    pub dependents: Vec<String>,
    /// How many there are.
    pub dependents_count: usize,
    /// Where the resource is declared, when a configuration was given.
    pub declared: Option<Place>,
    /// In which plan of the input it is, from 1, when there are several.
    pub document: Option<usize>,
    /// How to find the block in a configuration.
    pub(crate) block: BlockAddress,
}

impl Finding {
    /// The gravest rule for what happened and what apply makes of it.
    pub(crate) fn rule_of(outside: Outside, fate: Fate, one_way: bool) -> &'static Rule {
        let id = match (outside, fate) {
            _ if one_way => "one-way-door",
            (Outside::Appeared, _) => "appeared",
            (Outside::Changed, Fate::Observed) => "changed-between",
            (Outside::Deleted, Fate::Observed) => "vanished",
            (Outside::Deleted, Fate::Reverted | Fate::Conflict | Fate::Undecidable) => {
                "deleted-outside"
            }
            (_, Fate::Absorbed) => "absorbed",
            (_, Fate::Reverted) => "reverted",
            (_, Fate::Conflict) => "conflict",
            (_, Fate::Undecidable) => "undecidable",
        };
        rule::RULES.iter().find(|rule| rule.id == id).unwrap_or(&rule::RULES[0])
    }

    /// True when apply does something about it, or may.
    pub fn is_actionable(&self) -> bool {
        self.fate != Fate::Absorbed || self.one_way
    }
}

/// What happened outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Only in the second of two states or plans.
    Appeared,
    Changed,
    Deleted,
}

impl Outside {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Appeared => "appeared",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// One attribute that was changed outside.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// As printed; cleared of secrets.
    pub path: String,
    pub before: Shown,
    pub after: Shown,
    /// What apply will make of it; `None` when the plan has no entry.
    pub desired: Option<Shown>,
    pub fate: Fate,
    /// Where the configuration sets it, when a configuration was given and does.
    pub declared: Option<Place>,
    pub(crate) steps: Path,
}

/// A value as it may be printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// There is no such attribute on this side.
    Absent,
    Null,
    Bool(bool),
    Number(String),
    String(String),
    /// A text of which a part was hidden.
    Concealed(String),
    Sensitive,
    /// Known only after apply.
    Unknown,
    List(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

/// A change that the configuration asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Planned {
    pub address: String,
    pub action: Action,
    pub reason: Option<String>,
    pub note: Option<PlannedNote>,
}

/// What else is special about a planned change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlannedNote {
    Import,
    MovedFrom(String),
    Output,
    Deposed(String),
    /// Of an action: what makes it run.
    TriggeredBy(String),
    /// Left open until something else was applied, and why.
    Deferred(String),
}

impl PlannedNote {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Import => "import",
            Self::MovedFrom(_) => "moved",
            Self::Output => "output",
            Self::Deposed(_) => "deposed",
            Self::TriggeredBy(_) => "triggered",
            Self::Deferred(_) => "deferred",
        }
    }

    /// What else there is to say: an address, an id or a reason.
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Import | Self::Output => None,
            Self::MovedFrom(text)
            | Self::Deposed(text)
            | Self::TriggeredBy(text)
            | Self::Deferred(text) => Some(text),
        }
    }
}

/// A difference without meaning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NoiseItem {
    pub address: String,
    /// Empty for the whole resource.
    pub path: String,
    pub kind: Noise,
}

/// A line of a file of the configuration; the path is relative to its root, with `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: String,
    /// From 1.
    pub line: usize,
}
