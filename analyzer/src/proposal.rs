//! What can be done about a finding, how risky it is, and with which commands.
//!
//! - A proposal that cannot be carried out says why, and the list goes on with the next best one.
//! - Commands are ready to paste into a POSIX shell.

use crate::{
    action::Action,
    fate::Fate,
    path::Step,
    report::{Finding, Outside, Place, PlanInfo},
};

/// One way to settle a finding.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub kind: ProposalKind,
    pub risk: Risk,
    /// What it does, in a sentence.
    pub summary: String,
    pub commands: Vec<String>,
    /// For adoption: the change to the configuration, a unified diff.
    pub diff: Option<String>,
    /// For adoption: what cannot be written into the configuration, and why.
    pub refusals: Vec<Refusal>,
}

/// The kinds of proposal, in the order in which they are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProposalKind {
    Revert,
    Adopt,
    Record,
    Ignore,
    Import,
    Move,
    Remove,
}

impl ProposalKind {
    /// Every kind, sorted by name.
    pub const ALL: &[Self] = &[
        Self::Adopt,
        Self::Ignore,
        Self::Import,
        Self::Move,
        Self::Record,
        Self::Remove,
        Self::Revert,
    ];

    /// The kinds that edit the configuration, sorted by name.
    pub const EDITS: &[Self] = &[Self::Adopt, Self::Ignore, Self::Import, Self::Move, Self::Remove];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Revert => "revert",
            Self::Adopt => "adopt",
            Self::Record => "record",
            Self::Ignore => "ignore",
            Self::Import => "import",
            Self::Move => "move",
            Self::Remove => "remove",
        }
    }

    /// What it does, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Revert => "apply the configuration",
            Self::Adopt => "write what is real",
            Self::Record => "take what is real into the state",
            Self::Ignore => "list attributes in ignore_changes",
            Self::Import => "take over an object that was made again",
            Self::Move => "keep an object under its new name",
            Self::Remove => "stop managing an object",
        }
    }

    /// What it is, for `driftgate explain`.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Revert => {
                "Apply the configuration as it stands: what was changed outside is put back."
            }
            Self::Adopt => {
                "Write the real value into the configuration, so that the next plan has nothing \
                 to do. Only literal values can be written; comments and layout stay as they are."
            }
            Self::Record => {
                "Take the real value into the state and change nothing else (apply -refresh-only)."
            }
            Self::Ignore => {
                "List the attribute in ignore_changes of the resource's lifecycle block, when \
                 something else than this configuration is in charge of it."
            }
            Self::Import => {
                "Take over an object that was made again outside, with an import block: only \
                 somebody who looks can tell its new id."
            }
            Self::Move => {
                "Keep an object whose block only got another name, with a moved block, so that it \
                 is not destroyed and made again."
            }
            Self::Remove => {
                "Stop managing an object and leave it as it is: its block goes, a removed block \
                 comes. One of several instances is dropped with `state rm`."
            }
        }
    }
}

/// How much can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Nothing outside of the configuration or the state changes.
    Low,
    /// A live object is changed in place.
    Medium,
    /// A live object is destroyed, or the outcome is not known.
    High,
}

impl Risk {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Why an attribute cannot be adopted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub path: String,
    pub reason: String,
    pub place: Option<Place>,
    /// The next best proposal for it.
    pub instead: Option<ProposalKind>,
}

/// What can be done without looking at the configuration.
pub(crate) fn without_configuration(finding: &Finding, plan: &PlanInfo) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    if finding.fate == Fate::Observed {
        // Only a plan can say what would become of it.
        return proposals;
    }
    if let Some(revert) = revert(finding, plan) {
        proposals.push(revert);
    }
    let target = quote(&finding.address);
    let settled = finding.fate == Fate::Absorbed && !finding.one_way;
    if settled || finding.action.is_none() {
        let command = format!("{} apply -refresh-only -target={target}", plan.command());
        proposals.push(Proposal::new(
            ProposalKind::Record,
            Risk::Low,
            "take the real values into the state; nothing else changes".to_owned(),
            vec![command],
        ));
    }
    let paths = ignorable(finding);
    if !settled && finding.outside == Outside::Changed && !paths.is_empty() {
        proposals.push(Proposal::new(
            ProposalKind::Ignore,
            Risk::Low,
            format!(
                "if something else is in charge of it, add `ignore_changes = [{}]` to the \
                 resource's lifecycle block",
                paths.join(", ")
            ),
            Vec::new(),
        ));
    }
    proposals
}

