//! What the ignore rules take out of a report.
//!
//! - A rule hits whole findings, or single attributes when it says which. A finding all of whose
//!   attributes are hit goes; one that keeps some is judged anew by those.
//! - The first rule in the file that hits has it. One that has expired takes nothing out, and is
//!   counted all the same, so that somebody renews or removes it.

use crate::{
    config::{Config, Day, Ignore},
    fate::Fate,
    fingerprint,
    formats::inline,
    proposal::without_configuration,
    redact::Secrets,
    report::{Attribute, Finding, IgnoreState, IgnoreUse, PlanInfo, Report, Shown, Suppressed},
};
use std::collections::BTreeMap;

/// What one rule hits in one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The position of the rule in the configuration.
    pub rule: usize,
    /// The positions of the attributes; empty for a finding that has none.
    pub attributes: Vec<usize>,
}

/// What each rule hits in a finding, whether it has expired or not, in the order of the rules.
pub fn hits(finding: &Finding, rules: &[Ignore]) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (rule, ignore) in rules.iter().enumerate().filter(|(_, it)| it.selector().hits(finding)) {
        let whole = !ignore.is_about_attributes();
        let attributes: Vec<usize> = (0..finding.attributes.len())
            .filter(|at| whole || hits_attribute(ignore, &finding.attributes[*at]))
            .collect();
        if whole || !attributes.is_empty() {
            hits.push(Hit { rule, attributes });
        }
    }
    hits
}

fn hits_attribute(rule: &Ignore, attribute: &Attribute) -> bool {
    rule.attribute.allow(|pattern| pattern.hits(&attribute.steps))
        && rule.before.allow(|pattern| pattern.hits(&attribute.before.plain()))
        && rule.after.allow(|pattern| pattern.hits(&attribute.after.plain()))
}

/// True when a rule holds no more on that day.
pub fn is_expired(rule: &Ignore, today: Day) -> bool {
    rule.expires.is_some_and(|last| last < today)
}

/// Takes out of the report what the rules hit, and tells what became of each rule.
pub(super) fn ignore(report: &mut Report, config: &Config, today: Day, secrets: &Secrets) {
    let rules = &config.ignore;
    let mut counts = vec![0; rules.len()];
    let mut kept = Vec::with_capacity(report.findings.len());
    for finding in std::mem::take(&mut report.findings) {
        let hits = hits(&finding, rules);
        hits.iter().for_each(|hit| counts[hit.rule] += 1);
        let live = hits.into_iter().filter(|hit| !is_expired(&rules[hit.rule], today));
        let (rest, taken) = split(finding, live, &report.plan);
        kept.extend(rest);
        report.suppressed.extend(taken.into_iter().map(|(rule, finding)| Suppressed {
            finding,
            by: secrets.text(&rules[rule].name(rule)),
            reason: secrets.text(&rules[rule].reason),
        }));
    }
    report.findings = kept;
    report.ignores = rules
        .iter()
        .enumerate()
        .map(|(position, rule)| IgnoreUse {
            name: secrets.text(&rule.name(position)),
            owner: secrets.text(&rule.owner),
            reason: secrets.text(&rule.reason),
            expires: rule.expires.map(|day| day.to_string()),
            state: state(rule, counts[position], today),
            hits: counts[position],
        })
        .collect();
}

/// How a rule stands that hit so often.
pub fn state(rule: &Ignore, hits: usize, today: Day) -> IgnoreState {
    match hits {
        _ if is_expired(rule, today) => IgnoreState::Expired,
        0 => IgnoreState::Unused,
        _ => IgnoreState::Used,
    }
}

/// What is left of a finding, and what went to which rule.
fn split(
    finding: Finding,
    hits: impl Iterator<Item = Hit>,
    plan: &PlanInfo,
) -> (Option<Finding>, Vec<(usize, Finding)>) {
    let mut owners: Vec<Option<usize>> = vec![None; finding.attributes.len()];
    for hit in hits {
        if finding.attributes.is_empty() {
            return (None, vec![(hit.rule, finding)]);
        }
        for at in hit.attributes {
            owners[at].get_or_insert(hit.rule);
        }
    }
    if owners.iter().all(Option::is_none) {
        return (Some(finding), Vec::new());
    }
    let mut parts: BTreeMap<Option<usize>, Vec<Attribute>> = BTreeMap::new();
    for (owner, attribute) in owners.into_iter().zip(&finding.attributes) {
        parts.entry(owner).or_default().push(attribute.clone());
    }
    let mut rest = None;
    let mut taken = Vec::new();
    for (owner, attributes) in parts {
        let part = with_attributes(&finding, attributes, plan);
        match owner {
            Some(rule) => taken.push((rule, part)),
            None => rest = Some(part),
        }
    }
    (rest, taken)
}

/// The finding with some of its attributes only, judged by them.
fn with_attributes(finding: &Finding, attributes: Vec<Attribute>, plan: &PlanInfo) -> Finding {
    if attributes.len() == finding.attributes.len() {
        return finding.clone();
    }
    let fate = attributes.iter().map(|attribute| attribute.fate).max().unwrap_or(Fate::Absorbed);
    let mut part = Finding { attributes, fate, ..finding.clone() };
    part.rule = Finding::rule_of(part.outside, fate, part.one_way);
    part.severity = part.rule.severity;
    part.fingerprint =
        fingerprint::of(part.rule.id, &part.address, &part.deposed, &part.attributes);
    part.proposals = without_configuration(&part, plan);
    part
}

impl Shown {
    /// The value as patterns see it: a text without quotes, anything else as in JSON.
    fn plain(&self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::String(text) | Self::Concealed(text) => text.clone(),
            other => inline(other),
        }
    }
}
