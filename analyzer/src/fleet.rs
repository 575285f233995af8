//! Many workspaces at once: what each of them says, and what they have in common.
//!
//! - The same drift in several workspaces is one finding with a list of them; findings are the same
//!   when their fingerprints are.
//! - A workspace that cannot be read proves nothing: it is listed with the reason, and never makes
//!   the fleet clean.
//! - The order in which workspaces were read makes no difference.

mod digest;
mod name;
mod results;

pub use digest::{Digest, Sighting};
pub use name::workspace_of;
pub use results::{Result as StoredResult, ResultError, read_result};

use crate::{
    exit_code::ExitCode,
    gate::Gate,
    report::{Standing, Verdict},
    rule::{Rule, Severity},
};
use std::collections::BTreeMap;

/// One workspace.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    pub outcome: Outcome,
}

/// What became of reading a workspace.
#[derive(Clone, Debug)]
pub enum Outcome {
    Read(Digest),
    /// Why it cannot be read; cleared of hidden characters by the formats.
    Unreadable(String),
    /// What it is, as it is no plan.
    Foreign(String),
}

impl Outcome {
    /// The name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read(digest) => digest.verdict.name(),
            Self::Unreadable(_) => "unreadable",
            Self::Foreign(_) => "foreign",
        }
    }
}

/// What to make of files that are no plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// They are listed and mean nothing.
    Listed,
    /// Whoever names them means plans: they count as unreadable.
    Unreadable,
}

/// All workspaces.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// By name.
    pub members: Vec<Member>,
    /// The gravest and the most spread first.
    pub findings: Vec<Shared>,
    pub verdict: Verdict,
    pub exit_code: ExitCode,
}

/// One drift, wherever it is.
#[derive(Clone, Debug)]
pub struct Shared {
    pub fingerprint: String,
    pub rule: &'static Rule,
    /// The gravest of any workspace.
    pub severity: Severity,
    pub address: String,
    pub resource_type: String,
    /// What was changed, in any of the workspaces.
    pub paths: Vec<String>,
    /// Names, sorted.
    pub workspaces: Vec<String>,
    /// How many of the workspaces have it neither in their baseline nor waiting.
    pub new: usize,
}

impl Fleet {
    /// Puts workspaces together. Names that stand several times get a number.
    pub fn new(mut members: Vec<Member>, gate: &Gate, foreign: Foreign) -> Self {
        if foreign == Foreign::Unreadable {
            for member in &mut members {
                if let Outcome::Foreign(what) = &mut member.outcome {
                    member.outcome = Outcome::Unreadable(std::mem::take(what));
                }
            }
        }
        members.sort_by(|left, right| left.name.cmp(&right.name));
        number_names(&mut members);
        let findings = share(&members);
        let (verdict, exit_code) = (verdict(&members), exit_code(&members, gate));
        Self { members, findings, verdict, exit_code }
    }

    /// How many workspaces have the outcome of that name.
    pub fn count(&self, outcome: &str) -> usize {
        self.members.iter().filter(|member| member.outcome.name() == outcome).count()
    }

    /// The workspaces that could be read, with what they say.
    pub fn read(&self) -> impl Iterator<Item = (&str, &Digest)> {
        self.members.iter().filter_map(|member| match &member.outcome {
            Outcome::Read(digest) => Some((member.name.as_str(), digest)),
            Outcome::Unreadable(_) | Outcome::Foreign(_) => None,
        })
    }
}

fn number_names(members: &mut [Member]) {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for member in members {
        let count = seen.entry(member.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            member.name = format!("{} ({count})", member.name);
        }
    }
}

/// The worst: drift that was found is found, whatever else could not be read.
fn verdict(members: &[Member]) -> Verdict {
    let of = |member: &Member| match &member.outcome {
        Outcome::Read(digest) => Some(digest.verdict),
        Outcome::Unreadable(_) => Some(Verdict::Inconclusive),
        Outcome::Foreign(_) => None,
    };
    members.iter().filter_map(of).max().unwrap_or(Verdict::Inconclusive)
}

/// The worst of all; what cannot be read is inconclusive whatever the gate asks for.
fn exit_code(members: &[Member], gate: &Gate) -> ExitCode {
    let of = |member: &Member| match &member.outcome {
        Outcome::Read(digest) => Some(gate.exit_code_of(&digest.facts)),
        Outcome::Unreadable(_) => Some(ExitCode::Inconclusive),
        Outcome::Foreign(_) => None,
    };
    members.iter().filter_map(of).reduce(ExitCode::worst).unwrap_or(ExitCode::Inconclusive)
}

fn share(members: &[Member]) -> Vec<Shared> {
    let mut found: BTreeMap<&str, Shared> = BTreeMap::new();
    for member in members {
        let Outcome::Read(digest) = &member.outcome else { continue };
        for sighting in &digest.findings {
            let shared = found.entry(&sighting.fingerprint).or_insert_with(|| Shared {
                fingerprint: sighting.fingerprint.clone(),
                rule: sighting.rule,
                severity: sighting.severity,
                address: sighting.address.clone(),
                resource_type: sighting.resource_type.clone(),
                paths: Vec::new(),
                workspaces: Vec::new(),
                new: 0,
            });
            shared.severity = shared.severity.max(sighting.severity);
            shared.paths.extend(sighting.paths.iter().cloned());
            // Alike objects of one block share a fingerprint within a workspace too.
            if shared.workspaces.last() != Some(&member.name) {
                shared.workspaces.push(member.name.clone());
                shared.new += usize::from(sighting.standing == Standing::New);
            }
        }
    }
    let mut shared: Vec<Shared> = found.into_values().collect();
    for one in &mut shared {
        one.paths.sort_unstable();
        one.paths.dedup();
    }
    shared.sort_by(|left, right| {
        let gravest = right.severity.cmp(&left.severity);
        let widest = right.workspaces.len().cmp(&left.workspaces.len());
        gravest.then(widest).then_with(|| left.address.cmp(&right.address))
    });
    shared
}
