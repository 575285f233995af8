//! One finding of a report, explained in full.

use crate::{
    config::{Config, Day},
    formats::{inline, visible},
    judge::{hits, is_expired, severity_origin},
    report::{Attribute, Finding, Outside, Report, Shown, Standing, Suppressed, Violation},
};
use std::fmt::Write as _;

/// Everything that `wanted` names in a report: an address, or a fingerprint or its beginning.
/// `None` when it names nothing.
pub fn finding(report: &Report, config: &Config, today: Day, wanted: &str) -> Option<String> {
    let is_wanted = |address: &str, fingerprint: &str| {
        address == wanted || wanted.len() >= 4 && fingerprint.starts_with(wanted)
    };
    let mut parts = Vec::new();
    for finding in &report.findings {
        if is_wanted(&finding.address, &finding.fingerprint) {
            parts.push(explain(finding, config, today));
        }
    }
    for Suppressed { finding, by, reason } in &report.suppressed {
        if is_wanted(&finding.address, &finding.fingerprint) {
            let mut text = explain(finding, config, today);
            let (by, reason) = (visible(by), visible(reason));
            let _ = writeln!(text, "  ignored: by the rule `{by}`: {reason}; it does not count");
            parts.push(text);
        }
    }
    for violation in &report.violations {
        if is_wanted(&violation.address, &violation.fingerprint) || violation.policy == wanted {
            parts.push(explain_violation(violation));
        }
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn explain(finding: &Finding, config: &Config, today: Day) -> String {
    let mut out = String::new();
    let deposed = match finding.deposed.as_str() {
        "" => String::new(),
        id => format!(" (deposed object {})", visible(id)),
    };
    let _ = writeln!(out, "{}{deposed}", visible(&finding.address));
    let happened = match finding.outside {
        Outside::Changed => "it was changed outside",
        Outside::Deleted => "it was deleted outside",
        Outside::Appeared => "it appeared",
    };
    let _ = writeln!(out, "  what happened: {happened}");
    if let Some(from) = &finding.moved_from {
        let _ = writeln!(out, "    it moves here from {}", visible(from));
    }
    finding.attributes.iter().for_each(|it| attribute(&mut out, it));
    if !finding.pending.is_empty() {
        let paths: Vec<String> = finding.pending.iter().map(|path| visible(path)).collect();
        let _ = writeln!(out, "    planned beside it: {}", paths.join(", "));
    }
    if let Some(action) = &finding.action {
        let _ = writeln!(out, "  what apply does: {}", visible(action.word()));
    }
    judgement(&mut out, finding, config, today);
    if finding.dependents_count > 0 {
        let shown: Vec<String> =
            finding.dependents.iter().take(10).map(|address| visible(address)).collect();
        let more = finding.dependents_count - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(out, "  what depends on it: {}{more}", shown.join(", "));
    }
    let _ = writeln!(out, "  what to do: {}", finding.rule.remedy);
    for proposal in &finding.proposals {
        let (kind, risk) = (proposal.kind.name(), proposal.risk.name());
        let _ = writeln!(out, "    {kind} (risk {risk}): {}", visible(&proposal.summary));
        for command in &proposal.commands {
            let _ = writeln!(out, "        {}", visible(command));
        }
    }
    out
}

/// The three values, and what they come to.
fn attribute(out: &mut String, attribute: &Attribute) {
    let _ = writeln!(out, "    {}: {}", visible(&attribute.path), attribute.fate.name());
    let _ = writeln!(out, "        last known: {}", inline(&attribute.before));
    let _ = writeln!(out, "        real:       {}", inline(&attribute.after));
    let wanted = match &attribute.desired {
        None => "the plan does not say".to_owned(),
        Some(Shown::Absent) => "(nothing)".to_owned(),
        Some(desired) => inline(desired),
    };
    let _ = writeln!(out, "        wanted:     {wanted}");
    let _ = writeln!(out, "        {}", attribute.fate.meaning());
}

/// Why it is called so and weighs so, and what the configuration and the baseline make of it.
fn judgement(out: &mut String, finding: &Finding, config: &Config, today: Day) {
    let _ = writeln!(out, "  rule: {}: {}", finding.rule.id, finding.rule.meaning);
    let origin = severity_origin(finding, config);
    let _ = writeln!(out, "  severity: {}: {origin}", finding.severity.name());
    if let Some(owner) = &finding.owner {
        let _ = writeln!(out, "  owner: {}", visible(owner));
    }
    let standing = match &finding.standing {
        Standing::New => "new: nothing in the baseline or the history holds it back".to_owned(),
        Standing::Known { since } => {
            format!("known: the baseline has it since {}; it does not fail a job", visible(since))
        }
        Standing::Awaiting { runs, wanted } => {
            format!("awaiting: seen in {runs} of the {wanted} runs in a row that an alert takes")
        }
    };
    let _ = writeln!(out, "  standing: {standing}");
    for hit in hits(finding, &config.ignore) {
        let rule = &config.ignore[hit.rule];
        if let Some(expires) = rule.expires.filter(|_| is_expired(rule, today)) {
            let name = visible(&rule.name(hit.rule));
            let _ = writeln!(out, "  no longer ignored: the rule `{name}` expired on {expires}");
        }
    }
    let _ = writeln!(out, "  fingerprint: {}", finding.fingerprint);
}

fn explain_violation(violation: &Violation) -> String {
    let subject = match violation.address.as_str() {
        "" => "the plan".to_owned(),
        address => visible(address),
    };
    let (policy, message) = (visible(&violation.policy), visible(&violation.message));
    let severity = violation.severity.name();
    let remedy = "change what is planned so that the policy holds, or accept it in the baseline";
    format!(
        "{subject}\n  breaks the policy `{policy}`: {message}\n  severity: {severity}\n  \
         fingerprint: {}\n  what to do: {remedy}\n",
        violation.fingerprint
    )
}
