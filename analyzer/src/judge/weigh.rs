//! How grave a finding is, and who is in charge of it.

use crate::{
    config::{Config, Override},
    redact::Secrets,
    report::Finding,
    rule,
};

/// Gives a finding its severity and its owner: the rule's, then what the last entry says that hits.
pub(super) fn weigh(finding: &mut Finding, config: &Config, secrets: &Secrets) {
    finding.severity = severity_of(finding.rule, config);
    for entry in &config.overrides {
        if !entry.selector().hits(finding) {
            continue;
        }
        finding.severity = entry.severity.unwrap_or(finding.severity);
        if let Some(owner) = &entry.owner {
            finding.owner = Some(secrets.text(owner));
        }
    }
}

/// The severity of a rule in this configuration.
pub(super) fn severity_of(rule: &rule::Rule, config: &Config) -> rule::Severity {
    let configured = config.severity.iter().find(|(id, _)| id.as_str() == rule.id);
    configured.map_or(rule.severity, |(_, severity)| *severity)
}

/// Where the severity of a finding comes from.
pub(crate) fn severity_origin(finding: &Finding, config: &Config) -> String {
    let is_last = |entry: &&Override| entry.severity.is_some() && entry.selector().hits(finding);
    if let Some(position) = config.overrides.iter().rposition(|entry| is_last(&entry)) {
        return format!("[[override]] {} of the configuration", position + 1);
    }
    if config.severity.keys().any(|id| id.as_str() == finding.rule.id) {
        return "[severity] of the configuration".to_owned();
    }
    "the rule has it".to_owned()
}