impl Proposal {
    pub(crate) fn new(
        kind: ProposalKind,
        risk: Risk,
        summary: String,
        commands: Vec<String>,
    ) -> Self {
        Self { kind, risk, summary, commands, diff: None, refusals: Vec::new() }
    }
}

fn revert(finding: &Finding, plan: &PlanInfo) -> Option<Proposal> {
    let command = format!("{} apply -target={}", plan.command(), quote(&finding.address));
    let (risk, summary, commands) = match (&finding.action, finding.outside) {
        (None, Outside::Appeared) => return None,
        (None, Outside::Changed) => (
            Risk::High,
            "a full apply may put the old values back; this plan does not say, so make one \
             without -refresh-only and -target first",
            Vec::new(),
        ),
        (None, Outside::Deleted) => (
            Risk::High,
            "a full apply would create the object again; this plan does not say, so make one \
             without -refresh-only and -target first",
            Vec::new(),
        ),
        (Some(Action::NoOp | Action::Read), _) => return None,
        (Some(Action::Create), _) => (
            Risk::Medium,
            "apply creates the object again; what the old one held does not come back",
            vec![command],
        ),
        (Some(Action::Delete), _) => (
            Risk::High,
            "one-way door: apply destroys the object, outside change and all",
            vec![command],
        ),
        (Some(Action::DeleteThenCreate | Action::CreateThenDelete), _) => {
            (Risk::High, replacement(finding.fate), vec![command])
        }
        (Some(Action::Forget), _) => (
            Risk::Low,
            "apply drops the object from the state and leaves it as it really is",
            vec![command],
        ),
        (Some(Action::Update), _) => match finding.fate {
            Fate::Absorbed => return None,
            Fate::Reverted => {
                (Risk::Medium, "apply puts the old values back, in place", vec![command])
            }
            Fate::Conflict => (
                Risk::Medium,
                "apply overwrites the outside change with what the configuration asks for now",
                vec![command],
            ),
            Fate::Observed | Fate::Undecidable => (
                Risk::High,
                "apply changes the object; the outcome is known only afterwards",
                vec![command],
            ),
        },
        (Some(Action::ForgetAndCreate | Action::Open | Action::Invoke | Action::Other(_)), _) => (
            Risk::High,
            "apply does something else than an update: read the plan before it",
            vec![command],
        ),
    };
    Some(Proposal::new(ProposalKind::Revert, risk, summary.to_owned(), commands))
}

/// What becomes of an outside change when the object is replaced.
fn replacement(fate: Fate) -> &'static str {
    match fate {
        Fate::Absorbed => {
            "one-way door: apply destroys the object and creates another; the outside change is \
             not the reason"
        }
        Fate::Reverted => {
            "one-way door: apply destroys the object and creates another with the old values"
        }
        Fate::Conflict => {
            "one-way door: apply destroys the object and creates another with what the \
             configuration asks for now"
        }
        Fate::Observed | Fate::Undecidable => {
            "one-way door: apply destroys the object and creates another; its values are known \
             only afterwards"
        }
    }
}

/// The attributes as `ignore_changes` wants them: only the first step is safe for all providers.
fn ignorable(finding: &Finding) -> Vec<String> {
    let mut names: Vec<String> = finding
        .attributes
        .iter()
        .filter(|attribute| attribute.fate != Fate::Absorbed)
        .filter_map(|attribute| match attribute.steps.0.first() {
            // One that is printed otherwise holds a secret, or is no name for a list.
            Some(Step::Key(name)) if attribute.path.starts_with(name.as_str()) => {
                Some(name.clone())
            }
            _ => None,
        })
        .collect();
    names.dedup();
    names
}

/// Quotes for a POSIX shell.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
