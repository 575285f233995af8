//! Reads back what `driftgate check --format json` wrote, to merge the results of many jobs.
//!
//! - Strict: another version of the schema, a word that is not known or a field that is missing is
//!   an error. A result that is half understood would be a gate that passes by mistake.
//! - Fields that are not needed may come and go: the schema grows within a version.

use super::{Digest, Sighting};
use crate::{
    fate::Fate,
    gate::{Drifted, Facts},
    report::{Reason, Standing, Verdict},
    rule::{self, Rule, Severity},
};
use serde::Deserialize;
use thiserror::Error;

/// The version of the schema that is read.
const SCHEMA_VERSION: u64 = 1;

/// The result of one job.
#[derive(Clone, Debug)]
pub struct Result {
    /// As the job called it.
    pub workspace: Option<String>,
    pub digest: Digest,
}

/// Why a file is no result that can be merged.
#[derive(Debug, Error)]
pub enum ResultError {
    #[error(
        "not a result of driftgate, or cut off; make it with \
         `driftgate check PLAN --format json --output FILE`"
    )]
    Json(#[source] serde_json::Error),
    #[error(
        "the result has version {0} of the schema and this program reads version {SCHEMA_VERSION}: \
         use the same driftgate for both"
    )]
    Version(u64),
    #[error(
        "the result names {kind} `{word}`, which is not known: use the same driftgate for both"
    )]
    Word { kind: &'static str, word: String },
}

#[derive(Deserialize)]
struct Version {
    schema_version: u64,
}

#[derive(Deserialize)]
struct Document {
    workspace: Option<String>,
    verdict: String,
    reasons: Vec<Code>,
    counts: Counts,
    findings: Vec<Finding>,
    violations: Vec<Weighed>,
    suppressed: Vec<serde::de::IgnoredAny>,
    resolved: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    checks: Vec<Weighed>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Counts {
    resources: usize,
    planned: usize,
}

#[derive(Deserialize)]
struct Finding {
    address: String,
    #[serde(rename = "type")]
    resource_type: String,
    outcome: String,
    rule: String,
    severity: String,
    fingerprint: String,
    standing: State,
    one_way: bool,
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    path: String,
}

/// A violation or a check.
#[derive(Deserialize)]
struct Weighed {
    severity: String,
    standing: Option<State>,
    status: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
enum State {
    New,
    Known { since: String },
    Awaiting { runs: u32, wanted: u32 },
}

impl From<State> for Standing {
    fn from(state: State) -> Self {
        match state {
            State::New => Self::New,
            State::Known { since } => Self::Known { since },
            State::Awaiting { runs, wanted } => Self::Awaiting { runs, wanted },
        }
    }
}

/// Reads one result.
pub fn read_result(text: &[u8]) -> std::result::Result<Result, ResultError> {
    // The version first: the rest may be of another shape.
    let Version { schema_version } = serde_json::from_slice(text).map_err(ResultError::Json)?;
    if schema_version != SCHEMA_VERSION {
        return Err(ResultError::Version(schema_version));
    }
    let document: Document = serde_json::from_slice(text).map_err(ResultError::Json)?;
    let mut findings = Vec::new();
    let mut facts = Facts { pending: document.counts.planned > 0, ..Facts::default() };
    for finding in document.findings {
        let outcome = word("the outcome", &finding.outcome, |word| {
            Fate::ALL.iter().copied().find(|fate| fate.name() == word)
        })?;
        let (is_one_way, sighting) = (finding.one_way, sighting(finding)?);
        if sighting.standing == Standing::New {
            facts.drift.push(Drifted {
                severity: sighting.severity,
                actionable: is_one_way || outcome != Fate::Absorbed,
            });
        }
        findings.push(sighting);
    }
    for violation in document.violations {
        if violation.standing.is_none_or(|state| matches!(state, State::New)) {
            facts.violations.push(severity(&violation.severity)?);
        }
    }
    for check in document.checks {
        if check.status.as_deref() != Some("unknown") {
            facts.checks.push(severity(&check.severity)?);
        }
    }
    let reasons = document.reasons.iter().map(|reason| {
        word("the reason", &reason.code, |word| {
            Reason::ALL.iter().copied().find(|reason| reason.name() == word)
        })
    });
    let reasons = reasons.collect::<std::result::Result<Vec<_>, _>>()?;
    facts.inconclusive = !reasons.is_empty();
    let verdict = word("the verdict", &document.verdict, |word| {
        [Verdict::Clean, Verdict::Inconclusive, Verdict::Drifted]
            .into_iter()
            .find(|verdict| verdict.name() == word)
    })?;
    let digest = Digest {
        verdict,
        reasons,
        resources: document.counts.resources,
        planned: document.counts.planned,
        suppressed: document.suppressed.len(),
        resolved: document.resolved.len(),
        findings,
        facts,
    };
    Ok(Result { workspace: document.workspace, digest })
}

fn sighting(finding: Finding) -> std::result::Result<Sighting, ResultError> {
    let rule: &'static Rule = word("the rule", &finding.rule, rule::find)?;
    Ok(Sighting {
        rule,
        severity: severity(&finding.severity)?,
        fingerprint: finding.fingerprint,
        address: finding.address,
        resource_type: finding.resource_type,
        paths: finding.attributes.into_iter().map(|attribute| attribute.path).collect(),
        standing: finding.standing.into(),
    })
}

fn severity(name: &str) -> std::result::Result<Severity, ResultError> {
    word("the severity", name, Severity::find)
}

fn word<T>(
    kind: &'static str,
    word: &str,
    find: impl FnOnce(&str) -> Option<T>,
) -> std::result::Result<T, ResultError> {
    find(word)
        .ok_or_else(|| ResultError::Word { kind, word: word.escape_debug().take(40).collect() })
}
