//! What a fleet keeps of a workspace's report.

use crate::{
    gate::Facts,
    report::{Finding, Reason, Report, Standing, Verdict},
    rule::{Rule, Severity},
};

/// A report without its values: small enough to keep one for each of thousands of workspaces.
#[derive(Clone, Debug)]
pub struct Digest {
    pub verdict: Verdict,
    pub reasons: Vec<Reason>,
    pub resources: usize,
    pub planned: usize,
    pub suppressed: usize,
    pub resolved: usize,
    pub findings: Vec<Sighting>,
    /// What decides the exit code.
    pub facts: Facts,
}

/// A finding in one workspace.
#[derive(Clone, Debug)]
pub struct Sighting {
    pub fingerprint: String,
    pub rule: &'static Rule,
    pub severity: Severity,
    pub address: String,
    pub resource_type: String,
    /// The attributes that were changed outside.
    pub paths: Vec<String>,
    pub standing: Standing,
}

impl Digest {
    /// What a fleet needs of the report.
    pub fn of(report: &Report) -> Self {
        Self {
            verdict: report.verdict,
            reasons: report.reasons.clone(),
            resources: report.counts.resources,
            planned: report.counts.planned,
            suppressed: report.suppressed.len(),
            resolved: report.resolved.len(),
            findings: report.findings.iter().map(Sighting::of).collect(),
            facts: Facts::of(report),
        }
    }
}

impl Sighting {
    fn of(finding: &Finding) -> Self {
        Self {
            fingerprint: finding.fingerprint.clone(),
            rule: finding.rule,
            severity: finding.severity,
            address: finding.address.clone(),
            resource_type: finding.resource_type.clone(),
            paths: finding.attributes.iter().map(|attribute| attribute.path.clone()).collect(),
            standing: finding.standing.clone(),
        }
    }
}
